"""Real Snakemake, real keeper, a fake driver: what is measured when, and in which order."""

import json
import os
import shutil
import subprocess
import time
import zipfile

import pyarrow.parquet as pq
import pytest

from tests.place import FAKE, Place, check_order


@pytest.mark.parametrize("cores", [1, 4])
def test_a_campaign_from_nothing(place, cores):
    code, output = place.run(cores=cores)
    assert code == 0, output
    check_order(place.events())
    assert place.measured() == 8
    assert len(place.complete()) == 8
    assert not list((place.work / "results" / "session").glob("*"))
    assert "IOPS / BW" in output and "1000 / 4.1 MB/s" in output
    assert (place.work / "results/fake/report.html").stat().st_size > 5000
    assert (place.work / "results/fake/plots/strip.svg").exists()
    assert b"data:image/svg+xml" in (place.work / "results/fake/report.html").read_bytes()
    assert "[8/8]" in output and "Select jobs" not in output
    record = json.loads(next((place.work / "results/runs").glob("*/run.json")).read_text())
    assert record["session"]["snakemake_timers"] == "off"
    assert record["order"]["seed"] == 1 and record["fio"]["exit_code"] == 0


def test_a_second_time_nothing_is_measured_whatever_was_touched(place):
    assert place.run()[0] == 0
    place.forget_events()
    code, output = place.run()
    assert code == 0 and "Nothing to be done" in output
    for path in place.work.rglob("*"):
        if ".snakemake" not in path.parts:
            os.utime(path)
    code, output = place.run()
    assert code == 0 and "Nothing to be done" in output
    shutil.rmtree(place.work / ".snakemake")
    code, output = place.run()
    assert code == 0 and "Nothing to be done" in output
    place.campaign(question="an unrelated key")
    assert place.run()[0] == 0
    assert place.events() == []


def test_a_comment_in_a_driver_measures_nothing(place, tmp_path):
    drivers = tmp_path / "drivers"
    shutil.copytree(FAKE, drivers)
    place.environment["BLK_DRIVER_PATH"] = str(drivers)
    assert place.run()[0] == 0
    assert place.measured() == 8
    place.forget_events()
    with (drivers / "fake.py").open("a") as file:
        file.write("\n# a remark\n")
    code, output = place.run()
    assert code == 0 and "Nothing to be done" in output
    assert place.events() == []


def test_only_what_changed_is_measured(place):
    assert place.run()[0] == 0
    changed = {"small": {"rw": "randread", "bs": "4k"}, "large": {"rw": "randwrite", "bs": "16k"}}
    place.forget_events()
    place.campaign(workloads=changed)
    assert place.run()[0] == 0
    assert place.measured() == 4
    place.forget_events()
    place.campaign()
    assert place.run()[0] == 0
    assert place.events() == []
    place.campaign(repeats=3)
    assert place.run()[0] == 0
    assert place.measured() == 4
    place.forget_events()
    victim = next(iter(sorted((place.work / "results/runs").glob("*-s1-*"))))
    (victim / "unload.json").unlink()
    assert place.run()[0] == 0
    assert place.measured() == 1
    kept = list((place.work / "results/superseded" / victim.name).glob("*/fio.json"))
    assert len(kept) == 1  # the measurement that no longer counts is not lost either


