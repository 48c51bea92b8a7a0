"""Bandwidth over time, from fio's log files."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from scripts.comparison.frame import Frame
from scripts.comparison.plots import TITLES, Nothing, Picture
from scripts.comparison.plots.latency import chosen_cells, columns_of
from scripts.comparison.plots.roles import cell_text, shown_variants
from scripts.comparison.plots.style import LINES, colour, dash

POINTS = 120
"""Steps of time in a line: finer windows are averaged."""


def picture(frame: Frame, options: Mapping[str, Any]) -> Picture:
    """One panel for each cell, one line for each run; jobs of a run and directions are added up."""
    assert frame.directory
    paths = sorted(frame.directory.glob("logs/bw*.parquet"))
    parts = [
        pq.read_table(p, columns=["run", "job", "direction", "time_ms", "bw_bytes_per_s", "windowed"]) for p in paths
    ]
    frames = [part.to_pandas() for part in parts if part.num_rows]
    if not frames:
        raise Nothing("fio wrote no bandwidth log (write_bw_log)")
    logs = pd.concat(frames)
    logs = logs[logs["windowed"]]
    if logs.empty:
        raise Nothing("bandwidth logs have a line for each I/O; log_avg_msec makes windows that can be drawn")
    cells = chosen_cells(frame)
    place = frame.samples.set_index("run")[["variant", "cell"]]
    logs = logs.join(place, on="run", how="inner")
    logs = logs[logs["cell"].isin(cells)]
    if logs.empty:
        raise Nothing("the bandwidth logs belong to no run that counts")
    step = max(1, int((logs["time_ms"].max() - logs["time_ms"].min()) / POINTS))
    logs["second"] = logs["time_ms"] // step * step / 1000
    by = ["run", "variant", "cell", "second"]
    each = logs.groupby([*by, "job", "direction"], observed=True, dropna=False)["bw_bytes_per_s"].mean()
    lines = each.groupby(by, observed=True).sum().reset_index()
    rows = [
        {"x": round(float(r.second), 3), "y": round(float(r.bw_bytes_per_s) / 1e6, 3), "run": str(r.run),
         "series": frame.label(str(r.variant)), "cell": cell_text(frame, str(r.cell))}
        for r in lines.itertuples()
    ]  # fmt: skip
    names = [frame.label(v) for v in shown_variants(frame)]
    inner = {
        "width": 250,
        "height": 150,
        "mark": {"type": "line", "strokeWidth": 1.2, "opacity": 0.8},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": "time (s)"},
            "y": {"field": "y", "type": "quantitative", "title": "bandwidth (MB/s)", "scale": {"zero": True}},
            "detail": {"field": "run"},
            "color": {**colour(names, "variant"), "legend": LINES},
            "strokeDash": {**dash(names, "variant"), "legend": LINES},
        },
    }
    spec = {
        "data": {"values": rows},
        "facet": {"field": "cell", "type": "nominal", "title": None, "sort": [cell_text(frame, c) for c in cells]},
        "columns": columns_of(len(cells)),
        "spec": inner,
        "resolve": {"scale": {"y": "independent"}},
    }
    caption = "Every run is a line; jobs and directions are added up. Time is what the clock of the guest or host says."
    return Picture("bandwidth", str(options.get("title") or TITLES["bandwidth"]), caption, spec)
