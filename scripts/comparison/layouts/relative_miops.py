"""Rows `jobs/bs | workload | prep`, one column for each number of jobs (seed S1).

Cell `rel_read rel_write (c_read, c_write)`: differences from the baseline in percent, then the baseline's millions of
IOPS. Percentages carry their sign and %: the post this comes from was misread as throughput.
"""

from collections.abc import Mapping
from typing import Any

from scripts.campaign.units import axis_text
from scripts.comparison.cells import absent, mean
from scripts.comparison.compared import comparisons, tildes
from scripts.comparison.frame import Frame
from scripts.comparison.numbers import miops_text
from scripts.comparison.table import Table

ROW_AXES = ("bs", "rw", "prep")
METRICS = ("read_iops", "write_iops")


def tables(frame: Frame, options: Mapping[str, Any]) -> list[Table]:
    """One table for each variant against the baseline."""
    result = []
    jobs = sorted({int(axes.get("numjobs", 1)) for axes in frame.cells.values()})
    skip = {"numjobs", *ROW_AXES, "workload", "label"}
    others = [a for a in frame.plan.get("axes", []) if a not in skip]
    varying = [a for a in others if len({str(axes.get(a)) for axes in frame.cells.values()}) > 1]
    places = [tuple(str(axes.get(a)) for a in (*ROW_AXES, "numjobs", *varying)) for axes in frame.cells.values()]
    if len(set(places)) < len(places):  # workloads that differ in what is no axis: each needs its own row
        varying.append("workload")
    base = frame.label(frame.baseline)
    for variant in frame.variants:
        if variant == frame.baseline:
            continue
        title = f"{options.get('title') or frame.plan['title']}: {frame.label(variant)} against {base}"
        table = Table(title, ["jobs/bs", "workload", "prep", *varying, *map(str, jobs)], left=3 + len(varying))
        table.groups = [
            ("", table.left),
            ("jobs", len(jobs)),
        ]
        table.notes = [
            f"Cell: read% write% difference in IOPS from {base} (read,write Miops of {base}: millions of I/Os a second)"
        ]
        if any(c.variant == variant for c in comparisons(frame, "iops")):
            table.notes += tildes(frame, "iops", variant)
        rows: dict[tuple[str, ...], dict[int, str]] = {}
        for cell, axes in frame.cells.items():
            key = tuple(axis_text(a, axes.get(a)) for a in (*ROW_AXES, *varying))
            rows.setdefault(key, {})[int(axes.get("numjobs", 1))] = figure(frame, variant, cell)
        for key, cells in rows.items():
            table.rows.append([*key, *(cells.get(number, "not planned") for number in jobs)])
        result.append(table)
    return result


def difference(base: float | None, other: float | None) -> str:
    """`+0.28%`; 0.00% where the workload does not do this direction, ? where one side is unknown."""
    if base is None or other is None:
        return "?"
    if base == 0:
        return "0.00%" if other == 0 else "?"
    return f"{(other - base) / base * 100 + 0.0:+.2f}%"


def figure(frame: Frame, variant: str, cell: str) -> str:
    """`+0.28% 0.00% (1.7,0.0)`."""
    if not len(frame.of(variant, cell)):
        return absent(frame, variant, cell)
    if not len(frame.of(frame.baseline, cell)):
        return "no baseline"
    bases = [mean(frame, frame.baseline, cell, m) for m in METRICS]
    shown = ",".join("?" if base is None else miops_text(base) for base in bases)
    changes = (change(frame, variant, cell, m, base) for m, base in zip(METRICS, bases, strict=True))
    return " ".join(changes) + f" ({shown})"


def change(frame: Frame, variant: str, cell: str, metric: str, base: float | None) -> str:
    """The difference by blocks, as in the table of verdicts; of means where there are no pairs (published figures)."""
    if base:
        for found in comparisons(frame, metric):
            if (found.variant, found.cell) == (variant, cell):
                return f"{(found.ratio - 1) * 100 + 0.0:+.2f}%"
    return difference(base, mean(frame, variant, cell, metric))
