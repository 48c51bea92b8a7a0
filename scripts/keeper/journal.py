"""Write-ahead journal of sessions: what to undo, written before anything is made.

JSON lines in the run-time directory. An entry holds the operations that undo the session, so that recovery needs
neither the campaign nor the driver as it was. Every line starts with a newline: a torn one spoils only itself.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.keeper import runtime
from scripts.keeper.process import boot_id


def path() -> Path:
    """The user's journal."""
    return runtime.directory() / "journal"


def append(entry: Mapping[str, Any]) -> None:
    """Add one entry.

    Raises:
        OSError: it could not be written; then nothing may be made.
    """
    line = b"\n" + json.dumps({**entry, "boot_id": boot_id()}).encode() + b"\n"
    fd = os.open(path(), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        if os.write(fd, line) != len(line):
            raise OSError(f"{path()} is full")
    finally:
        os.close(fd)


def unfinished() -> list[dict[str, Any]]:
    """Sessions of this boot that were opened and not recorded as gone, oldest first."""
    try:
        lines = path().read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    opened: dict[str, dict[str, Any]] = {}
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if not isinstance(entry, dict) or entry.get("boot_id") != boot_id():
            continue
        if entry.get("event") == "open":
            opened[entry["session"]] = entry
        elif entry.get("event") == "saved" and entry.get("session") in opened:
            opened[entry["session"]]["saved"] = entry["saved"]
        elif entry.get("event") == "gone":
            opened.pop(entry.get("session", ""), None)
    return list(opened.values())


def forget_finished() -> None:
    """Empty the journal when nothing in it is open; called under the host's lock."""
    if not unfinished():
        path().unlink(missing_ok=True)
