"""One row a cell and variant: mean, spread, difference, interval, verdict. Every table is followed by this one."""

from collections.abc import Mapping
from typing import Any

from scripts.comparison.cells import absent, mean
from scripts.comparison.frame import METRICS, Frame
from scripts.comparison.numbers import iops_text, percent_text, significant
from scripts.comparison.statistics import (
    Comparison,
    compare,
    decide,
    drifts,
    geometric_mean,
    outliers,
    several_modes,
    spread_percent,
)
from scripts.comparison.table import Table


def comparisons(frame: Frame, metric: str) -> list[Comparison]:
    """All variants against the baseline in all cells, decided together."""
    found = []
    for cell in frame.cells:
        baseline = frame.of(frame.baseline, cell)
        for variant in frame.variants:
            if variant != frame.baseline:
                result = compare(baseline, frame.of(variant, cell), variant, cell, metric)
                if result:
                    found.append(result)
    decide(found, METRICS[metric].more_is_better, float(frame.plan.get("practical_band_percent", 1)))
    return found


def tables(frame: Frame, options: Mapping[str, Any]) -> list[Table]:
    """See the module's text."""
    metric = options.get("metric") or "iops"
    by = {(c.variant, c.cell): c for c in comparisons(frame, metric)}
    counting = frame.plan.get("clock") == "instructions"
    base = frame.label(frame.baseline)
    columns = [
        "cell",
        "variant",
        METRICS[metric].label,
        "spread",
        "n",
        "boots",
        f"vs {base}",
        "95 % interval",
        "verdict",
    ]
    table = Table(f"{METRICS[metric].label} against {base}", columns + (["instr/IO"] if counting else []), left=2)
    flags = []
    for cell in frame.cells:
        for variant in frame.variants:
            samples = frame.of(variant, cell)
            value = mean(frame, variant, cell, metric)
            name = frame.label(variant)
            if value is None:
                table.rows.append([cell, name, absent(frame, variant, cell), *([""] * (len(table.columns) - 3))])
                continue
            flags += remarks(samples, metric, f"{name}, {cell}")
            found = by.get((variant, cell))
            row = [cell, name, iops_text(value), f"{spread_percent(samples[metric]):.1f}%", str(len(samples))]
            row += [str(samples["boot_id"].nunique()), *(verdict(found) if found else ["", "", ""])]
            if counting:
                per_io = mean(frame, variant, cell, "instructions_per_io")
                row.append("" if per_io is None else significant(per_io))
            table.rows.append(row)
    for variant in frame.variants:
        ratios = [c.ratio for (name, _), c in by.items() if name == variant]
        if len(ratios) > 1:
            mean_text = percent_text(geometric_mean(ratios))
            table.notes.append(f"Geometric mean over {len(ratios)} cells: {frame.label(variant)} {mean_text}")
    table.notes += ["spread: half the range; interval: t over boot means; verdict after Holm", *flags]
    return [table]


def verdict(found: Comparison) -> list[str]:
    """Difference, interval (or range), verdict (with the detectable difference beside every `~`)."""
    if found.low is None or found.high is None:
        reach = f"range {percent_text(found.smallest)} .. {percent_text(found.largest)}"
    else:
        reach = f"{percent_text(found.low)} .. {percent_text(found.high)}"
    text = found.verdict
    if text == "~" and found.detectable_percent is not None:
        text += f" (sees {found.detectable_percent:.1f}%)"
    return [percent_text(found.ratio), reach, text]


def remarks(samples: Any, metric: str, name: str) -> list[str]:
    """Outliers, several modes, drift: said, never dropped."""
    values = samples[metric].dropna()
    found = []
    if count := outliers(values):
        found.append(f"{name}: {count} outlier(s), kept")
    if several_modes(values):
        found.append(f"{name}: samples have several modes (dip test)")
    if drifts(samples, metric):
        found.append(f"{name}: samples drift with the order of runs")
    return found
