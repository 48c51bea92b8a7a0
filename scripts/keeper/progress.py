"""Lines for the person who watches: what runs, how far, how long still."""

import time


def duration(seconds: float) -> str:
    """`45s`, `3m10s`, `2h05m`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


def si(number: float) -> str:
    """Three significant digits with a decimal suffix."""
    for limit, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= limit:
            return f"{number / limit:.3g}{suffix}" if abs(number) < limit * 999.5 else f"{number / limit:.0f}{suffix}"
    return f"{number:.3g}"


class Progress:
    """Counts of one campaign's missing runs.

    Args:
        total: runs that were missing when Snakemake started.
    """

    def __init__(self, total: int):
        self.total = total
        self.ended = 0
        self.start = time.monotonic()

    def head(self) -> str:
        """`[12/72]`, of the run that is under way."""
        return f"[{self.ended + 1}/{max(self.total, self.ended + 1)}]"

    def left(self) -> str:
        """Time left, from the mean of what was done; empty before anything was."""
        remaining = self.total - self.ended
        if not self.ended or remaining <= 0:
            return ""
        return f"; {duration((time.monotonic() - self.start) / self.ended * remaining)} left"
