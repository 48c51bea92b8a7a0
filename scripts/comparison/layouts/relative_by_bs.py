"""One column a block size, one row for everything else that varies, cell = difference in percent (seed S2).

One table for each variant against the baseline. A `~` stands at differences that the samples do not show, a `?` where
there are too few boots to tell. `columns: [AXIS]` makes the columns from another axis.
"""

from collections.abc import Mapping
from typing import Any

from scripts.campaign.units import axis_text
from scripts.comparison.cells import absent
from scripts.comparison.compared import comparisons, tildes, varying
from scripts.comparison.frame import Frame
from scripts.comparison.metrics import metric as metric_of
from scripts.comparison.numbers import percent_text
from scripts.comparison.table import Table

MARKS = {"faster": "", "slower": "", "more": "", "less": "", "~": " ~"}


def tables(frame: Frame, options: Mapping[str, Any]) -> list[Table]:
    """See the module's text."""
    metric, axis = options.get("metric") or "iops", (options.get("columns") or ["bs"])[0]
    others = list(options.get("rows") or [name for name in varying(frame) if name != axis])
    values = dict.fromkeys(axis_text(axis, axes.get(axis)) for axes in frame.cells.values())
    by = {(c.variant, c.cell): c for c in comparisons(frame, metric)}
    result = []
    for variant in frame.variants:
        if variant == frame.baseline:
            continue
        title = f"{options.get('title') or frame.plan['title']}: {frame.label(variant)} against"
        title += f" {frame.label(frame.baseline)}"
        heads = others or ["workload"]
        group = f"difference in {metric_of(metric).label}, by {axis}"
        table = Table(title, [*heads, *values], left=len(heads), groups=[("", len(heads)), (group, len(values))])
        rows: dict[tuple[str, ...], dict[str, str]] = {}
        for cell, axes in frame.cells.items():
            key = tuple(axis_text(name, axes.get(name)) for name in others) or (str(axes["workload"]),)
            column = axis_text(axis, axes.get(axis))
            shown = rows.setdefault(key, {})
            figure = difference(frame, by.get((variant, cell)), variant, cell)
            shown[column] = f"{shown[column]}; {figure}" if column in shown else figure
        table.rows = [[*key, *(cells.get(value, "not planned") for value in values)] for key, cells in rows.items()]
        if by:
            table.notes += tildes(frame, metric, variant)
        result.append(table)
    return result


def difference(frame: Frame, found: Any, variant: str, cell: str) -> str:
    """`+40.0%`, a published range `+10 .. +30%`, or why there is none."""
    if (variant, cell) in frame.published:
        low, high = frame.published[variant, cell]
        return ("0%" if low == 0 else f"{low:+g}%") if low == high else f"{low:+g} .. {high:+g}%"
    if found is None:
        if not len(frame.of(variant, cell)):
            return absent(frame, variant, cell)
        return "no pair" if len(frame.of(frame.baseline, cell)) else "no baseline"
    return percent_text(found.ratio) + (MARKS.get(found.verdict.removeprefix("A/A "), " ?"))
