"""Relative difference of every cell with its interval, as a grid."""

from collections.abc import Mapping
from typing import Any

from scripts.comparison.compared import comparisons
from scripts.comparison.frame import Frame
from scripts.comparison.metrics import metric as metric_of
from scripts.comparison.plots import TITLES, Nothing, Picture
from scripts.comparison.plots.difference import ZERO, axis_of
from scripts.comparison.plots.roles import Roles, order, roles_of
from scripts.comparison.plots.style import colour, shape


def picture(frame: Frame, options: Mapping[str, Any]) -> Picture:
    """Points at the difference in percent, lines for the interval (or the range, below three boots), a line at zero."""
    metric = str(options.get("metric") or "iops")
    roles = roles_of(frame, options)
    rows = [row(frame, roles, found) for found in comparisons(frame, metric)]
    if not rows:
        raise Nothing("no cell has samples of the baseline and of another variant")
    rows += absent(frame, roles)
    label, base = metric_of(metric).label, frame.label(frame.baseline)
    axis = axis_of([value for found in rows for value in (found["low"], found["high"]) if value is not None])
    columns = list(dict.fromkeys(found["column"] for found in sorted(rows, key=lambda r: r["column_order"])))
    lines = list(dict.fromkeys(found["row"] for found in sorted(rows, key=lambda r: r["row_order"])))
    panels = []
    for line in lines:
        for column in columns:
            mine = [found for found in rows if (found["row"], found["column"]) == (line, column)]
            y = axis.encoding(f"{label} (%)" if column == columns[0] else None)
            drawn = panel(frame, roles, mine, y, line == lines[-1])
            texts = [text for text in (line, column) if text]
            title = {"text": texts, "fontSize": 11, "fontWeight": "normal", "offset": 4, "frame": "group"}
            panels.append({"title": title, **drawn})
    grid = {"concat": panels, "columns": len(columns), "align": "all", "bounds": "flush",
            "spacing": {"row": 46, "column": 48}}  # fmt: skip
    missing = " x: no result." if any(found["ratio"] is None for found in rows) else ""
    caption = (
        f"Difference in {label} from {base}, by cell, with the 95 % interval over boots (below three boots the range "
        f"of the blocks).{missing}"
    )
    scale = ", logarithmic scale" if axis.logarithmic else ""
    measure = f"{label}: difference from {base} in %{scale}"
    return Picture("facet", str(options.get("title") or TITLES["facet"]), caption, grid, measure)


def panel(frame: Frame, roles: Roles, rows: list[dict[str, Any]], y: Mapping[str, Any], last: bool) -> dict[str, Any]:
    """One panel. No facets: Vega-Lite misplaces their headings where combinations are empty."""
    series = order(frame, roles.colour)
    names = xs(frame, roles)
    upright = max(map(len, names)) < 7
    axis = {"labelAngle": 0 if upright else -40, "labelLimit": 300, "labels": last and names != ["all"], "ticks": last}
    x = {"field": "x", "type": "nominal", "title": roles.x_title or None if last else None, "sort": names,
         "scale": {"domain": names}, "axis": axis}  # fmt: skip
    offset = {"field": "series", "type": "nominal", "sort": series, "scale": {"domain": series}}
    legend: dict[str, Any] = {}
    if roles.colour:
        legend = {"color": colour(series, roles.colour), "shape": shape(series, roles.colour)}
    tooltip = [{"field": name, "type": "nominal"} for name in ("variant", "cell", "change", "interval", "verdict", "n")]
    at = {"x": x, "xOffset": offset}
    layers = [
        {"data": {"values": [{}]}, "mark": {"type": "rule", "color": "#333"}, "encoding": {"y": {**ZERO, **y}}},
        {"transform": [{"filter": "isValid(datum.low)"}], "mark": {"type": "rule", "strokeWidth": 2},
         "encoding": {**at, "y": {"field": "low", **y}, "y2": {"field": "high"},
                      **({"color": legend["color"]} if legend else {})}},
        {"transform": [{"filter": "isValid(datum.ratio)"}], "mark": {"type": "point", "filled": True, "size": 50},
         "encoding": {**at, "y": {"field": "ratio", **y}, **legend, "tooltip": tooltip}},
        {"transform": [{"filter": "!isValid(datum.ratio)"}], "mark": {"type": "text", "text": "x", "color": "#b00"},
         "encoding": {**at, "y": {**ZERO, **y}, "tooltip": tooltip}},
    ]  # fmt: skip
    if not rows:  # not lost: the campaign has no such cell
        said = {"type": "text", "text": "not in the campaign", "color": "#777", "dy": -12}
        layers.append({"data": {"values": [{}]}, "mark": said, "encoding": {"y": {**ZERO, **y}}})
    width = max(150, min(420, 15 * len(names) * max(1, len(series)) + 20))
    return {"data": {"values": rows}, "width": width, "height": 160, "layer": layers}


def xs(frame: Frame, roles: Roles) -> list[str]:
    """Labels of x in order."""
    first = {text: i for i, text in enumerate(order(frame, roles.x))}
    texts = {roles.x_text(axes): first.get(roles.text(axes, "x"), 0) for axes in frame.cells.values()}
    return sorted(texts, key=lambda text: texts[text])


def place(frame: Frame, roles: Roles, variant: str, cell: str) -> dict[str, Any]:
    """Where a cell stands in the grid."""
    axes = frame.cells[cell]
    row = f"{roles.rows}={roles.text(axes, 'rows')}" if roles.rows else ""
    several = len([v for v in frame.variants if v != frame.baseline]) > 1
    return {
        "x": roles.x_text(axes),
        "series": roles.text(axes, "colour"),
        "row": ", ".join(filter(None, [frame.label(variant) if several else "", row])),
        "column": f"{roles.columns}={roles.text(axes, 'columns')}" if roles.columns else "",
        "row_order": (frame.variants.index(variant), order(frame, roles.rows).index(roles.text(axes, "rows"))),
        "column_order": order(frame, roles.columns).index(roles.text(axes, "columns")),
        "variant": frame.label(variant),
        "cell": cell,
    }


def row(frame: Frame, roles: Roles, found: Any) -> dict[str, Any]:
    """One comparison."""
    low, high = (found.low, found.high) if found.low is not None else (found.smallest, found.largest)
    percents = [(value - 1) * 100 for value in (found.ratio, low, high)]
    return {
        **place(frame, roles, found.variant, found.cell),
        "ratio": found.ratio,
        "low": low,
        "high": high,
        "change": f"{percents[0]:+.2f}%",
        "interval": f"{percents[1]:+.2f}% .. {percents[2]:+.2f}%",
        "verdict": found.verdict,
        "n": f"{found.n} blocks, {found.boots} boots",
    }


def absent(frame: Frame, roles: Roles) -> list[dict[str, Any]]:
    """Cells without a result."""
    found = []
    for (variant, cell), reason in frame.problems.items():
        if variant != frame.baseline and cell in frame.cells and not len(frame.of(variant, cell)):
            found.append({**place(frame, roles, variant, cell), "ratio": None, "low": None, "high": None,
                          "change": "", "interval": "", "verdict": reason, "n": ""})  # fmt: skip
    return found
