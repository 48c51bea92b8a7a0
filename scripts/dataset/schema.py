"""Columns of runs.parquet: name, type, unit, meaning. The schema, docs/dataset.md and the tests come from here."""

from dataclasses import dataclass

import pyarrow as pa

from scripts.fio.rows import PERCENTILES, percentile_name

VERSION = 1
"""Raised when a column is renamed, removed or changes its meaning; new columns do not need it."""


@dataclass(frozen=True)
class Column:
    """One column; `unit` is empty for texts and counts without one."""

    name: str
    type: pa.DataType
    unit: str
    meaning: str


TEXT, INT, FLOAT, BOOL = pa.string(), pa.int64(), pa.float64(), pa.bool_()
TEXTS = pa.list_(pa.string())
MAP = pa.map_(pa.string(), pa.string())


def _latency(prefix: str, what: str) -> list[Column]:
    names = {"mean": "mean", "min": "smallest", "max": "largest", "stddev": "standard deviation of"}
    columns = [
        Column(f"{prefix}_{k}_ns", FLOAT if k in ("mean", "stddev") else INT, "ns", f"{v} {what}")
        for k, v in names.items()
    ]
    return [*columns, Column(f"{prefix}_samples", INT, "1", f"number of samples of {what}")]


def _percentiles(prefix: str, what: str) -> list[Column]:
    return [
        Column(f"{prefix}_{percentile_name(p)}_ns", INT, "ns", f"{p:g}th percentile of {what}, from fio's histogram")
        for p in PERCENTILES
    ]


