"""What layouts share: a cell's figure or the reason why there is none, and splitting a frame by an axis."""

from collections.abc import Iterator
from typing import Any

from scripts.campaign.units import axis_text
from scripts.comparison.frame import Frame


def absent(frame: Frame, variant: str, cell: str) -> str:
    """Why a cell has no figure; never a zero."""
    if variant in frame.plan.get("not_run", {}):
        return "not run"
    problem = frame.problems.get((variant, cell), "")
    return problem.partition(":")[0] or "no data"


def mean(frame: Frame, variant: str, cell: str, metric: str) -> float | None:
    """Mean over a cell's samples; None without any."""
    return frame.means(metric).get((variant, cell))


def split(frame: Frame, axis: str | None) -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
    """(heading, cells) for each value of an axis; one part without an axis."""
    if not axis:
        yield "", frame.cells
        return
    values = list(dict.fromkeys(str(axes.get(axis)) for axes in frame.cells.values()))
    for value in values:
        cells = {name: axes for name, axes in frame.cells.items() if str(axes.get(axis)) == value}
        first = next(iter(cells.values()))
        yield f"{axis} = {axis_text(axis, first.get(axis))}", cells
