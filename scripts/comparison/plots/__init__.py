"""Pictures of a comparison: one small file each, with a function

    picture(frame: Frame, options: Mapping[str, Any]) -> Picture

that raises `Nothing` with the reason when there is nothing to draw. A picture is a Vega-Lite specification with its
data in it; scripts/plot.py makes HTML, SVG and PNG of it.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scripts.comparison.frame import Frame

KINDS = ("facet", "density", "strip", "latency", "bandwidth")
TITLES = {
    "facet": "Relative difference",
    "density": "Density of samples",
    "strip": "Samples in the order they were taken",
    "latency": "Completion latency",
    "bandwidth": "Bandwidth over time",
}


class Nothing(Exception):
    """There is nothing to draw; the text says why."""


@dataclass
class Picture:
    """One picture.

    Attributes:
        kind: its file here. title, caption: texts for people. spec: Vega-Lite, without title and configuration.
        measure: what is drawn, for the line below the title.
    """

    kind: str
    title: str
    caption: str
    spec: dict[str, Any] = field(default_factory=dict)
    measure: str = ""


def picture(frame: Frame, options: Mapping[str, Any]) -> Picture:
    """The picture of the kind that the options name.

    Raises:
        Nothing: there is nothing to draw. KeyError: there is no such kind.
    """
    kind = str(options["kind"])
    if kind not in KINDS:
        raise KeyError(f"no picture {kind!r}; there are: {', '.join(KINDS)}")
    found: Picture = importlib.import_module(f"scripts.comparison.plots.{kind}").picture(frame, options)
    return found
