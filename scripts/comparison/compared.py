"""All comparisons of a frame in one metric, decided together as the cells of one table."""

from typing import Any

import pandas as pd

from scripts.comparison.flags import described
from scripts.comparison.frame import Frame
from scripts.comparison.metrics import metric as metric_of
from scripts.comparison.numbers import percent_text
from scripts.comparison.statistics import Comparison, compare_all, decide, geometric_mean, measured_band, outside


def comparisons(frame: Frame, metric: str) -> list[Comparison]:
    """All variants against the baseline in all cells; Holm counts the cells of this table, A/A comparisons apart."""
    key = ("comparisons", metric)
    if key not in frame.cache:
        published = [v for v, options in frame.plan["variants"].items() if options.get("published")]
        measured = frame.samples[~frame.samples["variant"].isin(published)] if published else frame.samples
        found = compare_all(measured, frame.baseline, metric)
        order = {cell: place for place, cell in enumerate(frame.cells)}
        found.sort(key=lambda c: (order.get(c.cell, len(order)), frame.variants.index(c.variant)))
        twins = [c for c in found if frame.is_twin(c.variant)]
        better, declared = metric_of(metric).more_is_better, float(frame.plan.get("practical_band_percent", 1))
        decide(twins, better, declared)
        decide([c for c in found if c not in twins], better, band_percent(frame, metric, twins))
        for twin in twins:
            said = "~" if twin.verdict == "~" else "differs"
            twin.verdict = f"A/A {said}" if twin.p is not None else f"A/A, {twin.verdict}"
        withdraw(frame, found, metric)
        frame.cache[key] = found
    result: list[Comparison] = frame.cache[key]
    return result


def withdraw(frame: Frame, found: list[Comparison], metric: str) -> None:
    """No verdict where samples of 0 have no ratio, and where the variants never shared a host.

    On hosts of their own a variant and a machine are one and the same; with `axes: environment` that is the question.
    """
    values = frame.samples[["variant", "cell", metric]]
    zeros: dict[Any, int] = values[values[metric] <= 0].groupby(["variant", "cell"]).size().to_dict()
    total: dict[Any, int] = values.groupby(["variant", "cell"]).size().to_dict() if zeros else {}
    for c in found:
        places = [(c.variant, c.cell), (frame.baseline, c.cell)]
        lost = [f"{zeros[place]} of {total[place]} are 0" for place in places if zeros.get(place)]
        if lost:
            c.verdict = lost[0] if places[0] in zeros else f"baseline: {lost[0]}"
        elif c.away and "environment" not in frame.plan.get("axes", []):
            c.verdict = "another host"
        else:
            continue
        c.low = c.high = c.p = c.detectable_percent = None


def biased(frame: Frame, metric: str) -> list[str]:
    """What an A/A comparison that differs says of all others."""
    found = [c for c in comparisons(frame, metric) if c.verdict == "A/A differs"]
    if not found:
        return []
    worst = max(found, key=lambda c: abs(c.ratio - 1))
    text = f"{frame.label(worst.variant)} has the baseline's own recipe and differs by {percent_text(worst.ratio)}"
    return [f"A/A differs in {len(found)} cell(s) ({text}): the order or the set-up favours one of two equals"]


def in_turns(frame: Frame) -> list[str]:
    """Variants that were measured all before or all after the baseline: a change of the machine looks like theirs."""
    spans: Any = frame.samples.groupby("variant")["position"].agg(["min", "max"])
    if frame.baseline not in spans.index:
        return []
    base = spans.loc[frame.baseline]
    apart = [
        frame.label(name)
        for name, span in spans.iterrows()
        if name != frame.baseline and (span["min"] > base["max"] or span["max"] < base["min"])
    ]
    if not apart:
        return []
    known = (
        "were not measured in turns with" if frame.plan.get("host") != "imported" else "may not have been in turns with"
    )
    return [f"{', '.join(apart)} {known} {frame.label(frame.baseline)}: a change of the machine would look the same"]


