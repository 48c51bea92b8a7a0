"""Every sample in the order of execution: boots, drift and jumps are seen, not tested."""

import itertools
import math
from collections.abc import Mapping
from typing import Any

from scripts.comparison.frame import Frame
from scripts.comparison.metrics import metric as metric_of
from scripts.comparison.plots import TITLES, Nothing, Picture
from scripts.comparison.plots.roles import shown_variants
from scripts.comparison.plots.style import colour, shape


def picture(frame: Frame, options: Mapping[str, Any]) -> Picture:
    """Samples in percent of their own cell's mean; a line where another boot begins."""
    metric = str(options.get("metric") or "iops")
    if not len(frame.samples):
        raise Nothing("there are no samples")
    samples = frame.samples.sort_values("position")
    cell = samples.groupby(["variant", "cell"], sort=False)[metric]
    if cell.size().max() < 2:
        raise Nothing("no cell has more than one sample")
    percent = (samples[metric] / cell.transform("mean") - 1) * 100
    rows = [
        {
            "x": int(position),
            "y": round(float(y), 4),
            "series": frame.label(variant),
            "cell": name,
            "boot": str(boot)[:8],
        }
        for position, y, variant, name, boot in zip(
            samples["position"], percent, samples["variant"], samples["cell"], samples["boot_id"], strict=True
        )
        if math.isfinite(y)
    ]
    if not rows:
        raise Nothing(f"no sample has a value of {metric}")
    boots = [{"x": b["x"] - 0.5} for a, b in itertools.pairwise(rows) if a["boot"] != b["boot"]]
    names = [frame.label(v) for v in shown_variants(frame)]
    many = len(rows) > 500
    y = {"field": "y", "type": "quantitative", "title": f"{metric_of(metric).label}: % from the cell's mean"}
    x = {"field": "x", "type": "quantitative", "title": "place in the order of execution",
         "scale": {"domain": [0, rows[-1]["x"] + 1], "nice": False}}  # fmt: skip
    point = {"type": "point", "filled": True, "size": 12 if many else 45, "opacity": 0.45 if many else 0.8}
    tooltip = [{"field": name} for name in ("series", "cell", "boot", "y")]
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "rule", "color": "#888"}, "encoding": {"y": {"datum": 0}}},
        {"mark": point, "encoding": {"x": x, "y": y, "color": colour(names, "variant"),
                                     "shape": shape(names, "variant"), "tooltip": tooltip}},
    ]  # fmt: skip
    if boots and len(boots) <= 100:
        layers.insert(0, {"data": {"values": boots}, "mark": {"type": "rule", "strokeDash": [4, 3], "color": "#555"},
                          "encoding": {"x": x}})  # fmt: skip
    caption = "Every sample, in percent of the mean of its cell and variant" + (
        "; a dashed line where another boot begins." if 0 < len(boots) <= 100 else "."
    )
    spec = {"data": {"values": rows}, "width": 860, "height": 260, "layer": layers}
    return Picture("strip", str(options.get("title") or TITLES["strip"]), caption, spec)
