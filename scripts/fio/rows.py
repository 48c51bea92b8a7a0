"""Document -> rows: one for each job and direction that did something; ns and bytes whatever the version wrote."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from scripts.fio.decode import Decoded
from scripts.fio.document import Direction, Document, Job, Latency
from scripts.fio.job_options import is_set, options_for
from scripts.fio.limits import MAX_INT
from scripts.fio.version import (
    guessed_version,
    io_bytes_scale,
    latency_target_scale,
    parse_version,
    percentiles_of_lat_under_clat,
)

DIRECTIONS = ("read", "write", "trim", "mixed", "sync")
PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
CENSORED = {1: 17_112_760_320, 1000: 16_711_680}
"""By ns to a unit: the last bucket of fio's histogram, 29 groups of 64 in ns, 19 in us. A percentile this high says "at
least this"."""
PADDING = "0.000000"
"""What fio up to 3.3 fills its list of percentiles with."""
PHANTOM_GROUP = 4294967295


def percentile_name(percentile: float) -> str:
    """99.9 -> `p99_9`."""
    return f"p{percentile:g}".replace(".", "_")


LATENCY_COLUMNS = {
    prefix: (*(f"{prefix}_{name}_ns" for name in ("mean", "min", "max", "stddev")), f"{prefix}_samples")
    for prefix in ("slat", "clat", "lat")
}
PERCENTILE_COLUMNS = {
    prefix: {f"{p:f}": f"{prefix}_{percentile_name(p)}_ns" for p in PERCENTILES} for prefix in LATENCY_COLUMNS
}
"""Built once: this is the inner loop."""


def jobs_of(document: Document) -> list[Job]:
    """Jobs that count: neither the sum over clients nor the phantom that stats=0 leaves."""
    jobs = [*(document.jobs or []), *(document.client_stats or [])]
    return [
        job
        for job in jobs
        if not (job.jobname == "All clients" and not bytes(job.options)) and job.groupid != PHANTOM_GROUP
    ]


def has_samples(latency: Latency | None) -> bool:
    """Whether fio measured anything; before fio 3.18 only zeros tell that it did not."""
    if latency is None or latency.N == 0:
        return False
    return latency.N is not None or bool(latency.max or latency.mean)


def latency_columns(prefix: str, latency: Latency, scale: int, row: dict[str, Any]) -> None:
    """Mean, min, max, stddev in ns."""
    mean, low, high, stddev = latency.mean, latency.min, latency.max, latency.stddev
    names = LATENCY_COLUMNS[prefix]
    row[names[0]] = None if mean is None else mean * scale
    row[names[1]] = None if low is None else low * scale
    row[names[2]] = None if high is None else high * scale
    row[names[3]] = None if stddev is None else stddev * scale
    row[names[4]] = latency.N


def percentile_columns(
    prefix: str, percentiles: Mapping[str, float], scale: int, row: dict[str, Any], decoded: Decoded
) -> None:
    """Percentiles in ns; fio's padding is dropped, what the histogram can not hold is marked.

    Those without a column of their own (percentile_list) are collected under `other_percentiles`. Two that fio writes
    with the same six decimals collide, and which one is left is not known.
    """
    names, usual = percentile_names(prefix, tuple(percentiles))
    if not usual and (lost := decoded.repeated() & percentiles.keys()):
        row["warnings"] = [*row["warnings"], *(f"percentile {key} stands there twice: unknown" for key in sorted(lost))]
        percentiles = {key: value for key, value in percentiles.items() if key not in lost}
        if not percentiles:
            return
        names, _ = percentile_names(prefix, tuple(percentiles))
    in_ns = [value * scale if type(value) is int else round(value * scale) for value in percentiles.values()]
    row.update(zip(names, in_ns, strict=True))
    if row.pop("", None) is not None:
        named = zip(percentiles, names, in_ns, strict=True)
        others = {key: value for key, name, value in named if not name and normal_key(key) != PADDING}
        if others:
            row.setdefault("other_percentiles", {})[f"{prefix}_ns"] = others
    if max(in_ns) >= CENSORED[scale] * scale:
        row["latency_censored"] = True


