"""fio's JSON -> runs.parquet, beside reading alone, the typed decode alone, and pandas.json_normalize per file.

python benchmarks/parse.py [FILES] [RUNS]     default 2000 9600; prints seconds, MB/s, peak MB and ratios

Each line is a process of its own; the last columns are without the time that process needs to start and import.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))
PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)

READ = "for p in paths: open(p, 'rb').read()"
TYPED = "from scripts.fio.document import DECODER\nfor p in paths: DECODER.decode(open(p, 'rb').read())"
NORMALIZE = "import json, pandas\nfor p in paths: pandas.json_normalize(json.load(open(p)), 'jobs')"
HEAD = "import sys, glob; sys.path.insert(0, {repository!r}); paths = sorted(glob.glob({pattern!r}))\n"
PEAK = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(code)
"""


def latency(rng: random.Random, percentiles: bool) -> dict[str, object]:
    mean = rng.uniform(1e3, 1e6)
    found = {"min": int(mean / 3), "max": int(mean * 40), "mean": mean, "stddev": mean / 2, "N": rng.randrange(10**6)}
    if percentiles:
        found["percentile"] = {f"{p:f}": int(mean * (0.5 + p / 60)) for p in PERCENTILES}
    return found


def direction(rng: random.Random, active: bool) -> dict[str, object]:
    """A direction as fio 3.39 writes it, with every key."""
    iops = rng.uniform(1e3, 1e6) if active else 0.0
    rates = {"bw_bytes": int(iops * 4096), "bw": int(iops * 4), "iops": iops, "runtime": 60000 if active else 0}
    names = ("bw_min", "bw_max", "bw_agg", "bw_mean", "bw_dev", "bw_samples",
             "iops_min", "iops_max", "iops_mean", "iops_stddev", "iops_samples")  # fmt: skip
    return {
        "io_bytes": int(iops * 60 * 4096),
        "io_kbytes": int(iops * 240),
        **rates,
        "total_ios": int(iops * 60),
        "short_ios": 0,
        "drop_ios": 0,
        **{name: rng.random() * 1e6 if active else 0 for name in names},
        "slat_ns": latency(rng, False) if active else {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0},
        "clat_ns": latency(rng, True) if active else {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0},
        "lat_ns": latency(rng, False) if active else {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0},
    }


def document(rng: random.Random) -> bytes:
    """About 8 KB, as one run of ours leaves behind."""
    write = rng.random() < 0.5
    options = {"name": "run", "rw": "randwrite" if write else "randread", "bs": "4096", "iodepth": "32",
               "ioengine": "io_uring", "direct": "1", "runtime": "60", "time_based": "1"}  # fmt: skip
    job = {
        "jobname": "run",
        "groupid": 0,
        "job_start": 1700000000000,
        "error": 0,
        "eta": 0,
        "elapsed": 61,
        "job options": options,
        "read": direction(rng, not write),
        "write": direction(rng, write),
        "trim": direction(rng, False),
        "sync": {"total_ios": 0, "lat_ns": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}},
        "job_runtime": 60000,
        "usr_cpu": rng.random() * 10,
        "sys_cpu": rng.random() * 50,
        "ctx": rng.randrange(10**6),
        "majf": 0,
        "minf": 12,
        **{f"iodepth_{kind}": {str(2**i): 0.1 for i in range(7)} for kind in ("level", "submit", "complete")},
        **{f"latency_{unit}": {str(2**i): 0.01 for i in range(10)} for unit in ("ns", "us", "ms")},
        "latency_depth": 32,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }
    disk = [{"name": "nullb0", "read_ios": 1, "write_ios": 2, "util": 99.5}]
    content = {"fio version": "fio-3.39", "timestamp": 1, "time": "now", "jobs": [job], "disk_util": disk}
    return json.dumps(content, indent=2).encode()


def timed(command: list[str], tries: int = 3) -> tuple[float, int]:
    """Best wall seconds of some tries, and the peak of memory in MB."""
    best, peak = float("inf"), 0
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    for _ in range(tries):
        start = time.monotonic()
        done = subprocess.run([sys.executable, "-c", PEAK, *command], env=environment, capture_output=True, check=False)
        best = min(best, time.monotonic() - start)
        if done.returncode:
            raise RuntimeError(f"{command} ended with code {done.returncode}")
        peak = int(done.stdout.split()[-1])
    return best, peak


def imports(work: Path, count: int) -> None:
    """2,000 foreign files."""
    rng = random.Random(1)
    (work / "in").mkdir()
    total = 0
    for number in range(count):
        data = document(rng)
        total += len(data)
        (work / "in" / f"{number:05}.json").write_bytes(data)
    results = work / "results" / "imported"
    results.mkdir(parents=True)
    wanted = {"format": 1, "input": str(work / "in"), "mapping": {}, "settings": {"title": "t"}}
    (results / "input.json").write_text(json.dumps(wanted))
    print(f"{count} files, {total / 1e6:.1f} MB")
    head = HEAD.format(repository=str(REPOSITORY), pattern=f"{work}/in/*.json")
    nothing, _ = timed([sys.executable, "-c", "import scripts.import_results, os; os._exit(0)"])
    start, _ = timed([sys.executable, "-c", head])
    typed = None
    lines = [
        ("cat >/dev/null", ["sh", "-c", f"cat {work}/in/*.json >/dev/null"], 0.0),
        ("read in Python", [sys.executable, "-c", head + READ], start),
        ("msgspec typed decode", [sys.executable, "-c", head + TYPED], start),
        ("import_results, to runs.parquet",
         [sys.executable, "-m", "scripts.import_results", "--results", str(results)], nothing),
        ("pandas.json_normalize per file", [sys.executable, "-c", head + NORMALIZE], start),
    ]  # fmt: skip
    for name, command, idle in lines:
        wall, peak = timed(command, 1 if "pandas" in name else 3)
        own = max(wall - idle, 1e-3)
        typed = own if "typed" in name else typed
        ratio = f"{own / typed:6.1f} x typed decode" if typed else ""
        print(f"{name:34} {wall:6.2f} s  {peak:5} MB  {own:6.3f} s without start {ratio}", flush=True)


def campaign(work: Path, count: int) -> None:
    """9,600 runs of our own: the whole stage."""
    from benchmarks.finished import campaign as write_campaign
    from benchmarks.finished import finish

    write_campaign(work, count)
    rng = random.Random(2)
    finish(work, lambda: document(rng))
    stage = [sys.executable, "-m", "scripts.parse_runs", "--work", str(work), "--campaign", "many"]
    size = sum(path.stat().st_size for path in (work / "results" / "runs").glob("*/fio.json"))
    wall, peak = timed(stage)
    print(f"parse_runs, {count} runs, {size / 1e6:.0f} MB of fio's JSON: {wall:.2f} s, {peak} MB")


def main() -> None:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 9600
    for part, count in ((imports, files), (campaign, runs)):
        work = Path(tempfile.mkdtemp(prefix="blk-parse-"))
        try:
            part(work, count)
        finally:
            shutil.rmtree(work)


if __name__ == "__main__":
    main()
