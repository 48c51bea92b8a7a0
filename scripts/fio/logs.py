"""fio's log files: what their columns are, told by the job's own options and fio's version, never by their number.

    time, value[, largest value], direction, block size[, offset][, priority][, issue time]

Five columns can be an old log with offsets or a new one without; six a window's average and maximum, or an offset.
A file whose number of columns is not what the options say is refused.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.fio.job_options import is_set
from scripts.fio.options import last
from scripts.fio.scan import Refused

NAME = re.compile(r"(?P<prefix>.*)_(?P<kind>bw|iops|clat_hist|slat|clat|lat)(?:\.(?P<job>\d+))?\.log(?P<stored>\.fz)?")
OPTION = {"bw": "write_bw_log", "iops": "write_iops_log", "lat": "write_lat_log", "clat": "write_lat_log",
          "slat": "write_lat_log", "clat_hist": "write_hist_log"}  # fmt: skip
PRIORITY_SINCE = (3, 18)
BOTH_SINCE = (3, 37)
ISSUE_SINCE = (3, 38)
NS_SINCE = (2, 99)
WINDOW_VALUES = {"max": ("value_max",), "1": ("value_max",), "both": ("value", "value_max")}
"""1: log_max_value, of which it is the newer name."""
BUCKETS = (1856, 1216)
"""Buckets of a histogram: since 2.99 (29 groups of 64), and before (19)."""


@dataclass(frozen=True)
class LogName:
    """A log file's name in its parts; `job` is fio's number of the thread, None without one."""

    prefix: str
    kind: str
    job: int | None
    stored: bool


@dataclass(frozen=True)
class Layout:
    """What a log file holds.

    Attributes:
        columns: names in the order of the file. scale: of the value, to ns or bytes per second.
        windowed: a row is a window of time, not one I/O. time_base: `start` (of the job), `epoch` or `clock <id>`.
        coarseness: a histogram has 2^coarseness buckets of fio's in each of its own.
    """

    columns: tuple[str, ...]
    scale: int
    windowed: bool
    time_base: str
    coarseness: int = 0


def log_name(path: str) -> LogName | None:
    """The parts of a log's name; None when it has not the name of one."""
    match = NAME.fullmatch(path.rpartition("/")[2])
    if not match:
        return None
    return LogName(match["prefix"], match["kind"], int(match["job"]) if match["job"] else None, bool(match["stored"]))


def prefixes(options: Mapping[str, Any], jobname: str | None) -> Iterator[tuple[str, str]]:
    """(option, prefix of the files' names) of the logs that a job with these options writes."""
    for option in dict.fromkeys(OPTION.values()):
        value = options.get(option)
        if value is not None:
            prefix = str(last(value)) or jobname or ""
            yield option, prefix.rpartition("/")[2]


def number_of(options: Mapping[str, Any], key: str) -> int:
    """A whole-number option; 0 where it is absent.

    Raises:
        Refused: it is no number.
    """
    text = str(last(options.get(key, "0")))
    if not text.isdigit():
        raise Refused(f"log option {key} = {text!r}: not a whole number")
    return int(text)


def layout_of(name: LogName, options: Mapping[str, Any], version: tuple[int, int] | None) -> Layout:
    """The layout of a log.

    Args:
        options: of the job that wrote it, over the global ones. version: of fio.

    Raises:
        Refused: stored compressed, or the version is unknown.
    """
    if name.stored:
        raise Refused("stored compressed (log_store_compressed): unpack it with fio --inflate-log=FILE")
    if version is None:
        raise Refused("a log file of fio, but the version of fio that wrote it is unknown: its units depend on it")
    base = "start"
    if is_set(options, "log_unix_epoch") or is_set(options, "log_alternate_epoch"):
        clock = number_of(options, "log_alternate_epoch_clock_id")
        base = f"clock {clock}" if clock else "epoch"  # 0 is CLOCK_REALTIME
    if name.kind == "clat_hist":
        coarseness = number_of(options, "log_hist_coarseness")
        scale = 1 if version >= NS_SINCE else 1000
        return Layout(("time_ms", "direction", "bs_bytes"), scale, True, base, coarseness)
    windowed = number_of(options, "log_avg_msec") > 0
    wanted = str(last(options.get("log_window_value", "avg"))) if version >= BOTH_SINCE else "avg"
    if is_set(options, "log_max_value"):
        wanted = "max"  # fio's older way to say it
    columns = ["time_ms", *WINDOW_VALUES.get(wanted, ("value",))] if windowed else ["time_ms", "value"]
    columns += ["direction", "bs_bytes"]
    if is_set(options, "log_offset"):
        columns.append("offset_bytes")
    if version >= PRIORITY_SINCE:
        columns.append("prio")
    if version >= ISSUE_SINCE and is_set(options, "log_issue_time"):
        columns.append("issue_time_ns")
    scales = {"bw": 1024, "iops": 1}
    return Layout(tuple(columns), scales.get(name.kind, 1 if version >= NS_SINCE else 1000), windowed, base)


def check_columns(found: int, layout: Layout) -> None:
    """Compare a file's first line with its layout.

    Raises:
        Refused: names both numbers.
    """
    expected = len(layout.columns)
    if layout.coarseness or layout.columns[1] == "direction":
        allowed = [expected + (buckets >> layout.coarseness) for buckets in BUCKETS]
        if found not in allowed:
            raise Refused(f"a histogram log with {found} columns; the options say {' or '.join(map(str, allowed))}")
    elif found != expected:
        listed = ", ".join(layout.columns)
        raise Refused(f"a log file with {found} columns; the job's options and version say {expected} ({listed})")


def writer_of(name: LogName, jobs: Sequence[tuple[str | None, Mapping[str, Any]]]) -> Mapping[str, Any] | None:
    """Options of the job that wrote a log, None where none did; jobs are (name, options).

    Raises:
        Refused: several jobs did, and what they say of the layout is not the same.
    """
    wanted = (OPTION[name.kind], name.prefix)
    found = [options for jobname, options in jobs if wanted in prefixes(options, jobname)]
    keys = ("log_avg_msec", "log_window_value", "log_max_value", "log_offset", "log_issue_time", "log_unix_epoch",
            "log_alternate_epoch", "log_alternate_epoch_clock_id", "log_hist_coarseness")  # fmt: skip
    if len({tuple(str(options.get(key)) for key in keys) for options in found}) > 1:
        raise Refused("several jobs wrote this log with different log options")
    return found[0] if found else None
