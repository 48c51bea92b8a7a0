"""Where things are kept per user, shared by campaigns and checkouts."""

import os
from pathlib import Path


def cache_directory() -> Path:
    """`$XDG_CACHE_HOME/blkcampaign`, or `~/.cache/blkcampaign`."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "blkcampaign"
