"""CPU time of the pipeline itself for each run: fake driver, fio that takes no time. Snakemake, clients, shells; the
keeper and its fakes are counted apart, from its own /proc entry.

python benchmarks/overhead.py [RUNS]     default 1000
"""

import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.finished import REPOSITORY, campaign


def keeper_cpu(stop: threading.Event, found: dict[str, float], work: Path) -> None:
    """Remember the CPU seconds of the keeper (with its children that have ended), as long as it lives."""
    tick = os.sysconf("SC_CLK_TCK")
    while not stop.wait(0.2):
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError):
                line = Path(f"/proc/{entry}/cmdline").read_bytes()
                if entry.isdigit() and b"keeper/server.py" in line and str(work).encode() in line:
                    fields = Path(f"/proc/{entry}/stat").read_text().rsplit(") ", 1)[1].split()
                    found[entry] = sum(int(fields[i]) for i in (11, 12, 13, 14)) / tick


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    work = Path(tempfile.mkdtemp(prefix="blk-overhead-"))
    os.environ["BLK_HOST_DIR"] = str(work)
    campaign(work, count)
    snakemake = str(Path(sys.executable).with_name("snakemake"))
    command = [snakemake, "-s", str(REPOSITORY / "Snakefile"), "--cores", "1", "--config", f"campaign={work}/many.yaml"]
    stop, found = threading.Event(), {}
    threading.Thread(target=keeper_cpu, args=(stop, found, work), daemon=True).start()
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    code = subprocess.run(
        command, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    ).returncode
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    stop.set()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    runs = len(list((work / "results" / "runs").glob("*/unload.json")))
    print(f"exit {code}, {runs} runs, {wall:.1f} s wall, {wall / runs * 1000:.0f} ms a run")
    keeper = sum(found.values()) / runs * 1000
    print(f"Snakemake, clients, shells: {cpu / runs * 1000:.1f} ms CPU a run; keeper: {keeper:.1f}")
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