def band_percent(frame: Frame, metric: str, twins: list[Comparison] | None = None) -> float:
    """Practical band: measured by an A/A variant where there is one, else what the campaign says (1 %)."""
    if twins is None:
        twins = [c for c in comparisons(frame, metric) if frame.is_twin(c.variant)]
    measured = measured_band([c for c in twins if c.p is not None])
    return float(frame.plan.get("practical_band_percent", 1)) if measured is None else measured


def descriptions(frame: Frame, metric: str) -> pd.DataFrame:
    """`flags.described`, once for each metric."""
    key = ("described", metric)
    if key not in frame.cache:
        frame.cache[key] = described(frame.samples, metric)
    found: pd.DataFrame = frame.cache[key]
    return found


def means_notes(frame: Frame, metric: str) -> list[str]:
    """Geometric means over the table, with what makes them doubtful."""
    found = comparisons(frame, metric)
    everywhere = [set(c.cell for c in found if c.variant == v) for v in frame.variants]
    common = set.intersection(*(cells for cells in everywhere if cells)) if any(everywhere) else set()
    notes = []
    for variant in frame.variants:
        mine = [c for c in found if c.variant == variant]
        if len(mine) < 2:
            continue
        text = f"Geometric mean over {len(mine)} cells: {frame.label(variant)} "
        text += percent_text(geometric_mean([c.ratio for c in mine]))
        if len(mine) < len(frame.cells):
            text += f"; {len(frame.cells) - len(mine)} of {len(frame.cells)} cells are missing in it"
        if len(mine) > len(common):
            only = geometric_mean([c.ratio for c in mine if c.cell in common]) if common else None
            text += "; not the same cells as other variants" + (
                f" ({percent_text(only)} over the common)" if only else ""
            )
        notes.append(text)
    if notes and (mixed := varying(frame)):
        notes.append(f"The mean mixes cells that differ in {', '.join(mixed)}: it stands for this mixture alone")
    if notes and any(outside(c.ratio, 900) for c in found):
        notes.append("A cell differs by more than tenfold: the mean says little")
    return notes


def varying(frame: Frame) -> list[str]:
    """Axes with more than one value."""
    values: dict[str, set[str]] = {}
    for axes in frame.cells.values():
        for name, value in axes.items():
            values.setdefault(name, set()).add(str(value))
    return [name for name, found in values.items() if len(found) > 1 and name not in ("workload", "label")]


def unpaired_notes(frame: Frame, metric: str) -> list[str]:
    """Samples that no ratio could be made of: their partner in the block is missing, null or zero."""
    counts = {(c.variant, c.cell): c.n for c in comparisons(frame, metric)}
    sizes: dict[Any, int] = frame.samples.groupby(["variant", "cell"], sort=False).size().to_dict()
    left = sum(int(n) - counts.get(place, 0) for place, n in sizes.items() if place[0] != frame.baseline)
    return [f"{left} sample(s) without a partner in their block or without a figure: in no ratio"] if left else []


def tildes(frame: Frame, metric: str, variant: str) -> list[str]:
    """One note for a table that has no room for verdicts: where no difference is shown, and what would have been."""
    mine = [c for c in comparisons(frame, metric) if c.variant == variant]
    none = [c for c in mine if c.verdict.endswith("~")]
    untold = [c for c in mine if c.low is None]
    notes = []
    if none:
        sees = [c.detectable_percent for c in none if c.detectable_percent is not None]
        reach = f"; a difference of {max(sees):.1f} % would have been seen in each" if sees else ""
        notes.append(f"~ (no difference seen, or within the band of {band_percent(frame, metric):.2g} %): "
                     f"{cells_text([c.cell for c in none], len(mine))}{reach}")  # fmt: skip
    if untold:
        reasons = ", ".join(dict.fromkeys(c.verdict for c in untold))
        notes.append(f"? (no verdict: {reasons}): {cells_text([c.cell for c in untold], len(mine))}")
    return notes


def cells_text(cells: list[str], total: int) -> str:
    """Names of some cells."""
    if len(cells) == total:
        return "all cells"
    return ", ".join(cells[:4]) + (f" and {len(cells) - 4} more" if len(cells) > 4 else "")
