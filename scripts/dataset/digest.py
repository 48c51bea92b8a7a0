"""One digest for everything a parsed campaign was made from."""

import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from scripts.keeper.results import as_json, write_whole

VERSION = 1
"""Raised when the same runs would be parsed or compared into something else."""


def digest_of(plan: bytes, unloads: Iterable[bytes]) -> str:
    """SHA-256 over the plan and the unload.json of every counted run, in plan order (each names its files' hashes)."""
    total = hashlib.sha256(b"%d\n" % VERSION + hashlib.sha256(plan).digest())
    for unload in unloads:
        total.update(hashlib.sha256(unload).digest())
    return total.hexdigest()


def mark_finished(directory: Path, name: str) -> None:
    """Write what a stage leaves at its end: the digest of what it was made from, as parsed.json has it.

    Results without a usable parsed.json (a copied folder) are used all the same, only not marked.
    """
    path = directory / "parsed.json"
    try:
        digest = json.loads(path.read_bytes())["digest"]
    except (OSError, ValueError, KeyError, TypeError):
        sys.stderr.write(
            f"blkcampaign: {directory / 'parsed.json'}: missing or damaged, so nothing is marked as finished\n"
        )
        return
    write_whole(directory / name, as_json({"format": 1, "digest": digest}))
