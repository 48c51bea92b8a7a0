"""One row a workload, one column a variant, cell `IOPS / BW`; one table for each value of `split` (seed S0)."""

from collections.abc import Mapping
from typing import Any

from scripts.campaign.units import axis_text
from scripts.comparison.cells import absent, mean, split
from scripts.comparison.frame import Frame
from scripts.comparison.numbers import bandwidth_text, iops_text
from scripts.comparison.table import Table


def tables(frame: Frame, options: Mapping[str, Any]) -> list[Table]:
    """See the module's text."""
    result = []
    for heading, cells in split(frame, options.get("split")):
        title = ", ".join(filter(None, [options.get("title") or frame.plan["title"], heading]))
        table = Table(title, ["IOPS / BW", *(frame.label(v) for v in frame.variants)])
        used = {options.get("split"), "workload", "label", "rw", "bs", "iodepth", "numjobs"}
        others = [a for a in frame.plan.get("axes", []) if a not in used]
        varying = [a for a in others if len({str(axes.get(a)) for axes in cells.values()}) > 1]
        for cell, axes in cells.items():
            name = ", ".join([axes["label"], *(f"{axis_name(a)}={axis_text(a, axes.get(a))}" for a in varying)])
            table.rows.append([name, *(figure(frame, variant, cell) for variant in frame.variants)])
        result.append(table)
    return result


def axis_name(axis: str) -> str:
    """An axis in a row's name."""
    return axis


def figure(frame: Frame, variant: str, cell: str) -> str:
    """`5535 / 22.7 MB/s`."""
    iops, bandwidth = mean(frame, variant, cell, "iops"), mean(frame, variant, cell, "bw_bytes_per_s")
    if iops is None or bandwidth is None:
        return absent(frame, variant, cell)
    return f"{iops_text(iops)} / {bandwidth_text(bandwidth)}"
