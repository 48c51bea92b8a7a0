"""One digest for everything a parsed campaign was made from."""

import hashlib
from collections.abc import Iterable

VERSION = 1
"""Raised when the same runs would be parsed or compared into something else."""


def digest_of(plan: bytes, unloads: Iterable[bytes]) -> str:
    """SHA-256 over the plan and the unload.json of every counted run, in plan order (each names its files' hashes)."""
    total = hashlib.sha256(b"%d\n" % VERSION + hashlib.sha256(plan).digest())
    for unload in unloads:
        total.update(hashlib.sha256(unload).digest())
    return total.hexdigest()
