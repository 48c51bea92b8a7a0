"""Split density of all samples of a cell: the baseline above the line, a variant below it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from scripts.comparison.frame import Frame
from scripts.comparison.metrics import metric as metric_of
from scripts.comparison.plots import TITLES, Nothing, Picture
from scripts.comparison.plots.difference import ZERO, Axis, axis_of
from scripts.comparison.plots.roles import cell_text, shown_variants
from scripts.comparison.plots.style import colour, shape

POINTS = 26
FEW = 12
"""Below this many samples a density says nothing: every sample is drawn as a point instead."""
MOST_ROWS = 60
"""Cells below each other in one panel; further ones stand beside it."""
Values = npt.NDArray[np.float64]


def picture(frame: Frame, options: Mapping[str, Any]) -> Picture:
    """Samples relative to the baseline's mean in the same cell; a row for each cell, a panel for each variant."""
    metric = str(options.get("metric") or "iops")
    variants = shown_variants(frame)
    others = [v for v in variants if v != frame.baseline]
    means = frame.means(metric)
    if frame.baseline not in variants or not others:
        raise Nothing("there are no samples of the baseline and of another variant")
    cells = [cell for cell in frame.cells if means.get((frame.baseline, cell))]
    pairs = [(v, c) for v in others for c in cells if (v, c) in frame.places]
    if not pairs:
        raise Nothing("no cell has samples of the baseline and of another variant")
    ratios = {
        (name, cell): frame.of(name, cell)[metric].dropna().to_numpy(float) / means[frame.baseline, cell]
        for name, cell in dict.fromkeys([*pairs, *((frame.baseline, cell) for _, cell in pairs)])
    }
    ends = [float(end) for found in ratios.values() if len(found) for end in (found.min(), found.max())]
    axis = axis_of(ends, beyond=0.15)  # a density reaches further than its samples
    label, base = metric_of(metric).label, frame.label(frame.baseline)
    names, x = [frame.label(v) for v in variants], axis.encoding(f"{label} (%)")
    alike = len(cells) <= MOST_ROWS and len(pairs) == len(others) * len(cells)
    columns = min(len(others), 3) if alike else 2
    panels: list[dict[str, Any]] = []
    few = False
    for variant in others:
        mine = [cell for v, cell in pairs if v == variant]
        for start in range(0, len(mine), MOST_ROWS):
            rows = mine[start : start + MOST_ROWS]
            shapes, points = marks_of(frame, variant, rows, ratios, axis)
            few = few or bool(points)
            texts = [cell_text(frame, cell) for cell in rows]
            labelled = not alike or len(panels) % columns == 0
            heading = f"{frame.label(variant)} against {base}" if len(others) > 1 else ""
            drawn = panel(texts if labelled else [""] * len(texts), shapes, points, names, x)
            panels.append({**drawn, **title_of(heading)})
    spec = {"concat": panels, "columns": columns, "spacing": 24}
    caption = (
        f"All samples of {label}, relative to the mean of {base} in the same cell; above each line {base}, below it "
        f"the variant. Outliers are in it." + (f" Fewer than {FEW} samples are drawn as points." if few else "")
    )
    scale = ", logarithmic scale" if axis.logarithmic else ""
    measure = f"{label}: difference from the mean of {base} in %{scale}"
    return Picture("density", str(options.get("title") or TITLES["density"]), caption, spec, measure)


def marks_of(
    frame: Frame, variant: str, cells: Sequence[str], ratios: Mapping[tuple[str, str], Values], axis: Axis
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(corners of shapes, points) of a panel, each at its row."""
    shapes: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    for row, cell in enumerate(cells):
        for side, name in ((-1, frame.baseline), (1, variant)):
            values = ratios[name, cell]
            common = {"series": frame.label(name)}
            if len(values) < FEW or np.ptp(values) == 0:
                points += [
                    {**common, "cell": cell_text(frame, cell), "x": float(v), "y": row + side * 0.18} for v in values
                ]
            else:
                shapes += outline(values, row, side, {**common, "shape": f"{row}{side}"}, axis.logarithmic)
    return shapes, points


def outline(values: Values, row: int, side: int, common: Mapping[str, Any], logarithmic: bool) -> list[dict[str, Any]]:
    """A closed half violin along `row`, scaled to its own largest density."""
    values = np.log(values) if logarithmic else values
    spread = values.std(ddof=1)
    quartiles = np.subtract(*np.percentile(values, [75, 25])) / 1.349
    width = 0.9 * min(spread, quartiles or spread) * len(values) ** -0.2 or 1e-9
    grid = np.linspace(values.min() - 2 * width, values.max() + 2 * width, POINTS)
    heights = np.exp(-0.5 * ((grid[:, None] - values[None, :]) / width) ** 2).sum(axis=1)
    heights = heights / heights.max() * 0.45
    along = np.exp(grid) if logarithmic else grid
    xs = [along[0], *along, along[-1]]
    ys = [row, *(row + side * heights), row]
    return [
        {**common, "x": round(float(x), 6), "y": round(float(y), 3), "order": i}
        for i, (x, y) in enumerate(zip(xs, ys, strict=True))
    ]


def panel(
    texts: list[str],
    shapes: list[dict[str, Any]],
    points: list[dict[str, Any]],
    names: list[str],
    x: Mapping[str, Any],
) -> dict[str, Any]:
    """Rows of cells below each other, their names at the left: names are long, and nobody reads them slanted."""
    labels = "{" + ", ".join(f"{row}: {json.dumps(text)}" for row, text in enumerate(texts)) + "}[datum.value]"
    axis = {"values": list(range(len(texts))), "labelExpr": labels, "grid": True, "title": None, "labelLimit": 420,
            "labelOverlap": False, "domain": False, "ticks": False, "labelPadding": 8}  # fmt: skip
    y = {"field": "y", "type": "quantitative", "axis": axis,
         "scale": {"domain": [len(texts) - 0.4, -0.6], "nice": False, "zero": False}}  # fmt: skip
    across = {"field": "x", **x}
    layers: list[dict[str, Any]] = [
        {"data": {"values": [{}]}, "mark": {"type": "rule", "color": "#555"}, "encoding": {"x": {**ZERO, **x}}}
    ]
    if shapes:
        layers.append({
            "data": {"values": shapes},
            "mark": {"type": "line", "filled": True, "fillOpacity": 0.55, "strokeWidth": 1, "clip": True},
            "encoding": {"x": across, "y": y, "order": {"field": "order"}, "detail": {"field": "shape"},
                         "color": {**colour(names, "variant"), "legend": None},
                         "fill": {**colour(names, "variant"), "legend": {"symbolType": "square", "symbolSize": 110}}},
        })  # fmt: skip
    if points:
        layers.append({
            "data": {"values": points},
            "mark": {"type": "point", "filled": True, "opacity": 0.7, "size": 30},
            "encoding": {"x": across, "y": y, "color": colour(names, "variant"), "shape": shape(names, "variant"),
                         "tooltip": [{"field": "cell"}, {"field": "series"}, {"field": "x"}]},
        })  # fmt: skip
    each = 30 if len(texts) <= 30 else 18
    return {"width": 420, "height": each * len(texts) + 10, "layer": layers}


def title_of(heading: str) -> dict[str, Any]:
    """A panel's heading, if it has one."""
    return {"title": {"text": heading, "fontSize": 12, "fontWeight": "normal", "frame": "group"}} if heading else {}
