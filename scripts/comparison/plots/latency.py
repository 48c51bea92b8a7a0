"""Percentiles of completion latency: from fio's histograms where there are some, else from the percentiles it wrote."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scripts.comparison.compared import comparisons
from scripts.comparison.frame import Frame
from scripts.comparison.plots import TITLES, Nothing, Picture
from scripts.comparison.plots.roles import cell_text, shown_variants
from scripts.comparison.plots.style import LINES, colour, dash
from scripts.dataset.latency import histograms_in
from scripts.dataset.read import read_runs
from scripts.fio.bins import Histogram, merged, percentile_ns
from scripts.fio.rows import PERCENTILES, percentile_name

MOST_CELLS = 12


def picture(frame: Frame, options: Mapping[str, Any]) -> Picture:
    """One panel for each cell (the ones that differ most, where there are many), one line for each variant."""
    assert frame.directory
    cells = chosen_cells(frame)
    rows = list(from_histograms(frame, frame.directory, cells)) or list(from_columns(frame, frame.directory, cells))
    if not rows:
        raise Nothing("fio wrote neither histograms (output_format: json+) nor percentiles of completion latency")
    exact = "bins" in rows[0]
    names = [frame.label(v) for v in shown_variants(frame)]
    ticks = [0, 1, 2, 3, 4]
    labels = "{0: '0', 1: '90', 2: '99', 3: '99.9', 4: '99.99'}[datum.value]"
    inner = {
        "width": 250,
        "height": 170,
        "mark": {"type": "line", "point": {"size": 22}},
        "encoding": {
            "x": {"field": "nines", "type": "quantitative", "title": "percentile", "scale": {"domain": [0, 4]},
                  "axis": {"values": ticks, "labelExpr": labels}},
            "y": {"field": "us", "type": "quantitative", "title": "completion latency (us)", "scale": {"type": "log"}},
            "color": {**colour(names, "variant"), "legend": LINES},
            "strokeDash": {**dash(names, "variant"), "legend": LINES},
            "tooltip": [{"field": "series"}, {"field": "cell"}, {"field": "percentile"}, {"field": "us"}],
        },
    }  # fmt: skip
    sort = [cell_text(frame, cell) for cell in cells]
    spec = {
        "data": {"values": rows},
        "facet": {"field": "cell", "type": "nominal", "title": None, "sort": sort},
        "columns": columns_of(len(cells)),
        "spec": inner,
    }
    caption = (
        "All samples of a cell together, from fio's histograms: a value is right to 1/128."
        if exact
        else "The median over samples of the percentiles that fio wrote."
    )
    if len(cells) < len(frame.cells):
        caption += f" The {len(cells)} of {len(frame.cells)} cells whose IOPS differ most."
    return Picture("latency", str(options.get("title") or TITLES["latency"]), caption, spec)


def columns_of(count: int) -> int:
    """Panels side by side: the last line is full where that can be, since Vega-Lite draws axes below empty places."""
    return next((columns for columns in (3, 4, 2) if count % columns == 0), min(count, 3))


def chosen_cells(frame: Frame) -> list[str]:
    """All cells of a few, else those that differ most."""
    cells = list(frame.cells)
    if len(cells) <= MOST_CELLS:
        return cells
    size: dict[str, float] = {}
    for found in comparisons(frame, "iops"):
        size[found.cell] = max(size.get(found.cell, 0.0), abs(float(np.log(found.ratio))))
    most = set(sorted(cells, key=lambda cell: -size.get(cell, 0.0))[:MOST_CELLS])
    return [cell for cell in cells if cell in most]


def nines(percent: float) -> float:
    """Place on an axis on which 90, 99 and 99.9 are equally far apart."""
    return float(-np.log10(max(1 - percent / 100, 1e-5)))


def point(frame: Frame, variant: str, cell: str, percent: float, value_ns: float) -> dict[str, Any]:
    """One point."""
    return {"series": frame.label(variant), "cell": cell_text(frame, cell), "percentile": percent,
            "nines": round(nines(percent), 4), "us": value_ns / 1000}  # fmt: skip


def from_histograms(frame: Frame, directory: Path, cells: list[str]) -> Iterator[dict[str, Any]]:
    """Percentiles of merged histograms; nothing where there are none, or where ns and us are mixed."""
    path = directory / "latency.parquet"
    if not path.is_file():
        return
    samples = frame.samples
    cell_and_variant = zip(samples["cell"], samples["variant"], strict=True)
    place = dict(zip(samples["run"], cell_and_variant, strict=True))
    parts: dict[tuple[str, str], list[Histogram]] = {}
    for run, histogram in histograms_in(path, "clat"):
        if run in place and place[run][0] in cells:
            parts.setdefault(place[run], []).append(histogram)
    for (cell, variant), found in parts.items():
        try:
            together = merged(found)
        except ValueError:
            continue
        for percent in PERCENTILES:
            yield {**point(frame, variant, cell, percent, percentile_ns(*together, percent)[0]), "bins": True}


def from_columns(frame: Frame, directory: Path, cells: list[str]) -> Iterator[dict[str, Any]]:
    """Medians of fio's own percentiles."""
    names = {f"clat_{percentile_name(p)}_ns": p for p in PERCENTILES}
    table = read_runs(directory / "runs.parquet", ["variant", "cell", "status", *names]).to_pandas()
    table = table[(table["status"] == "ok") & table["cell"].isin(cells)]
    for (variant, cell), group in table.groupby(["variant", "cell"], sort=False):
        for name, percent in names.items():
            values = group[name].dropna()
            if len(values) and float(values.median()) > 0:
                yield point(frame, str(variant), str(cell), percent, float(values.median()))
