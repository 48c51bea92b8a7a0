"""Document -> rows: one for each job and direction that did something; ns and bytes whatever the version wrote."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from scripts.fio.decode import Decoded, options_of
from scripts.fio.document import Direction, Document, Job, Latency
from scripts.fio.version import (
    NEWEST,
    io_bytes_scale,
    latency_target_scale,
    parse_version,
    percentiles_of_lat_under_clat,
)

DIRECTIONS = ("read", "write", "trim", "mixed", "sync")
PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
CENSORED_NS = 17_112_760_320
"""The last bucket of fio's histogram: a percentile this high says "at least 17.1 s"."""
PHANTOM_GROUP = 4294967295


def percentile_name(percentile: float) -> str:
    """99.9 -> `p99_9`."""
    return f"p{percentile:g}".replace(".", "_")


PERCENTILE_KEYS = {f"{p:f}": percentile_name(p) for p in PERCENTILES}


def jobs_of(document: Document) -> list[Job]:
    """Jobs that count: neither the sum over clients nor the phantom that stats=0 leaves."""
    jobs = [*(document.jobs or []), *(document.client_stats or [])]
    return [
        job
        for job in jobs
        if not (job.jobname == "All clients" and not bytes(job.options)) and job.groupid != PHANTOM_GROUP
    ]


def options_for(document: Document, job: Job) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The job's options over the global ones, and warnings. The same object for the same options: many runs share them,
    and whoever makes something of them can remember it.
    """
    return merged_options(bytes(document.global_options), bytes(job.options))


@lru_cache(maxsize=4096)
def merged_options(common: bytes, own: bytes) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """See `options_for`; both as they stand in the document."""
    below, _ = options_of(msgspec.Raw(common))
    above, repeated = options_of(msgspec.Raw(own))
    return {**below, **above}, tuple(f"option {key!r} was given several times" for key in repeated)


def latency_columns(prefix: str, latency: Latency | None, scale: int, row: dict[str, Any]) -> None:
    """Mean, min, max, stddev in ns."""
    if latency is None or latency.N == 0 or (latency.N is None and not latency.max):
        return
    mean, low, high, stddev = latency.mean, latency.min, latency.max, latency.stddev
    row[f"{prefix}_mean_ns"] = None if mean is None else mean * scale
    row[f"{prefix}_min_ns"] = None if low is None else low * scale
    row[f"{prefix}_max_ns"] = None if high is None else high * scale
    row[f"{prefix}_stddev_ns"] = None if stddev is None else stddev * scale
    row[f"{prefix}_samples"] = latency.N


def percentile_columns(prefix: str, latency: Latency | None, scale: int, row: dict[str, Any]) -> None:
    """Percentiles in ns; fio's padding is dropped, what the histogram can not hold is marked."""
    if latency is None or not latency.percentile or latency.N == 0:
        return
    for key, value in latency.percentile.items():
        name = PERCENTILE_KEYS.get(key)
        if name:
            row[f"{prefix}_{name}_ns"] = round(value * scale)
            if value * scale >= CENSORED_NS:
                row["latency_censored"] = True


SAME = ("iops", "total_ios", "short_ios", "drop_ios", "zone_resets", "iops_min", "iops_max", "iops_mean", "iops_stddev")
KIB_PER_S = (
    ("bw_min", "bw_min_bytes_per_s"),
    ("bw_max", "bw_max_bytes_per_s"),
    ("bw_mean", "bw_mean_bytes_per_s"),
    ("bw_dev", "bw_stddev_bytes_per_s"),
)
LATENCIES = (("slat", "slat_ns"), ("clat", "clat_ns"), ("lat", "lat_ns"))


def direction_row(direction: Direction, version: tuple[int, int], options: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of one direction."""
    row: dict[str, Any] = {}
    scale_bytes = io_bytes_scale(version)
    row["io_bytes"] = None if direction.io_bytes is None else direction.io_bytes * scale_bytes
    row["runtime_ms"] = direction.runtime
    for name in SAME:
        row[name] = getattr(direction, name)
    if direction.bw_bytes is not None:
        row["bw_bytes_per_s"] = float(direction.bw_bytes)
    elif direction.bw is not None:
        row["bw_bytes_per_s"] = float(direction.bw) * 1024
    for name, column in KIB_PER_S:
        value = getattr(direction, name)
        row[column] = None if value is None else value * 1024
    for name, name_ns in LATENCIES:
        in_ns, in_us = getattr(direction, name_ns), getattr(direction, name)
        latency, scale = (in_ns, 1) if in_ns is not None else (in_us, 1000)
        latency_columns(name, latency, scale, row)
        if name == "slat" or latency is None:
            continue
        of_lat = str(options.get("lat_percentiles", "0")) == "1" and percentiles_of_lat_under_clat(version)
        percentile_columns("lat" if name == "clat" and of_lat else name, latency, scale, row)
    return row


def did_something(name: str, direction: Direction) -> bool:
    """Whether a direction has anything to say; sync counts in lat_ns.N, its total_ios stays 0."""
    samples = direction.lat_ns.N if direction.lat_ns else None
    return bool(direction.total_ios or direction.io_bytes or (name == "sync" and samples))


def rows_of(decoded: Decoded) -> Iterator[dict[str, Any]]:
    """Rows of a document: the core columns, `options` (all options) and `bins` (raw histogram) for later stages."""
    document = decoded.document
    version = parse_version(document.version) or NEWEST
    for index, job in enumerate(jobs_of(document)):
        options, warnings = options_for(document, job)
        common = {
            "fio_version": document.version,
            "jobname": job.jobname,
            "job_index": index,
            "groupid": job.groupid,
            "client": job.hostname,
            "error": job.error,
            "elapsed_s": job.elapsed,
            "job_runtime_ms": job.job_runtime,
            "usr_cpu_percent": job.usr_cpu,
            "sys_cpu_percent": job.sys_cpu,
            "context_switches": job.ctx,
            "major_faults": job.majf,
            "minor_faults": job.minf,
            "latency_depth": job.latency_depth,
            "latency_target_ns": target_ns(job, version),
            "latency_window_us": job.latency_window_us if job.latency_window_us is not None else job.latency_window,
            "steadystate_attained": bool(job.steadystate["attained"])
            if job.steadystate and "attained" in job.steadystate
            else None,
            "options": options,
            "warnings": warnings,
        }
        parts = [(name, getattr(job, name)) for name in DIRECTIONS]
        active = [(name, part) for name, part in parts if part is not None and did_something(name, part)]
        for name, part in active:
            row = {**common, "direction": name, **direction_row(part, version, options)}
            if name == "sync" and not row["total_ios"] and part.lat_ns:
                row["total_ios"] = part.lat_ns.N
            bins = (part.clat_ns or part.clat or part.lat_ns or Latency()).bins
            row["bins"] = bytes(bins) if isinstance(bins, msgspec.Raw) else b""
            yield row
        if not active:
            yield {**common, "direction": None}


def target_ns(job: Job, version: tuple[int, int]) -> int | None:
    """latency_target in ns."""
    if job.latency_target_ns is not None:
        return job.latency_target_ns
    return None if job.latency_target is None else job.latency_target * latency_target_scale(version)
