"""One table a workload, one row a variant, column groups by iodepth: KIOPS, BW (MiB/s), Lat (usec) (seed S4).

`columns: [AXIS]` makes the groups from another axis.
"""

from collections.abc import Mapping
from typing import Any

from scripts.campaign.units import axis_text
from scripts.comparison.cells import absent, mean
from scripts.comparison.compared import comparisons, varying
from scripts.comparison.frame import Frame
from scripts.comparison.numbers import mebibytes_text, percent_text
from scripts.comparison.table import Table

WORKLOADS = {
    "read": "Sequential read",
    "write": "Sequential write",
    "randread": "Random read",
    "randwrite": "Random write",
    "rw": "Mixed sequential read and write",
    "randrw": "Mixed random read and write",
}
HEADINGS = ["KIOPS", "BW (MiB/s)", "Lat (usec)"]


def tables(frame: Frame, options: Mapping[str, Any]) -> list[Table]:
    """See the module's text."""
    axis = (options.get("columns") or ["iodepth"])[0]
    others = [name for name in varying(frame) if name not in (axis, "rw")]
    parts: dict[str, list[str]] = {}
    for cell, axes in frame.cells.items():
        name = WORKLOADS.get(str(axes.get("rw")), str(axes.get("rw")))
        parts.setdefault(", ".join([name, *(f"{a}={axis_text(a, axes.get(a))}" for a in others)]), []).append(cell)
    by = {(c.variant, c.cell): c for c in comparisons(frame, "iops")}
    result = []
    for name, cells in parts.items():
        heads = [f"{axis} {axis_text(axis, frame.cells[cell].get(axis))}" for cell in cells]
        title = ": ".join(filter(None, [options.get("title"), name]))
        table = Table(title, ["", *HEADINGS * len(cells)], groups=[("", 1), *((head, 3) for head in heads)])
        for variant in frame.variants:
            table.rows.append([frame.label(variant), *(f for cell in cells for f in figures(frame, variant, cell))])
            seen = [by[variant, cell] for cell in cells if (variant, cell) in by]
            shown = [f"{percent_text(c.ratio)} {c.verdict}" for c in seen if frame.samples["boot_id"].notna().any()]
            if shown:
                table.notes.append(f"{frame.label(variant)} against {frame.label(frame.baseline)}: {', '.join(shown)}")
        table.notes.append("Lat: mean completion latency")
        result.append(table)
    return result


def figures(frame: Frame, variant: str, cell: str) -> list[str]:
    """KIOPS, MiB/s, microseconds; or why there are none."""
    if not len(frame.of(variant, cell)):
        return [absent(frame, variant, cell)] * 3
    iops, bandwidth = mean(frame, variant, cell, "iops"), mean(frame, variant, cell, "bw_bytes_per_s")
    latency = mean(frame, variant, cell, "clat_mean_ns")
    return [
        frame.blank if iops is None else kiops_text(iops),
        frame.blank if bandwidth is None else mebibytes_text(bandwidth),
        frame.blank if latency is None else f"{latency / 1e3:.2f}",
    ]


def kiops_text(iops: float) -> str:
    """Thousands: `578`, `57.8`, `5.78`."""
    value = iops / 1e3
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
