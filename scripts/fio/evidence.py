"""Whether a fio run counts, judged by evidence: exit code, signals, errors, time, and what was really transferred.

fio's own `error` and exit code are not enough: a killed worker leaves both at 0, a full disk under --output too.
"""

import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scripts.campaign.units import bytes_as_fio_reads, parse_seconds
from scripts.fio.decode import Refused, decode
from scripts.fio.job_options import LIKE, OTHER_SIZES
from scripts.fio.options import last
from scripts.fio.rows import rows_of

SHORT_RUN = 0.9
"""A timed run that lasted less than this part of the requested time did not do what was asked."""
MAX_RUNTIME_S = 1e9
"""Thirty years: nobody asked for more, and larger numbers do not fit everywhere."""
SIGNAL = re.compile(r"fio: .*?(?:got signal[ =](\d+)|terminating on signal (\d+))")
FATAL = re.compile(
    SIGNAL.pattern + r"|fio: io_u error|fio: pid=\d+, err=(?!0\b)|fio: .*startup hung|\bjobs? failed to start"
)
"""What fio says of itself when its figures do not stand for what was asked, whatever `error` and its exit code are."""
ENDS_EARLY = ("steadystate", "ss", "exitall", "exit_what", "number_ios", "io_size", "io_limit", "rate_min",
              "latency_target")  # fmt: skip
"""Options with which a timed run may rightly end before its time."""


@dataclass
class Verdict:
    """`ok`, `failed` (fio ran, the result must not count) or `refused` (fio's output can not be read)."""

    status: str
    reason: str = ""
    warnings: list[str] = field(default_factory=list)


def fatal_in(lines: Iterable[str], requested: Mapping[str, Any]) -> str:
    """The first line of fio's that tells of a signal or an error that was not to be passed over, or an empty text."""
    pattern = SIGNAL if requested.get("continue_on_error") else FATAL
    found = (line.strip() for line in lines if pattern.search(line))
    return next(found, "").removeprefix("skipped: ")


def requested_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """What a job's own options ask for, as far as it can be read; keys as for `judge`."""
    found: dict[str, Any] = {name: options[name] for name in (*OTHER_SIZES, "continue_on_error") if name in options}
    bs = last(options.get("bs", options.get("blocksize")))
    with contextlib.suppress(ValueError, OverflowError):
        if isinstance(bs, str):
            found["bs_bytes"] = bytes_as_fio_reads(bs)
    with contextlib.suppress(KeyError, ValueError, OverflowError):
        runtime = parse_seconds(str(last(options["runtime"])))
        if runtime < MAX_RUNTIME_S:
            found["runtime_s"] = runtime
    timed = "time_based" in options and str(last(options["time_based"])) not in ("0", "false")
    found["time_based"] = timed and not any(name in options for name in ENDS_EARLY)
    return found


def did_nothing(row: Mapping[str, Any]) -> bool:
    """Whether nothing was transferred; total_ios is unknown before fio 2.1.14."""
    total = row.get("total_ios")
    return not total if total is not None else not (row.get("io_bytes") or row.get("iops"))


def row_problem(row: Mapping[str, Any], requested: Mapping[str, Any]) -> str:
    """Why one row (see rows.py) must not count, or an empty text."""
    if row.get("error"):
        return f"job {row.get('jobname') or '?'} ended with error {row['error']}"
    if did_nothing(row):
        return "fio did no I/O"
    runtime, ran_ms = requested.get("runtime_s"), row.get("runtime_ms")
    if runtime and requested.get("time_based") and ran_ms is not None and ran_ms < runtime * 1000 * SHORT_RUN:
        return f"ran for {ran_ms} ms of the requested {runtime} s"
    odd = contradiction(row, requested.get("bs_bytes"))
    if odd and not (row.get("short_ios") or row.get("direction") == "mixed" or any(map(requested.get, OTHER_SIZES))):
        return odd
    return ""


def contradiction(row: Mapping[str, Any], bs_bytes: int | None) -> str:
    """IOPS x block size is not the bandwidth: one of the two is wrong, and nobody can say which. Or an empty text."""
    iops, bandwidth = float(row.get("iops") or 0), float(row.get("bw_bytes_per_s") or 0)
    if not bs_bytes or iops <= 0 or bandwidth <= 0 or abs(iops * bs_bytes - bandwidth) <= LIKE * bandwidth + bs_bytes:
        return ""
    return f"IOPS x bs = {iops * bs_bytes:.0f} B/s, but the bandwidth is {bandwidth:.0f} B/s"


def judge(raw: bytes, exit_code: int | None, stderr: str, requested: Mapping[str, Any]) -> Verdict:
    """Judge one run of ours.

    Args:
        raw: fio's JSON output.
        exit_code: of the process; negative for a signal; None when unknown.
        stderr: fio's.
        requested: optional keys runtime_s, ramp_time_s, time_based, prefill_bytes (all of which must have been
            written), bs_bytes, and those of OTHER_SIZES.
    """
    warnings = [line.strip() for line in stderr.splitlines() if line.strip()][:20]
    last = f": {warnings[-1][:300]}" if warnings else ""
    if exit_code is not None and exit_code < 0:
        return Verdict("failed", f"fio was killed by signal {-exit_code}{last}", warnings)
    try:
        decoded = decode(raw)
    except Refused as error:
        if exit_code:
            return Verdict("failed", f"fio ended with exit code {exit_code}{last or f': {error}'}", warnings)
        return Verdict("refused", f"{error}{last}", warnings)
    warnings += decoded.warnings
    rows = list(rows_of(decoded))
    said = [*stderr.splitlines(), *decoded.warnings]
    reason = run_problem(said, rows, exit_code, last, requested)
    if not reason:
        warnings += filter(None, (contradiction(row, requested.get("bs_bytes")) for row in rows))
    return Verdict("failed" if reason else "ok", reason, warnings)


def run_problem(
    said: Iterable[str],
    rows: Sequence[Mapping[str, Any]],
    exit_code: int | None,
    last: str,
    requested: Mapping[str, Any],
) -> str:
    """Why a whole run must not count, or an empty text; `last` is fio's last word, put behind its own errors.

    Args:
        said: fio's lines, on stderr and around its JSON. rows: see rows.py. requested: see `judge`.
    """
    for row in rows:
        if row.get("error"):
            return row_problem(row, requested) + last
    if exit_code:
        return f"fio ended with exit code {exit_code}{last}"
    if fatal := fatal_in(said, requested):
        return fatal
    if all(did_nothing(row) for row in rows):
        return f"fio did no I/O{last}"
    prefill = requested.get("prefill_bytes")
    moved = sum(int(row.get("io_bytes") or 0) for row in rows)
    if prefill and moved < prefill:
        return f"prep wrote {moved} of {prefill} bytes"
    longest = max(rows, key=lambda row: row.get("runtime_ms") or 0)
    untimed = {
        **requested,
        "runtime_s": None,
    }  # of several directions or jobs only the longest need have taken its time
    odd = (row_problem(row, untimed) for row in rows if not did_nothing(row))
    return row_problem({**longest, "error": 0, "total_ios": 1}, requested) or next(filter(None, odd), "")


def totals(raw: bytes) -> tuple[float, float]:
    """(IOPS, bytes per second) over all jobs and directions, for a line of progress."""
    rows = list(rows_of(decode(raw)))
    return sum(row.get("iops") or 0.0 for row in rows), sum(row.get("bw_bytes_per_s") or 0.0 for row in rows)
