"""What a run costs in the guest beyond fio's own runtime, step by step, beside the bare sequence as one shell script.

python benchmarks/guest_overhead.py [RUNS] [CLOCK]     default 20 emulated; needs a built lab and a quiet machine

Both do the same: load null_blk, configure it, set the scheduler, fio for one second, remove the device, unload.
"""

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from benchmarks.command import snakemake
from scripts.hosts import operations as op
from scripts.hosts.guest.host import GuestHost, uninterrupted
from scripts.lab.manifest import locate

RUNTIME_S = 1.0
SCRIPT = """
d=/sys/kernel/config/nullb/nullb0
modprobe null_blk nr_devices=0 && mkdir $d && echo 1024 >$d/size && echo 1 >$d/memory_backed && echo 512 >$d/blocksize
echo 1 >$d/submit_queues && echo 64 >$d/hw_queue_depth && echo 0 >$d/irqmode && echo 2 >$d/queue_mode
echo 0 >$d/completion_nsec && echo 0 >$d/home_node && echo 1 >$d/power && echo none >/sys/block/nullb0/queue/scheduler
fio --name=run --filename=/dev/nullb0 --direct=1 --rw=randread --bs=4k --runtime=1 --time_based \\
    --output-format=json --output=/run/fio.json
echo 0 >$d/power; rmdir $d; modprobe -r null_blk
"""


def by_hand(lab: Path, clock: str, count: int, consoles: Path) -> list[float]:
    """Seconds a run of the script, fio's runtime subtracted."""
    host = GuestHost({"lab": lab, "clock": clock}, f"bench-{os.getpid()}", consoles)
    host.start(uninterrupted)
    found = []
    try:
        for _ in range(count + 1):
            start = time.monotonic()
            results = host.request([op.execute("sh", "-c", SCRIPT)], "bench", 120, uninterrupted)
            assert results[0]["ok"], results
            found.append(time.monotonic() - start - RUNTIME_S)
    finally:
        host.stop()
    return found[1:]  # the first one reads fio's libraries


def ours(work: Path, clock: str, count: int) -> tuple[list[dict[str, float]], list[float]]:
    """Steps of each run, and seconds from one run's beginning to the next one's, fio's runtime subtracted."""
    document = {
        "title": "overhead",
        "host": "guest",
        "clock": clock,
        "boots": "campaign",
        "prep": False,
        "variants": {"null_blk": {"driver": "null_blk", "device": {"memory_backed": True}}},
        "device": {"size": "1g", "queues": 1, "scheduler": "none"},
        "fio": {"runtime": RUNTIME_S, "time_based": True, "direct": True, "rw": "randread", "bs": "4k"},
        "workloads": {"only": {}},
        "repeats": count + 1,
    }
    (work / "overhead.yaml").write_text(json.dumps(document))
    command = snakemake(work / "overhead.yaml")
    begins = []
    with subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout or ():
            if line.startswith("blkcampaign: [") and "preparing" in line:
                begins.append(time.monotonic())
    if process.returncode:
        sys.exit(f"the campaign failed with {process.returncode}")
    steps = []
    for path in (work / "results" / "runs").glob("*/unload.json"):
        record = json.loads((path.parent / "run.json").read_text())
        steps.append((record["order"]["position"], {**record["steps_s"], **json.loads(path.read_text())["steps_s"]}))
    walls = [after - before - RUNTIME_S for before, after in itertools.pairwise(begins)]
    return [step for _, step in sorted(steps, key=lambda pair: pair[0])][1:], walls[1:]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    clock = sys.argv[2] if len(sys.argv) > 2 else "emulated"
    state = locate(REPOSITORY)
    if not state.ready:
        sys.exit("no lab: make lab")
    work = Path(tempfile.mkdtemp(prefix="blk-guest-overhead-"))
    os.environ["BLK_HOST_DIR"] = str(work)
    try:
        script = by_hand(state.path, clock, count, work / "consoles")
        steps, walls = ours(work, clock, count)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    baseline = np.median(script)
    print(f"clock {clock}, {count} runs of null_blk, fio's {RUNTIME_S:g} s subtracted; medians (min .. max)")
    print(f"one shell script in the guest  {baseline:6.2f} s ({min(script):.2f} .. {max(script):.2f})")
    inside = [sum(step.values()) - RUNTIME_S for step in steps]
    for name, values in (("ours, in the guest", inside), ("ours, run to run", walls)):
        value = np.median(values)
        print(f"{name:30} {value:6.2f} s ({min(values):.2f} .. {max(values):.2f}), {value / baseline:.2f} x the script")
    for name in steps[0]:
        values = [step.get(name, 0) - (RUNTIME_S if name == "fio" else 0) for step in steps]
        print(f"  {name:28} {np.median(values):6.2f} s")


if __name__ == "__main__":
    main()
