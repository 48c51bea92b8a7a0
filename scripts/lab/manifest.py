"""Finding the lab that fits the lock file. Called at every start of Snakemake: cheap."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.lab.cache import cache_directory
from scripts.lab.lock import load


@dataclass(frozen=True)
class LabState:
    """A lab, there or not.

    Attributes:
        key: name in the cache. path: its directory. ready: whether it is complete.
        manifest: content of manifest.json. unavailable: parts that could not be built, with the reason.
    """

    key: str
    path: Path
    ready: bool
    manifest: dict[str, Any] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)


def labs() -> Path:
    """Folder of all labs of this user."""
    return cache_directory() / "lab"


def locate(repository: Path) -> LabState:
    """The lab of a checkout's lock file.

    Raises:
        LockError: there is no lock file.
    """
    key = load(repository).key
    path = labs() / key
    try:
        manifest = json.loads((path / "manifest.json").read_bytes())
    except (OSError, ValueError):
        return LabState(key, path, False)
    return LabState(key, path, True, manifest, dict(manifest.get("unavailable", {})))
