"""What changed between versions of fio, as comparable numbers."""

import re
from functools import lru_cache

from scripts.fio.document import Document

NEWEST = (99, 0)
LIKE = 4.0
"""Ramp times and idle ends make bandwidth x time differ from what was moved, but not so much."""
NO_UNITS = (98, 0)
"""A document that does not tell what its io_bytes counts."""
BEFORE_NS = (2, 21)
BEFORE_BYTES = (2, 20)


@lru_cache(maxsize=256)
def parse_version(text: str | None) -> tuple[int, int] | None:
    """(major, minor) of `fio-3.33`, `fio-2.2.10`, `fio-3.41-12-gabcdef`; None when there is none."""
    match = re.search(r"(?<!\d)(\d{1,4})\.(\d{1,4})(?!\d)", text or "")
    return (int(match[1]), int(match[2])) if match else None


def guessed_version(document: Document) -> tuple[tuple[int, int], str]:
    """A version whose units are those of a document that names none, and how to say it."""
    jobs = [*(document.jobs or []), *(document.client_stats or [])]
    parts = [part for job in jobs for part in (job.read, job.write, job.trim, job.mixed) if part]
    if any(part.io_kbytes is not None for part in parts):
        in_us = any(part.clat or part.lat for part in parts)
        return (BEFORE_NS, "fio 2.21") if in_us else (NEWEST, "fio 3")
    if any(part.clat_ns or part.lat_ns or part.bw_bytes is not None for part in parts):
        return NEWEST, "fio 3"
    if any(part.clat or part.lat for part in parts):
        return BEFORE_BYTES, "fio 2.20"
    # nothing but figures: bandwidth x time is what was moved, in KiB
    moved = [(part.io_bytes, part.bw * part.runtime / 1000) for part in parts if part.bw and part.runtime]
    ratios = [io_bytes / in_kib for io_bytes, in_kib in moved if io_bytes and in_kib]
    if ratios and all(ratio < LIKE for ratio in ratios) and all(ratio > 1 / LIKE for ratio in ratios):
        return BEFORE_BYTES, "fio 2.20"
    if ratios and all(1024 / LIKE < ratio < 1024 * LIKE for ratio in ratios):
        return NEWEST, "fio 3"
    return NO_UNITS, "fio 3, io_bytes unknown,"


def io_bytes_scale(version: tuple[int, int]) -> int | None:
    """io_bytes is in KiB up to 2.20; None where that is not known."""
    if version == NO_UNITS:
        return None
    return 1024 if version <= (2, 20) else 1


def latency_target_scale(version: tuple[int, int]) -> int:
    """latency_target is in us up to 3.2, in ns since."""
    return 1000 if version <= (3, 2) else 1


def percentiles_of_lat_under_clat(version: tuple[int, int]) -> bool:
    """With lat_percentiles=1, percentiles of lat stand under clat up to 3.12."""
    return version <= (3, 12)
