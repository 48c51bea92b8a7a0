"""Which runs are done, and whether what was made from them is up to date.

Finished runs leave Snakemake's graph: 9,600 of them cost 2 s instead of 15 s, and nothing about their files' times can
make Snakemake measure again. What was parsed and compared carries a digest of everything it was made from.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from scripts.dataset.digest import digest_of
from scripts.keeper.results import unload_of

STAGES = ("parsed.json", "compared.json", "plotted.json", "reported.json")
"""What each stage writes at its end, with the digest of what it was made from."""
MADE = (("*.parquet",), ("tables/*", "plots", "plots/.snakemake_timestamp"))
"""What is made from plan.json, and what from that; the report is made from all of it."""
LONG_AGO = 946684800  # 2000-01-01: older than anything made from it, and not too old for a zip file


class Finished:
    """Complete runs of a plan.

    Args:
        work: the working directory. names: runs in plan order.
    """

    def __init__(self, work: Path, names: Iterable[str]):
        self.unloads: dict[str, bytes] = {}
        base = f"{work}/results/runs/"
        for name in names:
            unload = unload_of(base + name)
            if unload is not None:
                self.unloads[name] = unload

    def __contains__(self, name: str) -> bool:
        return name in self.unloads

    def digest(self, plan: bytes) -> str:
        """Of the plan and of every counted run."""
        return digest_of(plan, self.unloads.values())


def recorded_digest(path: Path) -> str:
    """The digest that a stage wrote at its end; empty where there is none."""
    try:
        return str(json.loads(path.read_bytes())["digest"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def write_plan(path: Path, text: str, up_to_date: bool) -> None:
    """Write plan.json where it changed, and give it a time that says whether later stages have to run.

    Later stages compare times, and times lie (a touch, a checkout, a copy): the digest decides, the time only tells
    Snakemake.
    """
    data = text.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_bytes() != data:
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        partial.write_bytes(data)
        partial.replace(path)
        up_to_date = False
    if up_to_date:
        os.utime(path, (LONG_AGO, LONG_AGO))
        for later, patterns in enumerate(MADE, start=1):
            for made in (found for pattern in patterns for found in path.parent.glob(pattern)):
                os.utime(made, (LONG_AGO + later, LONG_AGO + later))
    elif path.stat().st_mtime <= LONG_AGO:
        os.utime(path)
