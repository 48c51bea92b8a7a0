"""`campaign=imported`: real Snakemake, foreign results; again only when something in them changed."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import duckdb
import polars
import pyarrow.parquet as pq
import pytest

from tests.fio_output import job, output
from tests.place import REPOSITORY


class Imports:
    def __init__(self, root):
        self.work, self.input = root / "work", root / "in"
        self.work.mkdir()
        for name, iops in (("old", 100.0), ("new", 150.0)):
            for number in (1, 2, 3):
                path = self.input / name / f"boot{number}.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(output(job(iops=iops + number)))

    def run(self, *config):
        command = [
            str(Path(sys.executable).with_name("snakemake")),
            "-s",
            str(REPOSITORY / "Snakefile"),
            "--cores",
            "1",
        ]
        done = subprocess.run(
            [*command, "--config", "campaign=imported", *config],
            cwd=self.work,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def rows(self, name="imported"):
        return pq.read_table(self.work / "results" / name / "runs.parquet").to_pylist()


@pytest.fixture
def imports(tmp_path):
    return Imports(tmp_path)


def test_a_directory_becomes_tables_once(imports):
    code, output_ = imports.run(f"input={imports.input}")
    assert code == 0, output_
    assert "6 files imported; ok: 6, failed: 0, refused: 0" in output_
    assert "imported runs, not measured by this pipeline" in " ".join(output_.split()) and "-32" in output_
    assert {row["variant"] for row in imports.rows()} == {"old", "new"}
    for path in imports.input.rglob("*"):
        os.utime(path)
    code, output_ = imports.run(f"input={imports.input}")
    assert code == 0 and "Nothing to be done" in output_
    (imports.input / "new" / "boot3.json").write_bytes(output(job(iops=999.0)))
    code, output_ = imports.run(f"input={imports.input}")
    assert code == 0 and "6 files imported" in output_
    assert 999.0 in {row["iops"] for row in imports.rows()}
    (imports.input / "new" / "boot3.json").unlink()
    assert "5 files imported" in imports.run(f"input={imports.input}")[1]


def test_a_mapping_says_what_names_mean(imports):
    mapping = imports.work / "names.yaml"
    mapping.write_text("path: (?P<variant>\\w+)/boot(?P<boot>\\d)\nclock: hardware\n")
    code, output_ = imports.run(f"input={imports.input}", f"mapping={mapping}", "name=mine")
    assert code == 0, output_
    assert {row["boot_id"] for row in imports.rows("mine")} == {"1", "2", "3"}
    assert "3 boot(s)" in output_ and "Clock: hardware" in output_
    mapping.write_text("path: (?P<variant>\\w+)/boot(?P<boot>\\d)\nclok: hardware\n")
    code, output_ = imports.run(f"input={imports.input}", f"mapping={mapping}", "name=mine")
    assert code == 1 and "did you mean 'clock'" in output_ and "names.yaml" in output_


def test_archives_and_bad_files(imports):
    (imports.input / "broken.json").write_text('{"fio version": "fio-3.39", "jobs": [')
    with tarfile.open(imports.work / "all.tar.gz", "w:gz") as archive:
        archive.add(imports.input, "in")
    shutil.rmtree(imports.input)
    code, output_ = imports.run(f"input={imports.work}/all.tar.gz")
    assert code == 0, output_
    assert "7 files imported; ok: 6, failed: 0, refused: 1" in output_ and "1 x truncated" in output_
    (bad,) = [row for row in imports.rows() if row["status"] == "refused"]
    assert bad["source"].endswith("all.tar.gz!in/broken.json")


def test_relative_inputs_odd_names_and_several_versions(imports):
    (imports.work / "in x").mkdir()
    for name, version in ((b"caf\xe9.json", "fio-3.1"), (b"a, b.json", "fio-3.41")):
        with open(os.fsencode(imports.work / "in x") + b"/" + name, "wb") as file:  # noqa: PTH123
            file.write(output(version=version))
    for _ in range(2):
        code, output_ = imports.run("input=in x")
        assert code == 0, output_
    assert "Nothing to be done" in output_
    assert {row["source"] for row in imports.rows()} == {"in x/caf\\xe9.json", "in x/a, b.json"}


def test_nothing_to_import_is_one_message(imports):
    for given, said in (("/none", "no such file"), (str(imports.work), "no file in it")):
        code, output_ = imports.run(f"input={given}")
        assert code == 1 and said in output_ and "Traceback" not in output_
    code, output_ = imports.run(f"input={imports.input}", "name=runs")
    assert code == 1 and "name = 'runs'" in output_


def test_every_common_reader_reads_the_same(imports):
    assert imports.run(f"input={imports.input}")[0] == 0
    path = str(imports.work / "results" / "imported" / "runs.parquet")
    ours = sorted((row["source"], row["iops"], row["io_bytes"]) for row in imports.rows())
    query = f"SELECT source, iops, io_bytes, axes, typeof(iops) FROM '{path}' ORDER BY source"
    with duckdb.connect() as database:
        ducks = database.execute(query).fetchall()
    assert [row[:3] for row in ducks] == ours and {row[4] for row in ducks} == {"DOUBLE"}
    frame = polars.read_parquet(path).sort("source")
    assert frame.select("source", "iops", "io_bytes").rows() == ours
    assert frame["status"].dtype == polars.String and frame["io_bytes"].dtype == polars.Int64
    meta = pq.read_schema(path)
    assert meta.field("clat_mean_ns").metadata[b"unit"] == b"ns"
    assert json.loads((imports.work / "results/imported/parsed.json").read_text())["counts"]["ok"] == 6


def test_histograms_and_logs_of_foreign_results(imports):
    options = {"write_bw_log": "x", "log_avg_msec": "500", "log_offset": "0"}
    plus = json.loads(output(job(options=options)))
    plus["jobs"][0]["read"]["clat_ns"]["bins"] = {"322": 7}
    folder = imports.input / "old"
    (folder / "boot1.json").write_text(json.dumps(plus))
    (folder / "x_bw.1.log").write_text("500, 40, 0, 0, 0\n1000, 41, 0, 0, 0\n")
    (folder / "y_bw.1.log").write_text("500, 40, 0, 0, 0\n")
    (folder / "x_bw.2.log.fz").write_bytes(b"x\x9c")
    (folder / "x_bw.3.log").write_text("500, 40, 0, 0\n")
    code, output_ = imports.run(f"input={imports.input}")
    assert code == 0, output_
    assert "ok: 6, failed: 0, refused: 3" in output_ and "logs: 1" in output_
    results = imports.work / "results" / "imported"
    rows = pq.read_table(results / "logs" / "bw.parquet").to_pylist()
    assert [(row["time_ms"], row["bw_bytes_per_s"], row["windowed"]) for row in rows] == [
        (500, 40960, True),
        (1000, 41984, True),
    ]
    (bucket,) = pq.read_table(results / "latency.parquet").to_pylist()
    assert (bucket["low_ns"], bucket["count"]) == (320, 7)
    assert {bucket["run"]} == {row["run"] for row in rows}
    reasons = [row["reason"] for row in imports.rows() if row["status"] == "refused"]
    assert sum("inflate-log" in r for r in reasons) == sum("no JSON of fio beside it" in r for r in reasons) == 1
    assert sum("4 columns" in r for r in reasons) == 1


def test_the_folder_of_a_campaign_that_measures_is_left_alone(imports):
    plan = imports.work / "results" / "zoned" / "plan.json"
    plan.parent.mkdir(parents=True)
    plan.write_text('{"format": 1, "host": "guest"}')
    code, output_ = imports.run(f"input={imports.input}", "name=zoned")
    assert code == 1 and "name = 'zoned'" in output_ and "another folder" in output_
    assert plan.read_text() == '{"format": 1, "host": "guest"}' and len(list(plan.parent.iterdir())) == 1


def test_what_is_no_file_is_never_opened(imports):
    os.mkfifo(imports.input / "old" / "pipe.json")
    code, output_ = imports.run(f"input={imports.input},/dev/zero")
    assert code == 0, output_
    refused = {row["source"]: row["reason"] for row in imports.rows() if row["status"] == "refused"}
    assert refused == {f"{imports.input}/old/pipe.json": "not a regular file", "/dev/zero": "not a regular file"}
    assert "Nothing to be done" in imports.run(f"input={imports.input},/dev/zero")[1]


def test_damaged_or_lost_data_sets_are_imported_again(imports):
    given = f"input={imports.input}"
    assert imports.run(given)[0] == 0
    results = imports.work / "results" / "imported"
    names = ["runs.parquet", "latency.parquet", "environment.parquet", "plan.json"]
    before = {name: pq.read_table(results / name).num_rows for name in names[:3]}
    for name in names:
        (results / name).write_text("garbage")
    code, output_ = imports.run(given)
    assert code == 0, output_
    assert {name: pq.read_table(results / name).num_rows for name in names[:3]} == before
    for name in names:
        (results / name).unlink()
    (results / "parsed.json").write_text("garbage")
    assert imports.run(given)[0] == 0
    assert {name: pq.read_table(results / name).num_rows for name in names[:3]} == before
    assert json.loads((results / "plan.json").read_bytes())["runs"]
    assert "Nothing to be done" in imports.run(given)[1]


def test_nothing_but_refused_files_is_said_and_has_its_rows(imports):
    for path in imports.input.rglob("*.json"):
        path.write_text("hello")
    code, output_ = imports.run(f"input={imports.input}")
    assert code == 1 and "no result could be read, so there is nothing to compare" in output_
    assert "Traceback" not in output_
    assert [row["status"] for row in imports.rows()] == ["refused"] * 6
