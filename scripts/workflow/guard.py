"""The parse-time guard of a working directory: says whether somebody lives here, and clears what the dead have left."""

import contextlib
import fcntl
import os
import shutil
from pathlib import Path

_held: list[int] = []


def hold(work: Path) -> bool:
    """Take a shared lock for the life of this process; True when nobody else had one.

    Alone, `results/session/` (a session never outlives its keeper) and Snakemake's own stale locks are removed, so that
    `--unlock` is never needed.
    """
    state = work / ".snakemake"
    state.mkdir(exist_ok=True)
    fd = os.open(state / "blk.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    _held.append(fd)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        alone = True
    except BlockingIOError:
        alone = False
    if alone:
        for stale in (work / "results" / "session", state / "locks"):
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(stale)
    fcntl.flock(fd, fcntl.LOCK_SH)
    return alone
