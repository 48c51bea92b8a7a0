"""What changed between versions of fio, as comparable numbers."""

import re
from functools import lru_cache

from scripts.fio.document import Document

NEWEST = (99, 0)
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
    return NEWEST, "fio 3"


def io_bytes_scale(version: tuple[int, int]) -> int:
    """io_bytes is in KiB up to 2.20."""
    return 1024 if version <= (2, 20) else 1


def latency_target_scale(version: tuple[int, int]) -> int:
    """latency_target is in us up to 3.2, in ns since."""
    return 1000 if version <= (3, 2) else 1


def percentiles_of_lat_under_clat(version: tuple[int, int]) -> bool:
    """With lat_percentiles=1, percentiles of lat stand under clat up to 3.12."""
    return version <= (3, 12)
