"""runs.parquet, tables and pictures -> report.html.

python -m scripts.report --results results/<campaign> [--campaign-file FILE] [--command TEXT] [--partial]
"""

import argparse
import subprocess
import sys
from pathlib import Path

from scripts.comparison.frame import Frame, Refusal, load
from scripts.comparison.report.page import Origin, page
from scripts.dataset.digest import mark_finished
from scripts.keeper.results import write_whole
from scripts.lab import lock
from scripts.lab.lock import LockError

REPOSITORY = Path(__file__).resolve().parents[1]


def commit() -> str:
    """Commit of this checkout, with a remark when files differ from it; empty where git does not know."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(REPOSITORY), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        found = git("rev-parse", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=no") if found else ""
    except OSError:
        return ""
    return f"commit {found}" + (" with local changes" if changed else "") if found else ""


def lab_of(frame: Frame) -> str:
    """The lab's lock, where runs came from a guest."""
    if frame.plan.get("host") != "guest":
        return ""
    try:
        locked = lock.load(REPOSITORY)
    except LockError:
        return ""
    return f"kernel {locked.kernel}, rublk {locked.rublk.get('version')} ({lock.FILE})"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True, help="folder with plan.json and runs.parquet")
    parser.add_argument("--campaign-file", type=Path, help="shown in the report")
    parser.add_argument("--command", default="", help="the command that makes the results again")
    parser.add_argument("--partial", action="store_true", help="runs are missing: nothing is marked as finished")
    arguments = parser.parse_args()
    directory = arguments.results
    try:
        frame = load(directory)
        content, name = "", ""
        if arguments.campaign_file:
            content, name = arguments.campaign_file.read_text(errors="replace"), arguments.campaign_file.name
        origin = Origin(arguments.command, name, content, commit(), lab_of(frame))
        text = page(frame, directory, origin)
    except (Refusal, OSError) as error:
        sys.stderr.write(f"blkcampaign: report: {error}\n")
        return 1
    write_whole(directory / "report.html", text.encode("utf-8", "replace"))
    if not arguments.partial:
        mark_finished(directory, "reported.json")
    sys.stderr.write(f"blkcampaign: report: {directory / 'report.html'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
