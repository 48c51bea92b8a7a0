"""Published figures beside ours: cells at the same point of the matrix get the published variants as further ones."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from scripts.comparison.frame import Frame

ABSOLUTE = ("iops-bw", "loop-cpu", "grouped-depth")
"""Layouts that show figures; in those that show differences a published variant belongs to its own baseline."""
POINT = {"rw": None, "bs": 4096, "iodepth": 1, "numjobs": 1}
"""Axes that must be equal, with what fio does by default; all others only where both have them."""


def same_point(ours: Mapping[str, Any], published: Mapping[str, Any]) -> bool:
    """Whether two cells are one point of the matrix."""
    if any(ours.get(name, default) != published.get(name, default) for name, default in POINT.items()):
        return False
    shared = set(ours) & set(published) - {"label", "workload"}
    return all(ours[name] == published[name] for name in shared)


def beside(frame: Frame, published: Frame) -> tuple[Frame | None, bool]:
    """Our frame with the published variants, where they have a cell of ours (None when there is no such
    cell), and whether that shows all that was published.

    Published variants have no boots and no pairs: they are shown and never tested.
    """
    match: dict[str, str] = {}
    for place, axes in published.cells.items():
        for cell, mine in frame.cells.items():
            if same_point(mine, axes):
                match.setdefault(place, cell)
    if not match:
        return None, False
    names = {variant: f"published/{variant}" for variant in published.variants}
    variants = dict(frame.plan["variants"])
    for variant, name in names.items():
        variants[name] = {"label": f"{published.label(variant)}, published", "published": True}
    rows = published.samples[published.samples["cell"].isin(match)]
    rows = rows.assign(cell=rows["cell"].map(match), variant=rows["variant"].map(names))
    columns = [name for name in rows.columns if name in frame.samples.columns and rows[name].notna().any()]
    samples = pd.concat([frame.samples, rows[columns]], ignore_index=True)
    problems = dict(frame.problems)
    there = set(zip(rows["cell"], rows["variant"], strict=True))
    for cell in frame.cells:
        problems |= {(name, cell): "-: not published" for name in names.values() if (cell, name) not in there}
    wide = replace(frame, plan={**frame.plan, "variants": variants}, samples=samples, problems=problems, cache={})
    return wide, len(match) == len(published.cells)
