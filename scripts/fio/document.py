"""The parts of fio's JSON that are kept, as typed structures; everything may be absent in some version."""

from typing import Any

import msgspec

Number = int | float


class Latency(msgspec.Struct):
    """slat, clat or lat of one direction; ns or us by the name of the field that holds it."""

    min: Number | None = None
    max: Number | None = None
    mean: float | None = None
    stddev: float | None = None
    N: int | None = None
    percentile: dict[str, float] | None = None
    bins: msgspec.Raw = msgspec.Raw(b"")


class Direction(msgspec.Struct):
    """read, write, trim, mixed or sync of one job."""

    total_ios: int | None = None
    short_ios: int | None = None
    drop_ios: int | None = None
    io_bytes: int | None = None
    io_kbytes: int | None = None
    bw: Number | None = None
    bw_bytes: int | None = None
    iops: float | None = None
    runtime: int | None = None
    bw_min: float | None = None
    bw_max: float | None = None
    bw_mean: float | None = None
    bw_dev: float | None = None
    iops_min: float | None = None
    iops_max: float | None = None
    iops_mean: float | None = None
    iops_stddev: float | None = None
    zone_resets: int | None = None
    slat_ns: Latency | None = None
    clat_ns: Latency | None = None
    lat_ns: Latency | None = None
    slat: Latency | None = None
    clat: Latency | None = None
    lat: Latency | None = None
    prios: list[dict[str, Any]] | None = None


class Job(msgspec.Struct, rename={"options": "job options"}):
    """One entry of `jobs` or `client_stats`."""

    jobname: str | None = None
    hostname: str | None = None
    port: int | None = None
    groupid: int | None = None
    error: int | None = None
    elapsed: int | None = None
    job_start: int | None = None
    job_runtime: int | None = None
    usr_cpu: float | None = None
    sys_cpu: float | None = None
    ctx: int | None = None
    majf: int | None = None
    minf: int | None = None
    options: msgspec.Raw = msgspec.Raw(b"")
    read: Direction | None = None
    write: Direction | None = None
    trim: Direction | None = None
    mixed: Direction | None = None
    sync: Direction | None = None
    latency_depth: int | None = None
    latency_target: int | None = None
    latency_target_ns: int | None = None
    latency_percentile: float | None = None
    latency_window: int | None = None
    latency_window_us: int | None = None
    steadystate: dict[str, Any] | None = None


class Document(msgspec.Struct, rename={"version": "fio version", "global_options": "global options"}):
    """fio's whole output."""

    version: str | None = None
    timestamp: int | None = None
    timestamp_ms: int | None = None
    time: str | None = None
    global_options: msgspec.Raw = msgspec.Raw(b"")
    jobs: list[Job] | None = None
    client_stats: list[Job] | None = None
    disk_util: list[dict[str, Any]] | None = None


DECODER = msgspec.json.Decoder(Document)
