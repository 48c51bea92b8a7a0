"""9,600 finished runs: what a second command costs, and how soon a changed one measures, beside a plain three-rule
Snakefile over the same number of files.

python benchmarks/finished.py [RUNS]     default 9600; prints seconds, MB and ratios
"""

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
FAKE = REPOSITORY / "tests" / "fixtures" / "fake"
sys.path.insert(0, str(REPOSITORY))
from benchmarks.command import snakemake

os.environ["BLK_DRIVER_PATH"] = str(FAKE)
os.environ["BLK_FIO"] = str(FAKE / "fio")

PLAIN = """
RUNS = [str(i) for i in range({count})]
rule all:
    input: "table"
rule prepare:
    output: "s/{{r}}"
    shell: "touch {{output}}"
rule fio:
    input: "s/{{r}}"
    output: "f/{{r}}"
    shell: "touch {{output}}"
rule unload:
    input: "f/{{r}}"
    output: "u/{{r}}"
    shell: "touch {{output}}"
rule table:
    input: expand("u/{{r}}", r=RUNS)
    output: "table"
    shell: "touch {{output}}"
"""
FIO = {
    "fio version": "fio-3.39",
    "jobs": [
        {
            "jobname": "run",
            "groupid": 0,
            "error": 0,
            "job options": {"rw": "randread"},
            "read": {
                "total_ios": 1000,
                "io_bytes": 4096000,
                "iops": 1000.0,
                "bw": 4000,
                "bw_bytes": 4096000,
                "runtime": 1000,
            },
            "usr_cpu": 1.0,
            "sys_cpu": 2.0,
        }
    ],
}


def campaign(work: Path, count: int) -> None:
    workloads = {f"w{i}": {"rw": "randread", "bs": 4096 * (i + 1)} for i in range(max(1, -(-count // 80)))}
    document = {
        "title": "many runs",
        "host": "local",
        "boots": "campaign",
        "variants": {"one": {"driver": "fake"}, "two": {"driver": "fake", "replica": 1}},
        "device": {"directory": str(work), "size": "1g"},
        "fio": {"runtime": 1},
        "workloads": workloads,
        "repeats": 40,
    }
    (work / "many.yaml").write_text(json.dumps(document))


def finish(work: Path, fio_output: Callable[[], bytes] = lambda: json.dumps(FIO).encode()) -> int:
    """Write what 9,600 measured runs would have left, and the plan."""
    from scripts.campaign.options import Options
    from scripts.campaign.plan import build_plan, load_campaign
    from scripts.workflow.environment import local_environment

    found = load_campaign(work, Options(str(work / "many.yaml")))
    environment = local_environment(found)
    plan = build_plan(found, environment.identities, {}, "local", "hardware")
    for run in plan.runs:
        directory = work / "results" / "runs" / run.name
        directory.mkdir(parents=True)
        fio = fio_output()
        session = {"id": run.name[-12:], "host": "h", "boot_id": f"b{run.round % 5}", "host_kind": "local"}
        record = {
            "spec": json.loads(run.spec_json),
            "session": session,
            "clock": {"name": "hardware"},
            "environment": {"kernel": "k"},
        }
        text = json.dumps(record).encode()
        (directory / "fio.json").write_bytes(fio)
        (directory / "run.json").write_bytes(text)
        hashes = {"fio.json": hashlib.sha256(fio).hexdigest(), "run.json": hashlib.sha256(text).hexdigest()}
        (directory / "unload.json").write_text(json.dumps({"gone": True, "session": run.name, "sha256": hashes}))
    (work / "results" / plan.campaign.name).mkdir(parents=True, exist_ok=True)
    (work / "results" / plan.campaign.name / "plan.json").write_text(plan.to_json())
    return len(plan.runs)


def timed(what: str, command: list[str], work: Path, baseline: float | None = None) -> float:
    """Run; print wall and CPU seconds and the peak of memory."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    log = work / "log"
    with log.open("wb") as out:
        code = subprocess.run(
            ["/usr/bin/env", sys.executable, "-c", PEAK, *command],
            cwd=work,
            stdout=out,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    lines = log.read_text(errors="replace").splitlines()
    ratio = f", {wall / baseline:.2f} x the plain Snakefile" if baseline else ""
    print(
        f"{what}: exit {code}, {wall:.2f} s wall, {cpu:.2f} s CPU, {lines[-1] if lines else '?'} MB{ratio}", flush=True
    )
    return wall


PEAK = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(code)
"""


def changed(work: Path, command: list[str]) -> None:
    """Change one configuration (40 runs a variant), start again, and see when the first fio of it starts."""
    path = work / "many.yaml"
    document = json.loads(path.read_text())
    document["workloads"]["w0"]["bs"] = 512
    path.write_text(json.dumps(document))
    (work / "fio_s").write_text("30")
    start = time.monotonic()
    process = subprocess.Popen(command, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    events = work / "events"
    while process.poll() is None and not (events.is_file() and "-begin" in events.read_text()):
        time.sleep(0.02)
    print(f"ours, one configuration changed: first fio after {time.monotonic() - start:.2f} s", flush=True)
    process.terminate()
    process.wait()
    path.write_text(
        json.dumps({**document, "workloads": {**document["workloads"], "w0": {"rw": "randread", "bs": 4096}}})
    )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 9600
    work = Path(tempfile.mkdtemp(prefix="blk-finished-"))
    try:
        plain = work / "plain"
        for folder in ("f", "u"):
            (plain / folder).mkdir(parents=True)
            for number in range(count):
                (plain / folder / str(number)).touch()
        time.sleep(1.1)
        (plain / "table").touch()
        (plain / "Snakefile").write_text(PLAIN.format(count=count))
        settings = ["--cores", "1", "--scheduler", "greedy", "--rerun-triggers", "mtime", "--quiet", "all"]
        baseline = timed(f"plain, {count} finished runs", [snakemake(plain)[0], *settings], plain)
        ours = work / "ours"
        ours.mkdir()
        campaign(ours, count)
        print(f"{finish(ours)} finished runs written")
        command = snakemake(ours / "many.yaml")
        timed("ours, first: parse and compare", command, ours, baseline)
        timed("ours, second: nothing to do", command, ours, baseline)
        changed(ours, command)
        stage = [sys.executable, "-m", "scripts.parse_runs", "--work", str(ours), "--campaign", "many"]
        timed("parse_runs alone", ["env", f"PYTHONPATH={REPOSITORY}", *stage], ours)
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
