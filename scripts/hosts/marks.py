"""Processes by the mark in their environment, for the agent. Standard library only; copied into guests beside it."""

import contextlib
import os
import signal
import time

POLL_S = 0.05


def text_of(data):
    """Decode so that any bytes survive the way through JSON."""
    return data.decode("utf-8", "surrogateescape")


def processes_with(mark):
    """[(pid, comm)] of living processes that have `mark` (b"NAME=value") in their environment, but not this one."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if mark not in file.read().split(b"\0"):
                    continue
            found.append((int(entry), comm_of(entry)))
        except OSError:
            continue
    return found


def comm_of(pid):
    """comm of a process, None for a zombie or a process that is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read()
    except OSError:
        return None
    comm, state = stat[stat.index(b"(") + 1 : stat.rindex(b")")], stat[stat.rindex(b")") + 2 : stat.rindex(b")") + 3]
    return None if state in (b"Z", b"X") else text_of(comm)


def kill_marked(mark, first=()):
    """SIGKILL what carries the mark, comm names in `first` before the rest, until nothing is left (5 s at most)."""
    kill_named(mark, first)
    for _ in range(100):
        left = [pid for pid, comm in processes_with(mark) if comm is not None]
        if not left:
            return
        for pid in left:
            signal_process(pid)
        time.sleep(POLL_S)


def kill_named(mark, names):
    """SIGKILL what carries the mark and has one of these comm names, in the order of the names."""
    for name in names:
        for pid, comm in processes_with(mark):
            if comm == name[:15]:
                signal_process(pid)


def named(names):
    """Pids of living processes with one of these comm names, marked or not."""
    short = {name[:15] for name in names}
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and comm_of(pid) in short]


def signal_process(pid):
    """SIGKILL one process; gone already is fine."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
