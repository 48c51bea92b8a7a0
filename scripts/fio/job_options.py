"""A job's options as fio wrote them, and whether they are those of all that its figures come from.

With group_reporting fio adds up the figures of all jobs of a group, and writes the name of the first one and the
options of the last one. A group of several different jobs has no options that fio would tell; nothing says that it is
one, so the figures are asked: their names, directions, sizes, and how many threads they took.
"""

import contextlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from scripts.campaign.units import bytes_as_fio_reads
from scripts.fio.document import Direction, Document, Job
from scripts.fio.options import last, options_of

ONE_WAY = {
    "read": "read", "randread": "read", "write": "write", "randwrite": "write", "trim": "trim", "randtrim": "trim",
}  # fmt: skip
VERIFYING = ("verify", "do_verify", "verify_only", "experimental_verify", "read_iolog", "replay_redirect")
"""With these a job does more than its rw says, and takes longer."""
OTHER_SIZES = ("bssplit", "bsrange", "blocksize_range", "bs_unaligned", "blocksize_unaligned", "zonemode", "num_range",
               "kb_base", "bs_is_seq_rand", *VERIFYING)  # fmt: skip
"""Options with which I/Os may rightly have another size than bs."""
LONG_ENOUGH_MS = 100
LIKE = 0.05
"""What rounding may make of IOPS x bs = bandwidth."""


class Merged(NamedTuple):
    """Options of one job over the global ones.

    Attributes:
        unknown: an option that is not there has no known value, not fio's default. another: the job that the options
            are of, where they name one. numjobs, way, bs_bytes: read from them; None where they do not say.
    """

    options: Mapping[str, Any]
    warnings: tuple[str, ...]
    unknown: bool
    another: str
    numjobs: int | None
    way: str | None
    bs_bytes: int | None


def options_for(document: Document, job: Job) -> tuple[Mapping[str, Any], tuple[str, ...], bool]:
    """The job's options over the global ones, warnings, and whether an absent option is unknown, not fio's default.

    Unknown it is in a mixed group, which has no options at all, and where fio wrote none (before 2.3, and for some
    clients). The same object for the same options: many runs share them, and who makes something of them remembers it.
    """
    found = merged_options(bytes(document.global_options), bytes(job.options), job.jobname, job.hostname, job.port)
    mixed = mixture(job, found)
    if mixed:
        return NONE, (*found.warnings, f"{mixed}: fio wrote the options of the last job only"), True
    return found.options, found.warnings, found.unknown


NONE: Mapping[str, Any] = {}


@lru_cache(maxsize=4096)
def merged_options(
    global_options: bytes, job_options: bytes, jobname: str | None, host: str | None, port: int | None
) -> Merged:
    """See `Merged`; both as they stand in the document. host, port: of the client, which tell its global options."""
    common, warnings, unsure = options_of(msgspec.Raw(global_options), host, port)
    own, more, own_unsure = options_of(msgspec.Raw(job_options))
    merged = {**common, **own}
    named = own.get("name")
    another = str(named) if jobname and isinstance(named, str) and named != jobname else ""
    busy = any(name in merged for name in VERIFYING)
    bs = last(merged.get("bs", merged.get("blocksize")))
    bs_bytes = numjobs = None
    with contextlib.suppress(ValueError, OverflowError):
        if isinstance(bs, str) and not any(name in merged for name in OTHER_SIZES):
            bs_bytes = bytes_as_fio_reads(bs)
    with contextlib.suppress(ValueError):
        numjobs = None if busy or not merged else int(str(last(merged.get("numjobs", 1))))
    way = None if busy or not merged else ONE_WAY.get(str(last(merged.get("rw", merged.get("readwrite", "read")))))
    unknown = unsure or own_unsure or not (global_options or job_options)
    return Merged(merged, (*warnings, *more), unknown, another, numjobs, way, bs_bytes)


def mixture(job: Job, found: Merged) -> str:
    """Why the figures of an entry can not all come from jobs with these options, or an empty text."""
    if found.another:
        return f"a group of several jobs ({job.jobname} .. {found.another})"
    parts = [(name, part) for name, part in (("read", job.read), ("write", job.write), ("trim", job.trim))
             if part is not None and part.total_ios]  # fmt: skip
    if found.way and any(name != found.way for name, _ in parts):
        return f"a group of several jobs (rw would only {found.way})"
    longest = max((part.runtime or 0 for _, part in parts), default=0)
    threads = job.job_runtime / longest if job.job_runtime and longest >= LONG_ENOUGH_MS else None
    if threads and found.numjobs and threads > found.numjobs + 0.5:
        return f"a group of several jobs ({threads:.0f} threads ran, numjobs is {found.numjobs})"
    if found.bs_bytes and not threads and any(contradicts(part, found.bs_bytes) for _, part in parts):
        return f"perhaps a group of several jobs (I/Os were not of {found.bs_bytes} bytes)"
    return ""


def contradicts(part: Direction, bs_bytes: int) -> bool:
    """Whether a direction's I/Os had another size."""
    bandwidth = part.bw_bytes if part.bw_bytes is not None else (part.bw or 0) * 1024
    expected = (part.iops or 0) * bs_bytes
    return bool(bandwidth and expected and abs(expected - bandwidth) > LIKE * bandwidth + bs_bytes)


def is_set(options: Mapping[str, Any], name: str) -> bool:
    """Whether a boolean option is on; fio writes one that was given without a value as an empty text."""
    return str(last(options.get(name, "0"))) in ("", "1", "true")
