"""The schema: documented, and readable across its versions."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scripts.dataset import document, read
from scripts.dataset.schema import COLUMNS, SCHEMA, VERSION
from scripts.dataset.write import table_of, write_table
from tests.place import REPOSITORY

CORE = [
    "source",
    "status",
    "reason",
    "fio_version",
    "jobname",
    "job_index",
    "groupid",
    "direction",
    "total_ios",
    "io_bytes",
    "runtime_ms",
    "iops",
    "bw_bytes_per_s",
    "slat_mean_ns",
    "clat_mean_ns",
    "clat_min_ns",
    "clat_max_ns",
    "clat_stddev_ns",
    "clat_p50_ns",
    "clat_p99_ns",
    "clat_p99_9_ns",
    "lat_mean_ns",
    "usr_cpu_percent",
    "sys_cpu_percent",
    "error",
]
ROW = {"source": "a", "status": "ok", "iops": 1.5, "io_bytes": 4096, "axes": {"bs": "4096"}, "warnings": ["w"]}


def written(path, schema=SCHEMA, rows=(ROW,)):
    write_table(table_of(rows, schema), path)
    return path


def test_names_of_the_core_are_fixed():
    assert set(CORE) <= set(SCHEMA.names)


def test_units_are_in_names_and_metadata():
    for column in COLUMNS:
        field = SCHEMA.field(column.name)
        assert field.metadata[b"meaning"].decode() == column.meaning and column.meaning
        for suffix, unit in (("_ns", "ns"), ("_bytes", "bytes"), ("_ms", "ms"), ("_bytes_per_s", "bytes/s")):
            if column.name.endswith(suffix) and not (suffix == "_bytes" and column.unit == "bytes/s"):
                assert column.unit == unit, column


def test_the_document_is_that_of_the_schema():
    assert (REPOSITORY / "docs" / "dataset.md").read_text() == document.text()


def test_a_file_of_today(tmp_path):
    (row,) = read.read_runs(written(tmp_path / "r.parquet")).to_pylist()
    assert (row["iops"], row["io_bytes"], dict(row["axes"]), row["direction"]) == (1.5, 4096, {"bs": "4096"}, None)


def test_a_file_of_an_older_version_has_nulls_for_what_it_lacks(tmp_path, monkeypatch):
    fields = [SCHEMA.field(n) if n != "bw_bytes_per_s" else pa.field("bandwidth", pa.float64())
              for n in SCHEMA.names if n not in ("latency_censored", "clock")]  # fmt: skip
    metadata = {"blkcampaign_schema": "runs", "blkcampaign_schema_version": str(VERSION - 1)}
    path = written(tmp_path / "old.parquet", pa.schema(fields, metadata=metadata), [{**ROW, "bandwidth": 7.0}])
    monkeypatch.setattr(read, "RENAMED", {VERSION - 1: {"bandwidth": "bw_bytes_per_s"}})
    table = read.read_runs(path)
    assert table.schema.equals(SCHEMA)
    (row,) = table.to_pylist()
    assert (row["clock"], row["latency_censored"], row["bw_bytes_per_s"], row["iops"]) == (None, None, 7.0, 1.5)


def test_the_shipped_file_of_the_first_version_is_read():
    table = read.read_runs(REPOSITORY / "tests" / "fixtures" / "runs-schema-1.parquet")
    expected = json.loads((REPOSITORY / "tests" / "fixtures" / "runs-schema-1.json").read_text())
    assert table.schema.equals(SCHEMA)
    rows = table.select(list(expected[0])).to_pylist()
    assert rows == expected


def test_files_that_are_not_ours_or_too_new_are_said(tmp_path):
    newer = SCHEMA.with_metadata({"blkcampaign_schema": "runs", "blkcampaign_schema_version": str(VERSION + 1)})
    written(tmp_path / "new.parquet", newer)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    (tmp_path / "none.parquet").write_text("text")
    for name, said in (("new", "newer blkcampaign"), ("other", "not a runs.parquet"), ("none", "no Parquet file")):
        with pytest.raises(read.SchemaError, match=said):
            read.read_runs(tmp_path / f"{name}.parquet")
