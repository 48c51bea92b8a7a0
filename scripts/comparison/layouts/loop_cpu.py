"""One row a variant, columns READ and WRITE (bandwidth, IOPS) and CPU; one table for each cell's axes (seed S3)."""

from collections.abc import Mapping
from typing import Any

from scripts.comparison.cells import absent, mean
from scripts.comparison.frame import Frame
from scripts.comparison.numbers import iops_text, mebibytes_text, significant
from scripts.comparison.table import Table

COLUMNS = (
    ("read_bw_bytes_per_s", "MiB/s"),
    ("read_iops", "IOPS"),
    ("write_bw_bytes_per_s", "MiB/s"),
    ("write_iops", "IOPS"),
    ("cpu_percent", "%"),
)


def tables(frame: Frame, options: Mapping[str, Any]) -> list[Table]:
    """See the module's text."""
    result = []
    for cell, axes in frame.cells.items():
        title = f"{options.get('title') or frame.plan['title']}: {axes['label']}"
        table = Table(title, ["variant", *(heading for _, heading in COLUMNS)])
        table.groups = [("", 1), ("READ", 2), ("WRITE", 2), ("CPU", 1)]
        for variant in frame.variants:
            table.rows.append([frame.label(variant), *(figure(frame, variant, cell, name) for name, _ in COLUMNS)])
        table.notes.append("CPU: user and system time of fio's jobs, in percent of one processor a job")
        result.append(table)
    return result


def figure(frame: Frame, variant: str, cell: str, metric: str) -> str:
    """A figure, `unknown`, or why there is none."""
    if not len(frame.of(variant, cell)):
        return absent(frame, variant, cell)
    value = mean(frame, variant, cell, metric)
    if value is None:
        return frame.blank
    if value == 0 and metric != "cpu_percent":
        return "-"  # the workload does not do this direction
    if metric.endswith("_bytes_per_s"):
        return mebibytes_text(value)
    return significant(value) if metric == "cpu_percent" else iops_text(value)
