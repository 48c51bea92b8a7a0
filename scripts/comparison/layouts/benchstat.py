"""One row a cell and variant: mean, spread, difference, interval, verdict. Every table is followed by this one."""

from collections.abc import Mapping
from typing import Any

from scripts.comparison.cells import absent, mean
from scripts.comparison.compared import (
    band_percent,
    biased,
    comparisons,
    descriptions,
    in_turns,
    means_notes,
    unpaired_notes,
)
from scripts.comparison.flags import remarks
from scripts.comparison.frame import Frame
from scripts.comparison.metrics import metric as metric_of
from scripts.comparison.numbers import figure_text, percent_text, significant
from scripts.comparison.statistics import Comparison
from scripts.comparison.table import Table

__all__ = ["comparisons", "tables"]


def tables(frame: Frame, options: Mapping[str, Any]) -> list[Table]:
    """See the module's text."""
    metric = options.get("metric") or "iops"
    by = {(c.variant, c.cell): c for c in comparisons(frame, metric)}
    looks: dict[Any, Any] = {row.Index: row for row in descriptions(frame, metric).itertuples()}
    counting = frame.plan.get("clock") == "instructions"
    base, label = frame.label(frame.baseline), metric_of(metric).label
    hosts = frame.samples["hostname"].nunique() > 1
    counts = ["n", "boots", *(["hosts"] if hosts else [])]
    figures = [label, "spread", *counts, *(["instr/IO"] if counting else [])]
    unequal = any(c.n != looks[c.variant, c.cell].n for c in by.values() if (c.variant, c.cell) in looks)
    against = ["change", "95 % interval", *(["pairs"] if unequal else []), "verdict"]
    table = Table(f"{label} against {base}", ["cell", "variant", *figures, *against], left=2)
    table.groups = [("", 2), ("samples", len(figures)), (f"against {base}", len(against))]
    flags = []
    for cell in frame.cells:
        for variant in frame.variants:
            row, name = looks.get((variant, cell)), frame.label(variant)
            if row is None:
                table.rows.append([cell, name, absent(frame, variant, cell), *([""] * (len(table.columns) - 3))])
                continue
            flags += [f"{name}, {cell}: {text}" for text in remarks(row)]
            found = by.get((variant, cell))
            line = [cell, name, figure_text(metric_of(metric).unit, row.mean), spread_text(row), str(row.n)]
            line.append(str(row.boots) if row.boots else "?")
            if hosts:
                line.append(str(found.hosts) if found else "")
            if counting:
                per_io = mean(frame, variant, cell, "instructions_per_io")
                line.append("" if per_io is None else significant(per_io))
            change = verdict(found) if found else ["", "", ""]
            if unequal:
                change.insert(2, f"{found.n} in {found.boots}" if found else "")
            line += change
            table.rows.append(line)
    table.notes = means_notes(frame, metric)
    band = f"practical band {band_percent(frame, metric):.2g} %"
    band += " (measured: A/A)" if any(frame.is_twin(c.variant) and c.p is not None for c in by.values()) else ""
    table.notes.append(
        f"spread: half the range; ratios by block; interval: t over {'host' if hosts else 'boot'} means; verdict: "
        f"Holm over {len(by)} comparison(s), {band}; ~: no difference seen, with the smallest that would have been, "
        "or one within the band" + ("; pairs: their number, and that of their boots" if unequal else "")
    )
    table.notes += [*biased(frame, metric), *in_turns(frame), *unpaired_notes(frame, metric), *flags]
    return [table]


def verdict(found: Comparison) -> list[str]:
    """Difference, interval (or range), verdict (with the detectable difference beside every `~`)."""
    if found.low is None or found.high is None:
        reach = f"range {percent_text(found.smallest)} .. {percent_text(found.largest)}"
    else:
        reach = f"{percent_text(found.low)} .. {percent_text(found.high)}"
    text = found.verdict
    if text.endswith("~") and found.seen:
        text += " (within band)"
    elif text.endswith("~") and found.detectable_percent is not None:
        text += f" (sees {found.detectable_percent:.1f}%)"
    return [percent_text(found.ratio), reach, text]


def spread_text(row: Any) -> str:
    """Half the range in percent of the mean; one sample has none."""
    return f"{row.spread_percent:.1f}%" if row.n > 1 else "-"
