"""runs.parquet -> tables; or published figures alone.

python -m scripts.compare --results results/<campaign> [--partial]
python -m scripts.compare --results results/<one> OTHER/<one> --axes environment --output results/<both>
python -m scripts.compare --reference NAME
"""

import argparse
import sys
from pathlib import Path

from scripts.comparison import references
from scripts.comparison.frame import Frame, Refusal
from scripts.comparison.join import joined
from scripts.comparison.plain import text
from scripts.comparison.summary import summary
from scripts.comparison.tables import forms, tables_of
from scripts.dataset.digest import mark_finished
from scripts.keeper.results import write_whole


def write_tables(frame: Frame, directory: Path) -> str:
    """All tables of the campaign in all forms; the text ones are returned."""
    shown = []
    wanted = frame.plan.get("tables") or {"benchstat": {"layout": "benchstat"}}
    for name, options in wanted.items():
        contents = forms(frame, tables_of(frame, options))
        for suffix, content in contents.items():
            write_whole(directory / "tables" / f"{name}.{suffix}", content.encode())
        shown.append(contents["txt"])
    write_whole(directory / "tables" / "summary.txt", summary(frame).encode())
    return "\n".join(shown)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--results", type=Path, nargs="+", help="folders with plan.json and runs.parquet")
    what.add_argument("--reference", metavar="NAME", help="print published figures: a file of config/references/")
    parser.add_argument("--partial", action="store_true", help="runs are missing: nothing is marked as finished")
    parser.add_argument("--axes", nargs="*", default=[], choices=["environment"], help="what else may differ")
    parser.add_argument("--output", type=Path, help="where tables/ is written; needed with several folders")
    arguments = parser.parse_args()
    if arguments.results and len(arguments.results) > 1 and not arguments.output:
        parser.error("--output: where the tables of several folders go")
    try:
        if arguments.reference:
            sys.stdout.write("\n".join(text(table) for table in references.tables(arguments.reference)))
            return 0
        frame = joined(arguments.results, arguments.axes)
        directory = arguments.output or arguments.results[0]
        shown = write_tables(frame, directory)
    except (Refusal, KeyError) as error:
        sys.stderr.write(f"blkcampaign: {error.args[0]}\n")
        return 1
    if not arguments.partial and not arguments.output:
        mark_finished(directory, "compared.json")
    sys.stdout.write(shown)
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