COLUMNS = (
    Column(
        "source", TEXT, "", "file as given: the run's fio.json, or the imported file (member of an archive after !)"
    ),
    Column("status", TEXT, "", "ok, failed (fio ran, the result does not count) or refused (output can not be read)"),
    Column("reason", TEXT, "", "why status is not ok"),
    Column("fio_version", TEXT, "", "as fio wrote it"),
    Column("jobname", TEXT, "", "fio's name of the job; with group_reporting that of the group's first member"),
    Column("job_index", INT, "1", "place of the job in the file, from 0"),
    Column("groupid", INT, "1", "fio's reporting group"),
    Column("client", TEXT, "", "host name of a client of fio's client/server mode"),
    Column("client_port", INT, "1", "port of that client: several may run on one host"),
    Column("direction", TEXT, "", "read, write, trim, mixed or sync"),
    Column("total_ios", INT, "1", "I/Os done"),
    Column("short_ios", INT, "1", "I/Os that moved less than asked"),
    Column("drop_ios", INT, "1", "I/Os dropped"),
    Column("io_bytes", INT, "bytes", "data moved"),
    Column("runtime_ms", INT, "ms", "time in which it was moved; the longest of a group"),
    Column("iops", FLOAT, "1/s", "I/Os per second"),
    Column("bw_bytes_per_s", FLOAT, "bytes/s", "bandwidth"),
    *(Column(f"iops_{k}", FLOAT, "1/s", f"{k} of fio's samples of IOPS") for k in ("min", "max", "mean", "stddev")),
    *(
        Column(f"bw_{k}_bytes_per_s", FLOAT, "bytes/s", f"{k} of fio's samples of bandwidth")
        for k in ("min", "max", "mean", "stddev")
    ),
    *_latency("slat", "submission latency"),
    *_percentiles("slat", "submission latency"),
    *_latency("clat", "completion latency"),
    *_percentiles("clat", "completion latency"),
    *_latency("lat", "total latency"),
    *_percentiles("lat", "total latency"),
    Column(
        "other_percentiles", TEXT, "", "percentiles of percentile_list that have no column, as JSON in ns by latency"
    ),
    Column("latency_censored", BOOL, "", "a percentile is at the end of fio's histogram (17.1 s): it may be larger"),
    Column("usr_cpu_percent", FLOAT, "%", "user CPU time of the job"),
    Column("sys_cpu_percent", FLOAT, "%", "system CPU time of the job"),
    Column("context_switches", INT, "1", "context switches"),
    Column("major_faults", INT, "1", "major page faults"),
    Column("minor_faults", INT, "1", "minor page faults"),
    Column("error", INT, "errno", "fio's error of the job; 0 does not prove that all went well"),
    Column("elapsed_s", INT, "s", "fio's elapsed time"),
    Column("job_runtime_ms", INT, "ms", "fio's job_runtime: the sum over a group"),
    Column("zone_resets", INT, "1", "zone resets during the run (fio 3.42)"),
    Column("latency_depth", INT, "1", "queue depth found by latency_target"),
    Column("latency_target_ns", INT, "ns", "latency_target"),
    Column("latency_window_us", INT, "us", "latency_window"),
    Column("latency_percentile", FLOAT, "%", "part of the I/Os that must meet latency_target"),
    Column("steadystate_attained", BOOL, "", "whether steady state was reached"),
    Column("steadystate", TEXT, "", "fio's steadystate, as JSON"),
    Column("prios", TEXT, "", "latencies by I/O priority, as JSON in fio's units"),
    Column("disk_util", TEXT, "", "fio's disk_util, as JSON"),
    Column("disk_util_percent", FLOAT, "%", "largest utilisation of a disk that fio reports"),
    Column("campaign", TEXT, "", "campaign"),
    Column("run", TEXT, "", "run: variant + cell + sample"),
    Column("variant", TEXT, "", "what is being compared"),
    Column("cell", TEXT, "", "device x prep x workload, the same for all variants"),
    Column("workload", TEXT, "", "point of the fio matrix"),
    Column("sample", INT, "1", "number of the repeat, from 1"),
    Column("round", INT, "1", "pass over all blocks"),
    Column("block", INT, "1", "pass over all variants of a cell"),
    Column("position", INT, "1", "place in the planned order of the campaign, from 1"),
    Column("seed", INT, "1", "seed of that order"),
    Column("boot_id", TEXT, "", "boot of the measuring kernel: samples of one boot are not independent"),
    Column("hostname", TEXT, "", "machine that measured"),
    Column("host_kind", TEXT, "", "guest or local"),
    Column("clock", TEXT, "", "hardware, emulated or instructions: what a second means; never mix"),
    Column("prep", BOOL, "", "whether the whole device was written before"),
    Column("environment_id", TEXT, "", "identity of the environment in the run's specification"),
    Column("baseline", TEXT, "", "variant that the others are compared with"),
    Column("axes", MAP, "", "everything that may differ between cells, as text"),
    Column("rw", TEXT, "", "fio's rw"),
    Column("bs_bytes", INT, "bytes", "fio's bs"),
    Column("iodepth", INT, "1", "fio's iodepth (fio's default is 1)"),
    Column("numjobs", INT, "1", "fio's numjobs (fio's default is 1)"),
    Column("ioengine", TEXT, "", "fio's ioengine (fio's default is psync)"),
    Column("requested_runtime_s", FLOAT, "s", "fio's runtime as asked for"),
    Column("size_bytes", INT, "bytes", "fio's size"),
    Column("io_size_bytes", INT, "bytes", "fio's io_size"),
    Column("direct", BOOL, "", "fio's direct"),
    Column("instructions_per_io", FLOAT, "1", "executed guest instructions per I/O (clock instructions only)"),
    Column("warnings", TEXTS, "", "all that was skipped, bent or odd"),
)

SCHEMA = pa.schema(
    [pa.field(c.name, c.type, metadata={"unit": c.unit, "meaning": c.meaning}) for c in COLUMNS],
    metadata={"blkcampaign_schema": "runs", "blkcampaign_schema_version": str(VERSION)},
)
NAMES = frozenset(SCHEMA.names)

