"""The compare stage over 9,600 runs: seconds of each step, and the peak of memory.

python benchmarks/compare.py [RUNS]     default 9600: 120 cells x 2 variants x 40 samples

Bounds: statistics 2 s, load + statistics + tables 2.5 s, all with parse and pictures 6 s; exit 1 when one is broken.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "benchmarks")]

LIMITS = {"statistics": 2.0, "tables": 2.5, "pictures": 6.0}
AXES = [
    {"rw": rw, "bs": bs << 10, "iodepth": depth, "numjobs": jobs}
    for rw in ("randread", "randwrite")
    for bs in (4, 32, 256, 1024, 16384)
    for depth in (1, 8, 32, 128)
    for jobs in (1, 2, 6)
]
FACTS = 90
"""Facts in the environment of a run."""


def results(work: Path, count: int) -> None:
    """results/<campaign>/ as parse_runs leaves it: a noise of 2 % and a boot for every round."""
    import numpy as np

    from scripts.dataset.schema import ENVIRONMENT, SCHEMA
    from scripts.dataset.write import table_of, write_table

    rng, rows, runs, facts = np.random.default_rng(1), [], [], []
    samples = max(1, count // (2 * len(AXES)))
    for sample in range(1, samples + 1):
        for number, axes in enumerate(AXES):
            for variant, effect in (("null_blk", 1.0), ("rnull", 1 + (number % 5 - 2) / 100)):
                run, cell, position = f"{variant}-{number}-{sample}", f"cell-{number}", len(runs) + 1
                axes_text = {key: str(value) for key, value in axes.items()}
                place = {"cell": cell, "workload": "default", "sample": sample, "round": sample, "position": position}
                runs.append({"run": run, "variant": variant, "axes": {**axes, "prep": True}, "block": 1, **place})
                iops = float(1e5 * effect * rng.normal(1, 0.02))
                rows.append(
                    {
                        "run": run, "variant": variant, **place, "status": "ok", "fio_version": "fio-3.39", "block": 1,
                        "direction": axes["rw"].removeprefix("rand"), "iops": iops, "total_ios": int(iops * 30),
                        "bw_bytes_per_s": iops * axes["bs"], "clat_mean_ns": 1e9 / iops, "clat_p99_ns": int(3e9 / iops),
                        "usr_cpu_percent": 10.0, "sys_cpu_percent": 60.0, "boot_id": f"boot-{sample}", "hostname": "h",
                        "clock": "hardware", "environment_id": variant, "axes": axes_text, "bs_bytes": axes["bs"],
                        "rw": axes["rw"], "warnings": [], "campaign": "many", "baseline": "null_blk",
                    }
                )  # fmt: skip
                for fact in range(FACTS):
                    facts.append({"run": run, "name": f"fact/{fact}", "value": f"value of {fact}"})
    plan = {
        "format": 1, "campaign": "many", "title": "many runs", "baseline": "null_blk", "clock": "hardware",
        "host": "local", "variants": {"null_blk": {"driver": "null_blk"}, "rnull": {"driver": "rnull"}}, "runs": runs,
        "axes": ["rw", "bs", "iodepth", "numjobs"], "tables": {"t": {"layout": "relative-miops"}},
        "plots": {"facet": {"kind": "facet"}, "density": {"kind": "density"}},
    }  # fmt: skip
    write_table(table_of(rows, SCHEMA), work / "runs.parquet")
    write_table(table_of(facts, ENVIRONMENT), work / "environment.parquet")
    (work / "plan.json").write_text(json.dumps(plan))
    (work / "parsed.json").write_text(json.dumps({"format": 1, "digest": "0"}))


def steps(work: Path) -> dict[str, float]:
    """Seconds since the start of this process, after each step."""
    start, marks = time.monotonic(), {}
    from scripts.compare import write_tables
    from scripts.comparison.compared import comparisons, descriptions
    from scripts.comparison.frame import load

    marks["imports"] = time.monotonic() - start
    frame = load(work)
    marks["load"] = time.monotonic() - start
    comparisons(frame, "iops")
    descriptions(frame, "iops")
    marks["statistics"] = time.monotonic() - start
    write_tables(frame, work)
    marks["tables"] = time.monotonic() - start
    return marks


def parse(work: Path, count: int) -> float:
    """The stage before, over as many run directories (benchmarks/finished.py)."""
    import finished

    finished.campaign(work, count)
    finished.finish(work)
    start = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "scripts.parse_runs", "--work", str(work), "--campaign", "many"],
        cwd=REPOSITORY, check=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    spent = time.monotonic() - start
    print(f"{'parse':<12} {spent:6.2f} s")
    return spent


def whole(work: Path, name: str) -> tuple[float, int]:
    """Seconds and MB of a stage as the workflow runs it."""
    start = time.monotonic()
    command = [sys.executable, "-m", f"scripts.{name}", "--results", str(work)]
    stage = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(stage.pid, 0)
    stage.returncode = os.waitstatus_to_exitcode(status)
    if stage.returncode:
        raise SystemExit(f"{name} failed: exit {stage.returncode}")
    return time.monotonic() - start, usage.ru_maxrss // 1024


def main() -> int:
    if len(sys.argv) > 3:  # a child: what it needs to write must not count as memory of the stage
        results(Path(sys.argv[2]), int(sys.argv[1]))
        return 0
    if len(sys.argv) > 2:  # a child, with a memory of its own
        marks = steps(Path(sys.argv[2]))
        print(json.dumps([marks, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024]))
        return 0
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 9600
    work = Path(tempfile.mkdtemp(prefix="blk-compare-"))
    try:
        (work / "parse").mkdir()
        parsed = 0.0 if os.environ.get("BLK_BENCH_SHORT") else parse(work / "parse", count)
        subprocess.run([sys.executable, __file__, str(count), str(work), "write"], check=True)
        child = subprocess.run(
            [sys.executable, __file__, str(count), str(work)], check=True, capture_output=True, text=True
        )
        marks, memory_mb = json.loads(child.stdout.splitlines()[-1])
        before = 0.0
        for step, at in marks.items():
            print(f"{step:<12} {at - before:6.2f} s, {at:6.2f} s in all")
            before = at
        print(f"{'memory':<12} {memory_mb} MB with tables")
        total = parsed
        for name in ("compare", "plot"):
            spent_s, peak_mb = whole(work, name)
            total += spent_s
            print(f"{name:<12} {spent_s:6.2f} s as a process, {peak_mb} MB")
        print(f"{'all':<12} {total:6.2f} s: parse, statistics, tables and the two main pictures")
        spent = {"statistics": marks["statistics"] - marks["load"], "tables": marks["tables"], "pictures": total}
        broken = [step for step, limit in LIMITS.items() if spent[step] > limit]
        print(f"over its limit: {', '.join(broken)}" if broken else "all within their limits")
        return 1 if broken else 0
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())
