"""Where the keeper's short-lived files are: directories that die with the kernel's state, never the results."""

import contextlib
import fcntl
import os
import stat
import time
from pathlib import Path


def base() -> Path:
    """Directory of this user that dies with the boot: $BLK_HOST_DIR, $XDG_RUNTIME_DIR, /run/user/UID, /run, /tmp."""
    uid = os.getuid()
    named = [os.environ.get("BLK_HOST_DIR"), os.environ.get("XDG_RUNTIME_DIR"), f"/run/user/{uid}", "/run", "/tmp"]
    for candidate in named:
        if candidate and os.access(candidate, os.W_OK | os.X_OK):
            return Path(candidate)
    raise OSError("no writable run-time directory: set XDG_RUNTIME_DIR")


def directory() -> Path:
    """`<base>/blk-UID`, private to the user.

    Raises:
        OSError: it is somebody else's.
    """
    path = base() / f"blk-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise OSError(f"{path} is not a private directory of this user")
    return path


def lock_path() -> Path:
    """The host's lock, the same file for every user of this machine."""
    named = os.environ.get("BLK_HOST_DIR")
    for candidate in (named, "/run/lock", "/tmp"):
        if candidate and os.access(candidate, os.W_OK | os.X_OK):
            return Path(candidate) / "blkcampaign.lock"
    raise OSError("no writable directory for the host's lock: /run/lock, /tmp")


def open_lock() -> int:
    """Descriptor of the host's lock file, not inherited by children. Any user may open it."""
    path = lock_path()
    for _ in range(20):
        # O_CREAT on an existing file of another user is refused in sticky directories, so only where there is none
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, os.O_RDWR | os.O_CLOEXEC)
        with contextlib.suppress(FileExistsError):
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            os.fchmod(fd, 0o666)
            return fd
    raise OSError(f"{path} comes and goes")


def try_lock(fd: int) -> bool:
    """Take the lock if it is free; the owner's pid is written into the file for the others' message."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    os.ftruncate(fd, 0)
    os.pwrite(fd, f"{os.getpid()} {os.getuid()}\n".encode(), 0)
    return True


def lock_owner(fd: int) -> str:
    """Who holds the lock, as a text."""
    return f"keeper {(os.pread(fd, 100, 0).decode().split() or ['?'])[0]}"


def sweep() -> None:
    """Remove sockets of Snakemake processes that are gone. Foreign names are left alone."""
    from scripts.keeper.process import start_time

    for path in directory().glob("*-*"):
        pid, _, start = path.name.split(".")[0].partition("-")
        if pid.isdigit() and start.isdigit() and str(start_time(int(pid))) != start:
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > 60:
                    path.unlink()
