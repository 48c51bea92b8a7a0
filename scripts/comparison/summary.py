"""A few lines of at most 72 columns, for a commit message."""

import textwrap

from scripts.comparison.compared import comparisons
from scripts.comparison.frame import Frame
from scripts.comparison.numbers import percent_text
from scripts.comparison.statistics import geometric_mean

WIDTH = 72


def summary(frame: Frame, width: int = WIDTH) -> str:
    """Title, verdict counts and geometric mean for each variant, clock, n."""
    lines = textwrap.wrap(str(frame.plan["title"]), width)
    found = comparisons(frame, "iops")
    base = frame.label(frame.baseline)
    for variant in frame.variants:
        mine = [c for c in found if c.variant == variant]
        if not mine:
            continue
        counts: dict[str, int] = {}
        for comparison in mine:
            counts[comparison.verdict] = counts.get(comparison.verdict, 0) + 1
        said = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        text = f"{frame.label(variant)} vs {base}: IOPS {percent_text(geometric_mean([c.ratio for c in mine]))}"
        lines += textwrap.wrap(f"{text} (geometric mean, {len(mine)} cells: {said})", width, subsequent_indent="  ")
    for variant, reason in frame.plan.get("not_run", {}).items():
        lines += textwrap.wrap(f"{frame.label(variant)}: not run ({reason})", width, subsequent_indent="  ")
    missing = len(frame.problems)
    if missing:
        lines.append(f"{missing} cell(s) without all their samples")
    boots = frame.samples["boot_id"].nunique()
    lines.append(f"clock {frame.plan.get('clock')}, {len(frame.samples)} runs, {boots} boot(s)")
    return "\n".join(lines) + "\n"
