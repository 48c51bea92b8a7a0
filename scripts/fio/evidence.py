"""Whether a fio run counts, judged by evidence: exit code, signals, errors, time, and what was really transferred."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SHORT_RUN = 0.9
"""A timed run that lasted less than this part of the requested time did not do what was asked."""


@dataclass
class Verdict:
    """`ok`, `failed` (fio ran, the result must not count) or `refused` (fio's output can not be read)."""

    status: str
    reason: str = ""
    warnings: list[str] = field(default_factory=list)


def document_of(raw: bytes) -> dict[str, Any]:
    """fio's JSON, with the text some versions print around it cut off.

    Raises:
        ValueError: there is none, or not all of it.
    """
    text = raw.decode("utf-8", "replace")
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise ValueError("fio wrote no JSON" if text.strip() else "fio wrote nothing")
    document = json.loads(text[start : end + 1], strict=False)
    if not isinstance(document, dict) or not isinstance(document.get("jobs"), list):
        raise ValueError("fio's JSON has no jobs")
    return document


def directions(job: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The parts of a job that moved data."""
    return [job[name] for name in ("read", "write", "trim", "mixed") if isinstance(job.get(name), dict)]


def judge(raw: bytes, exit_code: int | None, stderr: str, requested: Mapping[str, Any]) -> Verdict:
    """Judge one run.

    Args:
        raw: fio's JSON output.
        exit_code: of the process; negative for a signal; None when unknown.
        stderr: fio's.
        requested: optional keys runtime_s, ramp_time_s, time_based, prefill_bytes (all of which must have been
            written), bs_bytes.
    """
    warnings = [line.strip() for line in stderr.splitlines() if line.strip()][:20]
    last = f": {warnings[-1][:300]}" if warnings else ""
    if exit_code is not None and exit_code < 0:
        return Verdict("failed", f"fio was killed by signal {-exit_code}{last}", warnings)
    try:
        document = document_of(raw)
    except ValueError as error:
        if exit_code:
            return Verdict("failed", f"fio ended with exit code {exit_code}{last or f': {error}'}", warnings)
        return Verdict("refused", f"{error}{last}", warnings)
    jobs = [job for job in document["jobs"] if isinstance(job, dict)]
    for job in jobs:
        if job.get("error"):
            reason = f"job {job.get('jobname', '?')} ended with error {job['error']}{last}"
            return Verdict("failed", reason, warnings)
    if exit_code:
        return Verdict("failed", f"fio ended with exit code {exit_code}{last}", warnings)
    parts = [part for job in jobs for part in directions(job)]
    total = sum(int(part.get("total_ios") or 0) for part in parts)
    moved = sum(int(part.get("io_bytes") or 0) for part in parts)
    if not jobs or total <= 0:
        return Verdict("failed", f"fio did no I/O{last}", warnings)
    prefill = requested.get("prefill_bytes")
    if prefill and moved < prefill:
        return Verdict("failed", f"prep wrote {moved} of {prefill} bytes", warnings)
    runtime = requested.get("runtime_s")
    longest_ms = max((int(part.get("runtime") or 0) for part in parts), default=0)
    if runtime and requested.get("time_based") and longest_ms < runtime * 1000 * SHORT_RUN:
        return Verdict("failed", f"ran for {longest_ms} ms of the requested {runtime} s", warnings)
    for part in parts:
        iops, bw = float(part.get("iops") or 0), float(part.get("bw_bytes") or 0)
        bs = requested.get("bs_bytes")
        if bs and iops > 0 and bw > 0 and abs(iops * bs - bw) > 0.05 * bw + bs:
            warnings.append(f"IOPS x bs = {iops * bs:.0f} B/s, but the bandwidth is {bw:.0f} B/s")
    return Verdict("ok", "", warnings)


def totals(raw: bytes) -> tuple[float, float]:
    """(IOPS, bytes per second) over all jobs and directions, for a line of progress."""
    parts = [part for job in document_of(raw)["jobs"] for part in directions(job)]
    return sum(float(p.get("iops") or 0) for p in parts), sum(float(p.get("bw_bytes") or 0) for p in parts)
