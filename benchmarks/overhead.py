"""CPU time of the pipeline itself for each run: fake driver, fio that takes no time. Snakemake, clients, shells, keeper
and agent; the shells that stand for a kernel module and for fio are counted apart.

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

from benchmarks.command import snakemake
from benchmarks.finished import campaign


def cpu_of_keepers(stop: threading.Event, found: dict[str, tuple[float, float]], work: Path) -> None:
    """Remember the CPU seconds of the keeper and of its agent: their own, and those of children that have ended."""
    tick = os.sysconf("SC_CLK_TCK")
    while not stop.wait(0.2):
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError):
                line = Path(f"/proc/{entry}/cmdline").read_bytes()
                if f"BLK_HOST_DIR={work}".encode() not in Path(f"/proc/{entry}/environ").read_bytes():
                    continue
                name = "agent" if b"hosts/agent.py" in line else "keeper" if b"keeper/server.py" in line else ""
                if name:
                    fields = Path(f"/proc/{entry}/stat").read_text().rsplit(") ", 1)[1].split()
                    own, children = (sum(int(fields[i]) for i in places) / tick for places in ((11, 12), (13, 14)))
                    found[f"{name} {entry}"] = own, children


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    work = Path(tempfile.mkdtemp(prefix="blk-overhead-"))
    os.environ["BLK_HOST_DIR"] = str(work)
    campaign(work, count)
    command = snakemake(work / "many.yaml")
    stop, found = threading.Event(), {}
    threading.Thread(target=cpu_of_keepers, args=(stop, found, work), daemon=True).start()
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    code = subprocess.run(
        command, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    ).returncode
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    stop.set()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    runs = len(list((work / "results" / "runs").glob("*/unload.json")))
    print(f"exit {code}, {runs} runs, {wall:.1f} s wall, {wall / runs * 1000:.0f} ms a run")

    def per_run(seconds: float) -> float:
        return seconds / runs * 1000

    keeper, agent = (
        per_run(sum(own for name, (own, _) in found.items() if name.startswith(what))) for what in ("keeper", "agent")
    )
    fakes = per_run(sum(children for name, (_, children) in found.items() if name.startswith("agent")))
    jobs = per_run(cpu)
    print(f"Snakemake, clients, shells: {jobs:.1f} ms CPU a run; keeper {keeper:.1f}; agent {agent:.1f}")
    print(f"the pipeline itself: {jobs + keeper + agent:.1f} ms CPU a run (with start-up, parse and compare)")
    print(f"the fake module and the fake fio, not counted: {fakes:.1f}")
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
