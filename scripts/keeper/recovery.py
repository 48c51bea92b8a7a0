"""After a keeper was killed: tear down what its journal names, under the host's lock, and nothing else."""

import os
import select
import time
from collections.abc import Sequence
from typing import Any

from scripts.hosts.base import HostError
from scripts.keeper import journal, runtime
from scripts.keeper.process import kill_marked
from scripts.keeper.session import StepFailed


def plain_wait(fds: Sequence[int], timeout_s: float | None) -> list[int]:
    """`Wait` for tearing down, which nothing interrupts."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return [fd for fd, _ in poll.poll(None if timeout_s is None else max(0, timeout_s * 1000))]


def recover(say: Any = None) -> None:
    """Under the host's lock: tear down every session that the journal has as open, and nothing else."""
    for entry in journal.unfinished():
        left = ""
        if entry["host"] in ("guest", "guest-process"):
            if entry.get("mark") and kill_marked(f"BLK_KEEPER={entry['mark']}"):
                left = "a guest's process could not be killed"
        else:
            kill_marked(f"BLK_SESSION={entry['session']}")
            left = undo_locally(entry)
        if left:
            raise StepFailed(f"a killed session ({entry.get('run')}) left a device that can not be removed: {left}")
        if say and entry.get("run"):
            say(f"removed what a killed session had left ({entry['run']})")
        journal.append({"event": "gone", "session": entry["session"]})
    journal.forget_finished()


def undo_locally(entry: dict[str, Any]) -> str:
    """Execute a journal entry's own operations; what failed, or an empty text."""
    from scripts.hosts.local import LocalHost

    host = LocalHost(f"recover-{os.getpid()}")
    host.saved = dict(entry.get("saved", {}))
    try:
        host.start(plain_wait)
        host.saved = dict(entry.get("saved", {}))
        for operations in (entry["destroy"], entry["gone"]):
            if operations:
                result = host.request(operations, entry["session"], 120, plain_wait)[-1]
                if not result["ok"] and not operations[-1].get("optional"):
                    return str(result["error"])
    except HostError as error:
        return str(error)
    finally:
        host.stop()
    return ""


def recover_alone() -> None:
    """The agent's last act after its keeper was killed: wait for the lock, clean up, go."""
    fd = runtime.open_lock()
    end = time.monotonic() + 60
    while not runtime.try_lock(fd):
        if time.monotonic() > end or not journal.unfinished():
            return  # the keeper that holds the lock has done it or will
        time.sleep(0.05)
    recover()