def test_histograms_and_logs_come_back_and_are_not_lost(place):
    logging = {"runtime": 1, "time_based": True, "output_format": "json+", "write_bw_log": True, "log_avg_msec": 500}
    place.campaign(fio=logging)
    code, output = place.run()
    assert code == 0, output
    results = place.work / "results"
    latency = pq.read_table(results / "fake/latency.parquet").to_pylist()
    assert len(latency) == 16 and {(r["low_ns"], r["high_ns"], r["count"]) for r in latency} == {
        (320, 324, 600),
        (5, 6, 400),
    }
    bandwidth = pq.read_table(results / "fake/logs/bw.parquet").to_pylist()
    assert len(bandwidth) == 16 and {r["bw_bytes_per_s"] for r in bandwidth} == {40960, 41984}
    assert {r["run"] for r in bandwidth} == {r["run"] for r in latency} == set(place.complete())
    victim = results / "runs" / place.complete()[0]
    assert (victim / "logs/fio_bw.1.log").read_text().startswith("500, 40")
    assert "logs/fio_bw.1.log" in json.loads((victim / "unload.json").read_text())["sha256"]
    assert "Nothing to be done" in place.run()[1]
    (place.device / "fail").write_text("late-8192")
    place.campaign(fio=logging, repeats=3)
    assert place.run()[0] == 1
    assert len(list((results / "failed").glob("*/*/logs/fio_bw.1.log"))) == 2  # what a failed run logged is kept too
    (place.device / "fail").unlink()
    place.campaign(fio=logging)
    assert place.run()[0] == 0
    with (victim / "logs/fio_bw.1.log").open("a") as file:
        file.write("1500, 4")
    shutil.rmtree(results / "fake")
    output = place.run()[1]
    assert "log fio_bw.1.log: the last line of the log is cut off" in output
    (row,) = [r for r in pq.read_table(results / "fake/runs.parquet").to_pylist() if r["run"] == victim.name]
    assert "cut off" in row["warnings"][-1]
    (victim / "unload.json").unlink()
    assert place.run()[0] == 0
    assert len(list((results / "superseded" / victim.name).glob("*/logs/*.log"))) == 1
    place.campaign()  # the same runs without logs are other runs
    assert place.run()[0] == 0
    assert not (results / "fake/logs/bw.parquet").exists()


def test_a_damaged_result_is_measured_again(place):
    assert place.run()[0] == 0
    place.forget_events()
    victim = next(iter(sorted((place.work / "results/runs").glob("*"))))
    with (victim / "fio.json").open("a") as file:
        file.write(" ")
    code, _ = place.run()
    assert code == 0
    assert place.measured() == 1


def test_damaged_or_lost_data_sets_are_made_again(place):
    assert place.run()[0] == 0
    place.forget_events()
    results = place.work / "results" / "fake"
    names = ["runs.parquet", "latency.parquet", "environment.parquet"]
    before = {name: pq.read_table(results / name).num_rows for name in names}
    for harm in (lambda path: path.write_text("garbage"), lambda path: path.unlink()):
        for name in names:
            harm(results / name)
        code, output = place.run()
        assert code == 0, output
        assert {name: pq.read_table(results / name).num_rows for name in names} == before
        assert (results / "report.html").is_file()
    assert place.measured() == 0
    assert "Nothing to be done" in place.run()[1]


def test_a_failing_fio_stops_nothing_else(place):
    (place.device / "fail").write_text("run-8192")
    code, output = place.run()
    assert code == 1
    check_order(place.events(), whole=False)
    assert place.measured() == 4
    assert not (place.device / "loaded").exists()
    assert "asked to fail" in output
    assert "failed" in (place.work / "results/fake/tables/fake.txt").read_text()
    failed = list((place.work / "results/failed").glob("*/*/run.json"))
    assert len(failed) == 4
    assert "asked to fail" in json.loads(failed[0].read_text())["reason"]
    (place.device / "fail").unlink()
    place.forget_events()
    assert place.run()[0] == 0
    assert place.measured() == 4
    assert "failed" not in (place.work / "results/fake/tables/fake.txt").read_text()


def test_a_failing_prep_is_a_failed_run(place):
    (place.device / "fail").write_text("prep-131072")
    code, _ = place.run()
    assert code == 1
    assert place.measured() == 0 and place.complete() == []
    assert not (place.device / "loaded").exists()


def test_a_silently_changed_parameter_is_an_error_with_both_values(place):
    place.campaign(device={"directory": str(place.device), "queues": 99})
    code, output = place.run()
    assert code == 1
    assert "queues: asked for 99, the device has 1" in output
    assert not (place.device / "loaded").exists()


def test_a_variant_that_can_not_run_is_said_and_fails_nothing(place):
    variants = {"one": {"driver": "fake"}, "two": {"driver": "fake", "device": {"missing": "no such thing here"}}}
    place.campaign(variants=variants)
    code, output = place.run()
    assert code == 0
    assert place.measured() == 4
    assert "Not run: two: no such thing here" in output
    assert "not run" in (place.work / "results/fake/tables/fake.txt").read_text()