CODED = pa.dictionary(pa.int32(), TEXT)
"""Texts that repeat by the thousand."""
LATENCY_COLUMNS = (
    Column("run", CODED, "", "run, as in runs.parquet"),
    Column("source", CODED, "", "file, as in runs.parquet"),
    Column("job_index", INT, "1", "place of the job in the file, from 0"),
    Column("direction", CODED, "", "read, write, trim, mixed or sync"),
    Column("latency", CODED, "", "slat, clat or lat"),
    Column("low_ns", INT, "ns", "lower edge of the bucket; low <= latency < high"),
    Column("high_ns", INT, "ns", "upper edge of the bucket; at most 1/64 of its values wide"),
    Column("count", INT, "1", "I/Os in the bucket; empty buckets have no row"),
)
LATENCY = pa.schema(
    [pa.field(c.name, c.type, metadata={"unit": c.unit, "meaning": c.meaning}) for c in LATENCY_COLUMNS],
    metadata={"blkcampaign_schema": "latency", "blkcampaign_schema_version": str(VERSION)},
)

LOG_VALUES = {
    "bw": ("bw_bytes_per_s", "bytes/s", "bandwidth"),
    "iops": ("iops", "1/s", "IOPS; 1 for each I/O in a log without windows"),
    "lat": ("latency_ns", "ns", "total latency"),
    "clat": ("latency_ns", "ns", "completion latency"),
    "slat": ("latency_ns", "ns", "submission latency"),
}
"""Kind of a log -> column of its value, unit, meaning."""
_LOG_PLACE = (
    Column("run", CODED, "", "run, as in runs.parquet"),
    Column("source", CODED, "", "log file"),
    Column("job", pa.int32(), "1", "fio's number of the job, from the file's name; null for a log of all jobs"),
    Column("time_base", CODED, "", "what time_ms counts from: start (of the job), epoch, or clock N"),
    Column("time_ms", INT, "ms", "end of the I/O or of the window"),
    Column("direction", CODED, "", "read, write or trim"),
)


def log_columns(kind: str) -> list[Column]:
    """Columns of logs/<kind>.parquet."""
    if kind == "clat_hist":
        return [
            *_LOG_PLACE,
            Column("bs_bytes", INT, "bytes", "block size"),
            *(column for column in LATENCY_COLUMNS if column.name in ("low_ns", "high_ns", "count")),
        ]
    name, unit, what = LOG_VALUES[kind]
    return [
        *_LOG_PLACE,
        Column(name, INT, unit, f"{what}; the average of a window, null with log_window_value=max"),
        Column(f"{name}_max", INT, unit, f"largest in the window (log_window_value=max or both): {what}"),
        Column("windowed", BOOL, "", "a row is a window of log_avg_msec, not one I/O"),
        Column("bs_bytes", INT, "bytes", "block size; 0 for a window"),
        Column("offset_bytes", INT, "bytes", "offset (log_offset)"),
        Column("prio", INT, "", "I/O priority (log_prio), else 1 for a high one"),
        Column("issue_time_ns", INT, "ns", "time of issue (log_issue_time)"),
    ]


def log_schema(kind: str) -> pa.Schema:
    """Schema of logs/<kind>.parquet."""
    return pa.schema(
        [pa.field(c.name, c.type, metadata={"unit": c.unit, "meaning": c.meaning}) for c in log_columns(kind)],
        metadata={"blkcampaign_schema": f"log-{kind}", "blkcampaign_schema_version": str(VERSION)},
    )


HISTOGRAM_LOG = log_schema("clat_hist")

ENVIRONMENT = pa.schema(
    [
        pa.field("run", TEXT, metadata={"meaning": "run", "unit": ""}),
        pa.field("name", TEXT, metadata={"meaning": "what could explain a number", "unit": ""}),
        pa.field("value", TEXT, metadata={"meaning": "its value as text", "unit": ""}),
    ],
    metadata={"blkcampaign_schema": "environment", "blkcampaign_schema_version": str(VERSION)},
)
