"""How all pictures look: colour-blind safe colours that also differ in grey, sizes, and what every title says."""

from collections.abc import Sequence
from typing import Any

from scripts.comparison.frame import Frame
from scripts.comparison.plots import Picture

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999")
"""Okabe and Ito's palette, without its yellow, which white paper swallows."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "stroke")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4], [1, 3], [10, 2, 2, 2])
LINES = {"symbolType": "stroke", "symbolSize": 600, "symbolStrokeWidth": 2}
"""A legend that shows colour and dashes as they are drawn."""
CONFIG: dict[str, Any] = {
    "background": "white",
    "font": "DejaVu Sans, Helvetica, sans-serif",
    "axis": {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridColor": "#e4e4e4",
        "labelLimit": 240,
    },
    "legend": {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 320,
        "symbolSize": 80,
    },
    "header": {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 400},
    "title": {"fontSize": 15, "anchor": "start", "subtitleFontSize": 12, "subtitleColor": "#444", "offset": 14},
    "view": {"stroke": "#bbb"},
}


def colour(names: Sequence[str], title: str) -> dict[str, Any]:
    """Colour by name, in the order given."""
    scale = {"domain": list(names), "range": [COLOURS[i % len(COLOURS)] for i in range(len(names))]}
    return {"field": "series", "type": "nominal", "scale": scale, "title": title, "sort": list(names)}


def shape(names: Sequence[str], title: str) -> dict[str, Any]:
    """Shape by name: the same distinction again, for print in grey."""
    scale = {"domain": list(names), "range": [SHAPES[i % len(SHAPES)] for i in range(len(names))]}
    return {"field": "series", "type": "nominal", "scale": scale, "title": title, "sort": list(names)}


def dash(names: Sequence[str], title: str) -> dict[str, Any]:
    """Dashes by name."""
    scale = {"domain": list(names), "range": [DASHES[i % len(DASHES)] for i in range(len(names))]}
    return {"field": "series", "type": "nominal", "scale": scale, "title": title, "sort": list(names)}


def complete(found: Picture, frame: Frame) -> dict[str, Any]:
    """A specification with title, clock and look."""
    clock = str(frame.plan.get("clock", "unknown"))
    about = {
        "instructions": "executed instructions, one thread: code path, not throughput",
        "emulated": "only indicative",
    }
    said = f"clock: {clock}" + (f" ({about[clock]})" if clock in about else "")
    lost = len(frame.problems)
    lines = [
        str(frame.plan["title"]),
        *filter(None, [found.measure]),
        said + (f"; {lost} cell(s) without all samples" if lost else ""),
    ]
    return {"$schema": SCHEMA, "title": {"text": found.title, "subtitle": lines}, "config": CONFIG, **found.spec}
