"""Snakemake itself rests while fio runs, however many jobs it has done."""

import os
import time
from pathlib import Path

RUNS = 667
"""Three jobs each: 2,000 jobs done."""
WATCHED_S = 5
LIMIT = 0.01


def cpu_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_snakemake_rests_while_fio_runs_after_two_thousand_jobs(place):
    workloads = {f"w{i}": {"rw": "randread", "bs": 512 * (i + 1)} for i in range(RUNS)}
    place.campaign(variants={"one": {"driver": "fake"}}, workloads=workloads, repeats=1)
    process = place.start()
    last = f"blkcampaign: [{RUNS}/{RUNS}]"
    assert any(line.startswith(last) and "preparing" in line for line in process.stdout)
    (place.device / "fio_s").write_text(str(WATCHED_S + 3))
    while place.events()[-1][0] != "run-begin":
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(1)  # Snakemake has handed out the job
    before, start = cpu_s(process.pid), time.monotonic()
    time.sleep(WATCHED_S)
    used, watched = cpu_s(process.pid) - before, time.monotonic() - start
    assert place.events()[-1][0] == "run-begin"  # it was fio that was watched
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert place.measured() == RUNS
    assert used / watched <= LIMIT, f"{used / watched:.1%} of a core"
