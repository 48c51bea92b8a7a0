"""The command that a benchmark measures: Snakemake as a user starts it."""

import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def snakemake(campaign: Path) -> list[str]:
    """Run this campaign file in the working directory."""
    program = str(Path(sys.executable).with_name("snakemake"))
    return [program, "-s", str(REPOSITORY / "Snakefile"), "--cores", "1", "--config", f"campaign={campaign}"]