def test_two_checkouts_take_turns(tmp_path):
    one = Place(tmp_path / "1", tmp_path / "host", tmp_path / "device")
    two = Place(tmp_path / "2", tmp_path / "host", tmp_path / "device")
    (one.device / "fio_s").write_text("0.05")
    processes = [one.start(), two.start()]
    outputs = [p.communicate(timeout=300)[0] for p in processes]
    assert [p.returncode for p in processes] == [0, 0], outputs
    check_order(one.events())
    assert len(one.complete()) == len(two.complete()) == 8
    assert any("this machine is measuring for" in output for output in outputs)


def test_a_second_snakemake_in_the_same_place_does_no_harm(place):
    (place.device / "fio_s").write_text("0.2")
    first = place.start()
    while not place.events():
        assert first.poll() is None
    code, output = place.run()
    assert code != 0 and "lock" in output.lower()
    assert place.run("-n")[0] == 0
    output, _ = first.communicate(timeout=300)
    assert first.returncode == 0, output
    check_order(place.events())


def test_forced_runs_come_back_into_the_graph_and_keep_the_old_results(place):
    assert place.run()[0] == 0
    place.forget_events()
    assert place.run("-F")[0] == 0
    assert place.measured() == 8
    assert len(list((place.work / "results/superseded").glob("*/*/fio.json"))) == 8


def test_errors_of_a_campaign_come_all_at_once(place):
    document = json.loads((place.work / "fake.yaml").read_text())
    document["repeat"] = 3
    document["workloads"]["small"]["bs"] = "4q"
    document["variants"]["one"]["driver"] = "fakee"
    (place.work / "fake.yaml").write_text(json.dumps(document))
    code, output = place.run("-n")
    assert code == 1
    assert "did you mean 'repeats'" in output
    assert "workloads.small.bs = '4q'" in output
    assert "fake.yaml" in output
    assert "Traceback" not in output


def test_unknown_options_are_refused(place):
    code, output = place.run("-n", config=["repaets=3"])
    assert code == 1
    assert "did you mean 'repeats'" in output


def test_no_process_stays_behind(place):
    assert place.run()[0] == 0

    def left():
        return subprocess.run(["pgrep", "-f", str(place.host)], capture_output=True, text=True, check=False).stdout

    end = time.monotonic() + 5  # the keeper sees its owner's end, and goes
    while left() and time.monotonic() < end:
        time.sleep(0.05)
    assert left() == ""


def test_a_device_of_somebody_else_is_left_alone(place):
    (place.device / "loaded").mkdir()
    code, output = place.run()
    assert code == 1
    assert "it is not ours" in output
    assert (place.device / "loaded").exists()
    assert place.events() == []


def test_snakemake_makes_its_own_report_without_a_network(place):
    assert place.run()[0] == 0
    command = ["unshare", "-n", *place.command("--report", "own.zip")]
    done = subprocess.run(command, cwd=place.work, env=place.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(place.work / "own.zip") as archive:
        names = archive.namelist()
        text = "".join(archive.read(name).decode(errors="replace") for name in names if name.endswith((".html", ".js")))
    assert any(name.endswith("fake.html") for name in names) and any(name.endswith("report.html") for name in names)
    assert any(name.endswith("strip.svg") for name in names)
    assert "Tables" in text and "Pictures" in text and "The whole report as one file" in text


def test_a_report_that_was_not_written_again_is_not_taken_for_new(place):
    assert place.run()[0] == 0
    report = place.work / "results/fake/report.html"
    old = report.read_bytes()
    place.campaign(question="something else is asked")
    assert place.run("--until", "compare")[0] == 0
    assert place.run()[0] == 0
    assert report.read_bytes() != old and b"something else is asked" in report.read_bytes()
    report.unlink()
    place.forget_events()
    assert place.run()[0] == 0
    assert report.exists() and place.events() == []
