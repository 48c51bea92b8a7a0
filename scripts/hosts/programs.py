"""Where programs are looked for: Debian gives ordinary users, and `su` without `-`, no sbin directories."""

import os
import shutil

SYSTEM = ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin")


def search_path() -> str:
    """PATH, and behind it whatever of the system's directories it lacks."""
    named = [part for part in os.environ.get("PATH", "").split(os.pathsep) if part]
    return os.pathsep.join([*named, *(part for part in SYSTEM if part not in named)])


def find(name: str) -> str | None:
    """Path of a program, None where there is none."""
    return shutil.which(name, path=search_path())
