"""One digest for everything a parsed campaign was made from."""

import hashlib
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from scripts.keeper.results import as_json, write_whole

MAGIC = b"PAR1"
LATER = ("compared.json", "plotted.json", "reported.json")
VERSION = 1
"""Raised when the same runs would be parsed or compared into something else."""


def digest_of(plan: bytes, unloads: Iterable[bytes]) -> str:
    """SHA-256 over the plan and the unload.json of every counted run, in plan order (each names its files' hashes)."""
    total = hashlib.sha256(b"%d\n" % VERSION + hashlib.sha256(plan).digest())
    for unload in unloads:
        total.update(hashlib.sha256(unload).digest())
    return total.hexdigest()


def sizes(directory: Path) -> dict[str, int]:
    """Size of every Parquet file of a campaign, for parsed.json: what `damaged` compares."""
    paths = [*directory.glob("*.parquet"), *directory.glob("logs/*.parquet")]
    return {path.relative_to(directory).as_posix(): path.stat().st_size for path in sorted(paths)}


def damaged(directory: Path) -> list[str]:
    """Parquet files that are not as parsed.json says: gone, cut off, something else. Empty before the first parse."""
    try:
        expected = dict(json.loads((directory / "parsed.json").read_bytes())["sizes"])
    except (OSError, ValueError, KeyError, TypeError):
        made = ("runs.parquet", *LATER)
        expected = {"runs.parquet": -1} if any((directory / name).exists() for name in made) else {}
    return [name for name, size in expected.items() if not whole(directory / name, size)]


def forget(directory: Path, names: Iterable[str]) -> None:
    """Remove damaged files, and the report, which is made last: Snakemake makes again what it needs for that.

    A newer time of what they are made from would not do: Snakemake also looks whether that has other content.
    """
    for name in (*names, "report.html"):
        (directory / name).unlink(missing_ok=True)


def whole(path: Path, size: int) -> bool:
    """Whether this is a Parquet file of that size, by both its ends."""
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
            end = file.seek(-len(MAGIC), os.SEEK_END) + len(MAGIC)
            return start == file.read() == MAGIC and end == size
    except OSError:
        return False


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
