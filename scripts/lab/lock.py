"""config/lab.lock.json: the versions and hashes a lab is made of. Changed only by `make lab-update`."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.lab.recipe import RECIPE

FILE = Path("config") / "lab.lock.json"


class LockError(Exception):
    """The lock file is missing or not one."""


@dataclass(frozen=True)
class Lock:
    """Resolved versions.

    Attributes:
        kernel: release. rublk: `version`. packages: {group: {name: {"version", "sha256"}}}, groups kernel, build, guest
            and builder.
        text: the file as it is.
    """

    kernel: str
    rublk: Mapping[str, Any]
    packages: Mapping[str, Mapping[str, Mapping[str, str]]]
    text: str

    @property
    def key(self) -> str:
        """Name of the lab made of it."""
        return hashlib.sha256(f"{RECIPE}\n{self.text}".encode()).hexdigest()[:16]


def load(repository: Path) -> Lock:
    """Read the lock file.

    Raises:
        LockError: it is missing or damaged.
    """
    path = repository / FILE
    try:
        text = path.read_text()
        raw = json.loads(text)
        return Lock(raw["kernel"], raw["rublk"], raw["packages"], text)
    except FileNotFoundError:
        raise LockError(f"{path} is missing: make lab-update writes it") from None
    except (ValueError, KeyError, TypeError) as error:
        raise LockError(f"{path} is damaged ({error}): git checkout it, or make lab-update") from error


def dump(kernel: str, rublk: Mapping[str, Any], packages: Mapping[str, Mapping[str, Mapping[str, str]]]) -> str:
    """The file's text."""
    content = {"format": 1, "kernel": kernel, "rublk": rublk, "packages": packages}
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def identity(lock: Lock, parts: Iterable[str]) -> str:
    """Identity of what a variant is measured with: kernel, fio, and those of `parts` that are built or served.

    A changed package that no number can depend on (a shell) changes nothing.
    """
    chosen: dict[str, Any] = {
        "kernel": lock.kernel,
        "kernel_packages": lock.packages["kernel"],
        "fio": lock.packages["guest"]["fio"],
        "recipe": RECIPE,
    }
    for part in sorted(set(parts)):
        if part == "rublk":
            chosen["rublk"] = lock.rublk
        elif part in ("zloop", "rnull_mod"):
            chosen[part] = {name: lock.packages["build"][name] for name in sorted(lock.packages["build"])}
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:16]
