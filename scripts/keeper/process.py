"""Processes by identity: a pid alone can be somebody else's tomorrow, a pid with start time and boot id can not."""

import contextlib
import os
import select
import signal
import time
from pathlib import Path


def boot_id() -> str:
    """This boot of this machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def start_time(pid: int) -> int:
    """Start of a process in clock ticks since boot; 0 when there is none (or only a zombie)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return 0
    fields = stat[stat.rindex(b")") + 2 :].split()
    return 0 if fields[0] in (b"Z", b"X") else int(fields[19])


def parent(pid: int) -> int:
    """Parent's pid; 0 when unknown."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return 0
    return int(stat[stat.rindex(b")") + 2 :].split()[1])


def identity(pid: int) -> str:
    """`pid:start:boot`."""
    return f"{pid}:{start_time(pid)}:{boot_id()}"


def is_live_ancestor(text: str) -> bool:
    """Whether an identity names a living process above this one."""
    try:
        pid, start, boot = text.split(":")
    except ValueError:
        return False
    above = os.getpid()
    while above > 1:
        above = parent(above)
        if str(above) == pid:
            return str(start_time(above)) == start and boot == boot_id()
    return False


def open_pidfd(text: str) -> int:
    """pidfd of the process an identity names, -1 when it is gone. Compared after opening: no reuse in between."""
    pid, start, boot = text.split(":")
    try:
        fd = os.pidfd_open(int(pid))
    except OSError:
        return -1
    if str(start_time(int(pid))) == start and boot == boot_id():
        return fd
    os.close(fd)
    return -1


def marked(mark: str) -> list[int]:
    """Living processes with `NAME=value` in their environment, this one and its parents excluded."""
    wanted = mark.encode()
    mine, above = set(), os.getpid()
    while above > 1:
        mine.add(above)
        above = parent(above)
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) not in mine:
            with contextlib.suppress(OSError):
                if wanted in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0") and start_time(int(entry)):
                    found.append(int(entry))
    return found


def kill_marked(mark: str, timeout_s: float = 10) -> list[int]:
    """SIGKILL everything with the mark until nothing is left; returns what is left after `timeout_s`."""
    end = time.monotonic() + timeout_s
    while left := marked(mark):
        for pid in left:
            with contextlib.suppress(OSError):
                fd = os.pidfd_open(pid)
                try:
                    if pid in marked(mark):
                        signal.pidfd_send_signal(fd, signal.SIGKILL)
                        select.select([fd], [], [], 0.2)
                finally:
                    os.close(fd)
        if time.monotonic() > end:
            return marked(mark)
    return []
