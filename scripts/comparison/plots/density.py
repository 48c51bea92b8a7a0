"""Split density of all samples of a cell: the baseline at the left, a variant at the right."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from scripts.comparison.frame import Frame
from scripts.comparison.metrics import metric as metric_of
from scripts.comparison.plots import TITLES, Nothing, Picture
from scripts.comparison.plots.roles import cell_text, shown_variants
from scripts.comparison.plots.style import colour, shape

POINTS = 26
FEW = 12
"""Below this many samples a density says nothing: every sample is drawn as a point instead."""
PER_ROW = 30


def picture(frame: Frame, options: Mapping[str, Any]) -> Picture:
    """Samples in percent of the baseline's mean in the same cell; one band for each cell."""
    metric = str(options.get("metric") or "iops")
    variants = shown_variants(frame)
    others = [v for v in variants if v != frame.baseline]
    means = frame.means(metric)
    if frame.baseline not in variants or not others:
        raise Nothing("there are no samples of the baseline and of another variant")
    cells = [cell for cell in frame.cells if means.get((frame.baseline, cell))]
    shapes: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    ticks: dict[int, list[tuple[float, str]]] = {}
    for number, (variant, cell) in enumerate((v, c) for v in others for c in cells if (v, c) in frame.places):
        line, position = divmod(number, PER_ROW)
        label = cell_text(frame, cell) + (f" ({frame.label(variant)})" if len(others) > 1 else "")
        ticks.setdefault(line, []).append((float(position), label))
        for side, name in ((-1, frame.baseline), (1, variant)):
            values = frame.of(name, cell)[metric].dropna().to_numpy(float) / means[frame.baseline, cell] * 100 - 100
            common = {"series": frame.label(name), "line": line, "cell": label}
            if len(values) < FEW or np.ptp(values) == 0:
                points += [{**common, "x": position + side * 0.18, "y": float(v)} for v in values]
            else:
                mark = {"series": common["series"], "line": line, "shape": f"{number}{side}"}
                shapes += outline(values, position, side, mark)
    if not ticks:
        raise Nothing("no cell has samples of the baseline and of another variant")
    names = [frame.label(v) for v in variants]
    title = [metric_of(metric).label, f"({frame.label(frame.baseline)}: % from mean)"]
    y = {"field": "y", "type": "quantitative", "title": title}
    lines = []
    for line, labels in ticks.items():
        here = [[mark for mark in marks if mark["line"] == line] for marks in (shapes, points)]
        lines.append(band(labels, here[0], here[1], names, y))
    spec = {"vconcat": lines, "spacing": 12}
    few = f" Fewer than {FEW} samples are drawn as points." if points else ""
    caption = (
        f"All samples of {metric_of(metric).label}, in percent of the mean of {frame.label(frame.baseline)} in the "
        f"same cell; left half: {frame.label(frame.baseline)}. Outliers are in it.{few}"
    )
    return Picture("density", str(options.get("title") or TITLES["density"]), caption, spec)


def outline(values: np.ndarray, position: int, side: int, common: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A closed half violin around `position`, scaled to its own largest density."""
    spread = values.std(ddof=1)
    quartiles = np.subtract(*np.percentile(values, [75, 25])) / 1.349
    width = 0.9 * min(spread, quartiles or spread) * len(values) ** -0.2 or 1e-9
    grid = np.linspace(values.min() - 2 * width, values.max() + 2 * width, POINTS)
    heights = np.exp(-0.5 * ((grid[:, None] - values[None, :]) / width) ** 2).sum(axis=1)
    heights = heights / heights.max() * 0.45
    xs = [position, *(position + side * heights), position]
    ys = [grid[0], *grid, grid[-1]]
    return [
        {**common, "x": round(float(x), 3), "y": round(float(y), 3), "order": i}
        for i, (x, y) in enumerate(zip(xs, ys, strict=True))
    ]


def band(
    ticks: list[tuple[float, str]],
    shapes: list[dict[str, Any]],
    points: list[dict[str, Any]],
    names: list[str],
    y: Mapping[str, Any],
) -> dict[str, Any]:
    """One line of cells."""
    last = ticks[-1][0]
    texts = "{" + ", ".join(f"{int(x)}: {json.dumps(label)}" for x, label in ticks) + "}[datum.value]"
    axis = {"values": [x for x, _ in ticks], "labelExpr": texts, "labelAngle": -40, "grid": False, "title": None,
            "labelLimit": 400, "labelOverlap": False}  # fmt: skip
    x = {"field": "x", "type": "quantitative", "scale": {"domain": [-0.6, last + 0.6], "nice": False}, "axis": axis}
    layers: list[dict[str, Any]] = [{"mark": {"type": "rule", "color": "#888"}, "encoding": {"y": {"datum": 0}}}]
    if shapes:
        layers.append({
            "data": {"values": shapes},
            "mark": {"type": "line", "filled": True, "fillOpacity": 0.55, "strokeWidth": 1},
            "encoding": {"x": x, "y": y, "order": {"field": "order"}, "detail": {"field": "shape"},
                         "color": {**colour(names, "variant"), "legend": None},
                         "fill": {**colour(names, "variant"), "legend": {"symbolType": "square", "symbolSize": 110}}},
        })  # fmt: skip
    if points:
        layers.append({
            "data": {"values": points},
            "mark": {"type": "point", "filled": True, "opacity": 0.7, "size": 30},
            "encoding": {"x": x, "y": y, "color": colour(names, "variant"), "shape": shape(names, "variant"),
                         "tooltip": [{"field": "cell"}, {"field": "series"}, {"field": "y"}]},
        })  # fmt: skip
    width = max(200, min(1100, 46 * (int(last) + 1)))
    return {"data": {"values": [{}]}, "width": width, "height": 190, "layer": layers}