@lru_cache(maxsize=1024)
def percentile_names(prefix: str, keys: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Columns of percentiles, in the order of fio's list (an empty text for those that have none), and whether the list
    is fio's own: a user's can have two that look the same.
    """
    columns = PERCENTILE_COLUMNS[prefix]
    names = tuple(columns.get(key) or columns.get(normal_key(key)) or "" for key in keys)
    return names, tuple(filter(None, names)) == tuple(columns.values())


def normal_key(key: str) -> str:
    """fio's spelling of a percentile (`99.000000`) for any spelling of the number."""
    try:
        return f"{float(key):f}"
    except ValueError:
        return key


def samples_columns(direction: Direction, row: dict[str, Any]) -> None:
    """Statistics over fio's samples of IOPS and bandwidth; without a sample fio writes zeros, which say nothing."""
    if direction.bw_samples != 0 and (direction.bw_samples or direction.bw_max):
        row["bw_min_bytes_per_s"] = None if direction.bw_min is None else direction.bw_min * 1024
        row["bw_max_bytes_per_s"] = None if direction.bw_max is None else direction.bw_max * 1024
        row["bw_mean_bytes_per_s"] = None if direction.bw_mean is None else direction.bw_mean * 1024
        row["bw_stddev_bytes_per_s"] = None if direction.bw_dev is None else direction.bw_dev * 1024
    if direction.iops_samples != 0 and (direction.iops_samples or direction.iops_max):
        row["iops_min"], row["iops_max"] = direction.iops_min, direction.iops_max
        row["iops_mean"], row["iops_stddev"] = direction.iops_mean, direction.iops_stddev


def add_direction(
    row: dict[str, Any],
    direction: Direction,
    version: tuple[int, int],
    options: Mapping[str, Any],
    decoded: Decoded,
) -> None:
    """The columns of one direction, into a row that has those of its job."""
    row["runtime_ms"] = direction.runtime
    row["iops"] = direction.iops
    row["total_ios"] = direction.total_ios
    row["short_ios"] = direction.short_ios
    row["drop_ios"] = direction.drop_ios
    row["zone_resets"] = direction.zone_resets
    row["prios"] = prios_of(direction)
    if direction.io_bytes is not None:
        scale = 1 if direction.io_kbytes is not None else io_bytes_scale(version)
        scaled = None if scale is None else direction.io_bytes * scale
        row["io_bytes"] = scaled if scaled is not None and scaled <= MAX_INT else None
    if direction.bw_bytes is not None:
        row["bw_bytes_per_s"] = float(direction.bw_bytes)
    elif direction.bw is not None:
        row["bw_bytes_per_s"] = direction.bw * 1024.0
    samples_columns(direction, row)
    for name, in_ns, in_us in (
        ("slat", direction.slat_ns, direction.slat),
        ("clat", direction.clat_ns, direction.clat),
        ("lat", direction.lat_ns, direction.lat),
    ):
        latency, scale = (in_ns, 1) if in_ns is not None else (in_us, 1000)
        if latency is None or not has_samples(latency):
            continue
        latency_columns(name, latency, scale, row)
        if latency.percentile:
            of_lat = name == "clat" and under_clat(direction, version, options)
            percentile_columns("lat" if of_lat else name, latency.percentile, scale, row, decoded)
    if others := row.get("other_percentiles"):
        row["other_percentiles"] = msgspec.json.encode(others).decode()


def under_clat(direction: Direction, version: tuple[int, int], options: Mapping[str, Any]) -> bool:
    """Whether percentiles of lat stand under clat; not where lat has some of its own."""
    if not (percentiles_of_lat_under_clat(version) and is_set(options, "lat_percentiles")):
        return False
    return not any(latency and latency.percentile for latency in (direction.lat_ns, direction.lat))


def prios_of(direction: Direction) -> str | None:
    """What fio wrote by priority, as JSON: `prios` since 3.30, high and low from 3.18 to 3.29."""
    if prios := bytes(direction.prios):
        return prios.decode("utf-8", "replace")
    parts = [
        f'"{name}": {bytes(raw).decode("utf-8", "replace")}'
        for name, raw in (("clat_high_prio", direction.clat_high_prio), ("clat_low_prio", direction.clat_low_prio))
        if bytes(raw)
    ]
    return "{" + ", ".join(parts) + "}" if parts else None


def did_something(name: str, direction: Direction) -> bool:
    """Whether a direction has anything to say; sync counts in lat_ns.N, its total_ios stays 0."""
    if direction.total_ios or direction.io_bytes:
        return True
    if direction.total_ios is None and (direction.iops or direction.bw):
        return True  # fio before 2.1.14 has no total_ios, and what does not fit into 64 bits is unknown
    return name == "sync" and direction.lat_ns is not None and bool(direction.lat_ns.N)


def rows_of(decoded: Decoded) -> Iterator[dict[str, Any]]:
    """Rows of a document: the core columns, and `options` (all options) for later stages."""
    document = decoded.document
    version = parse_version(document.version)
    unsure = []
    if version is None:
        version, what = guessed_version(document)
        unsure = [f"no version of fio: units as of {what}, by the keys it wrote"]
    disks = disk_util_of(document)
    for index, job in enumerate(jobs_of(document)):
        options, warnings, unknown = options_for(document, job)
        common = {
            "fio_version": document.version,
            "jobname": job.jobname,
            "job_index": index,
            "groupid": job.groupid,
            "client": job.hostname,
            "client_port": job.port,
            "error": job.error,
            "elapsed_s": job.elapsed,
            "job_runtime_ms": job.job_runtime,
            "usr_cpu_percent": job.usr_cpu,
            "sys_cpu_percent": job.sys_cpu,
            "context_switches": job.ctx,
            "major_faults": job.majf,
            "minor_faults": job.minf,
            "latency_depth": job.latency_depth,
            "latency_target_ns": None if unsure and job.latency_target_ns is None else target_ns(job, version),
            "latency_window_us": job.latency_window_us if job.latency_window_us is not None else job.latency_window,
            "latency_percentile": job.latency_percentile,
            "steadystate_attained": attained(job.steadystate),
            "steadystate": None if job.steadystate is None else msgspec.json.encode(job.steadystate).decode(),
            "disk_util": disks,
            "options": options,
            "options_unknown": unknown,
            "warnings": [*unsure, *warnings],
        }
        parts = zip(DIRECTIONS, (job.read, job.write, job.trim, job.mixed, job.sync), strict=True)
        active = [(name, part) for name, part in parts if part is not None and did_something(name, part)]
        for place, (name, part) in enumerate(active, start=1):
            row = common if place == len(active) else dict(common)
            row["direction"] = name
            add_direction(row, part, version, options, decoded)
            if name == "sync" and not row["total_ios"] and part.lat_ns:
                row["total_ios"] = part.lat_ns.N
            yield row
        if not active:
            yield {**common, "direction": None}


def attained(steadystate: Mapping[str, Any] | None) -> bool | None:
    """Whether steady state was reached; None where fio was not asked."""
    value = (steadystate or {}).get("attained")
    return bool(int(value)) if isinstance(value, int | float) else None


def disk_util_percent(document: Document) -> float | None:
    """Largest utilisation of a disk; None where fio wrote none. Older versions can say more than 100."""
    utils = [disk.get("util") for disk in document.disk_util or []]
    return max((float(u) for u in utils if isinstance(u, int | float) and 0 <= u <= MAX_INT), default=None)


def disk_util_of(document: Document) -> str | None:
    """disk_util as JSON; None where fio wrote none."""
    return msgspec.json.encode(document.disk_util).decode() if document.disk_util else None


def target_ns(job: Job, version: tuple[int, int]) -> int | None:
    """latency_target in ns."""
    if job.latency_target_ns is not None:
        return job.latency_target_ns
    return None if job.latency_target is None else job.latency_target * latency_target_scale(version)
