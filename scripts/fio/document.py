"""The parts of fio's JSON that are kept, as typed structures; everything may be absent in some version."""

from typing import Annotated, Any

import msgspec

from scripts.fio.limits import MAX_INT, MAX_TIME

Int = Annotated[int, msgspec.Meta(ge=-MAX_INT - 1, le=MAX_INT)]
Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_INT)]
Time = Annotated[int, msgspec.Meta(ge=0, le=MAX_TIME)]
Figure = Annotated[float, msgspec.Meta(ge=0)]
Percentile = Time | Annotated[float, msgspec.Meta(ge=0, le=float(MAX_TIME))]


class Latency(msgspec.Struct):
    """slat, clat or lat of one direction; ns or us by the name of the field that holds it."""

    min: Time | None = None
    max: Time | None = None
    mean: Figure | None = None
    stddev: Figure | None = None
    N: Count | None = None
    percentile: dict[str, Percentile] | None = None
    bins: msgspec.Raw = msgspec.Raw(b"")


class Direction(msgspec.Struct):
    """read, write, trim, mixed or sync of one job."""

    total_ios: Count | None = None
    short_ios: Count | None = None
    drop_ios: Count | None = None
    io_bytes: Count | None = None
    io_kbytes: Count | None = None
    bw: Figure | None = None
    bw_bytes: Count | None = None
    iops: Figure | None = None
    runtime: Count | None = None
    bw_min: Figure | None = None
    bw_max: Figure | None = None
    bw_mean: Figure | None = None
    bw_dev: Figure | None = None
    iops_min: Figure | None = None
    iops_max: Figure | None = None
    iops_mean: Figure | None = None
    iops_stddev: Figure | None = None
    bw_samples: Figure | None = None
    iops_samples: Figure | None = None
    zone_resets: Count | None = None
    slat_ns: Latency | None = None
    clat_ns: Latency | None = None
    lat_ns: Latency | None = None
    slat: Latency | None = None
    clat: Latency | None = None
    lat: Latency | None = None
    prios: msgspec.Raw = msgspec.Raw(b"")
    clat_high_prio: msgspec.Raw = msgspec.Raw(b"")
    clat_low_prio: msgspec.Raw = msgspec.Raw(b"")


class Job(msgspec.Struct, rename={"options": "job options"}):
    """One entry of `jobs` or `client_stats`."""

    jobname: str | None = None
    hostname: str | None = None
    port: Int | None = None
    groupid: Int | None = None
    error: Int | None = None
    elapsed: Count | None = None
    job_start: Int | None = None
    job_runtime: Count | None = None
    usr_cpu: Figure | None = None
    sys_cpu: Figure | None = None
    ctx: Count | None = None
    majf: Count | None = None
    minf: Count | None = None
    options: msgspec.Raw = msgspec.Raw(b"")
    read: Direction | None = None
    write: Direction | None = None
    trim: Direction | None = None
    mixed: Direction | None = None
    sync: Direction | None = None
    latency_depth: Count | None = None
    latency_target: Time | None = None
    latency_target_ns: Count | None = None
    latency_percentile: float | None = None
    latency_window: Count | None = None
    latency_window_us: Count | None = None
    steadystate: dict[str, Any] | None = None


class Document(msgspec.Struct, rename={"version": "fio version", "global_options": "global options"}):
    """fio's whole output."""

    version: str | None = None
    timestamp: Int | None = None
    timestamp_ms: Int | None = None
    time: str | None = None
    global_options: msgspec.Raw = msgspec.Raw(b"")
    jobs: list[Job] | None = None
    client_stats: list[Job] | None = None
    disk_util: list[dict[str, Any]] | None = None


DECODER = msgspec.json.Decoder(Document)
LAX_DECODER = msgspec.json.Decoder(Document, strict=False)
"""Reads numbers and booleans in quotes too."""
