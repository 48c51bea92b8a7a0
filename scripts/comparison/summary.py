"""A few lines of at most 72 columns, for a commit message."""

import textwrap

from scripts.comparison.compared import biased, comparisons
from scripts.comparison.frame import Frame
from scripts.comparison.numbers import percent_text
from scripts.comparison.statistics import geometric_mean

WIDTH = 72
CLOCKS = {"instructions": " (executed instructions: code path, not throughput)", "emulated": " (indicative)"}


def summary(frame: Frame, width: int = WIDTH) -> str:
    """Title, verdict counts and geometric mean for each variant, clock, n."""
    lines = textwrap.wrap(str(frame.plan["title"]), width)
    found = comparisons(frame, "iops")
    base = frame.label(frame.baseline)
    for variant in frame.variants:
        mine = [c for c in found if c.variant == variant]
        if not mine:
            if variant not in (frame.baseline, *frame.plan.get("not_run", {})):
                text = f"{frame.label(variant)}: {nothing(frame, variant)}"
                lines += textwrap.wrap(text, width, subsequent_indent="  ")
            continue
        counts: dict[str, int] = {}
        for comparison in mine:
            counts[comparison.verdict] = counts.get(comparison.verdict, 0) + 1
        said = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        text = f"{frame.label(variant)} vs {base}: IOPS {percent_text(geometric_mean([c.ratio for c in mine]))}"
        lines += textwrap.wrap(
            f"{text} (geometric mean, {count_of(len(mine), 'cell')}: {said})", width, subsequent_indent="  "
        )
    for variant, reason in frame.plan.get("not_run", {}).items():
        lines += textwrap.wrap(f"{frame.label(variant)}: not run ({reason})", width, subsequent_indent="  ")
    missing = len(frame.problems)
    if missing:
        lines.append(f"{count_of(missing, 'cell')} without all their samples")
    for note in biased(frame, "iops"):
        lines += textwrap.wrap(note, width, subsequent_indent="  ")
    boots, hosts = frame.samples["boot_id"].nunique(), frame.samples["hostname"].nunique()
    clock = str(frame.plan.get("clock"))
    said = f"clock {clock}{CLOCKS.get(clock, '')}, {count_of(len(frame.samples), 'run')}, {count_of(boots, 'boot')}"
    lines += textwrap.wrap(said + (f", {hosts} hosts" if hosts > 1 else ""), width, subsequent_indent="  ")
    return "\n".join(lines) + "\n"


def count_of(number: int, what: str) -> str:
    """`1 cell`, `2 cells`."""
    return f"{number} {what}" + ("" if number == 1 else "s")


def nothing(frame: Frame, variant: str) -> str:
    """Why a variant has no comparison."""
    if not len(frame.samples) or not (frame.samples["variant"] == frame.baseline).any():
        return f"not compared, {frame.label(frame.baseline)} has no result"
    mine = frame.samples[frame.samples["variant"] == variant]
    if len(mine):
        zeros = int((mine["iops"] == 0).sum())
        return f"{zeros} of {len(mine)} samples are 0 IOPS" if zeros else "shares no block with the baseline"
    reasons = [reason for (name, _), reason in frame.problems.items() if name == variant]
    return f"no result in any of {count_of(len(frame.cells), 'cell')}" + (f" ({reasons[0]})" if reasons else "")
