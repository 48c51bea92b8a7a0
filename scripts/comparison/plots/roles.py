"""Which axis of a campaign is drawn as what: columns, rows, x and colour of a grid; and names of cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scripts.campaign.units import axis_text
from scripts.comparison.frame import Frame

PREFERRED = {"columns": "iodepth", "rows": "rw", "x": "bs", "colour": "numjobs"}
FILLED = ("x", "rows", "columns", "colour")
"""Roles in the order in which axes without a preference take them."""
MOST_COLOURS = 8


@dataclass(frozen=True)
class Roles:
    """Axis of each role; None where no axis is left. `rest` goes into the labels of x."""

    columns: str | None
    rows: str | None
    x: str | None
    colour: str | None
    rest: tuple[str, ...]

    def text(self, axes: Mapping[str, Any], role: str) -> str:
        """A cell's value in a role, as text; empty without an axis."""
        name = getattr(self, role)
        return value_text(name, axes.get(name)) if name else ""

    def x_text(self, axes: Mapping[str, Any]) -> str:
        """Label on x: the axis' value and whatever has no role of its own."""
        named = [f"{name}={value_text(name, axes.get(name))}" for name in self.rest]
        return ", ".join([part for part in [self.text(axes, "x")] if part] + named) or "all"

    @property
    def x_title(self) -> str:
        """Title of x."""
        return ", ".join([*([self.x] if self.x else []), *self.rest])


def varying(frame: Frame) -> list[str]:
    """Axes that tell cells apart, in the campaign's order: none that follows from another (fixedbufs from ioengine).

    Of two that follow from each other the one stays that is usually drawn, else the first.
    """
    cells = list(frame.cells.values())
    names = [name for name in dict.fromkeys(n for axes in cells for n in axes) if name not in ("workload", "label")]
    values = {name: [str(axes.get(name)) for axes in cells] for name in names}
    several = [name for name in names if len(set(values[name])) > 1]
    usual = sorted(several, key=lambda name: name not in PREFERRED.values())
    kept: list[str] = []
    for name in usual:
        if not any(len(set(zip(values[k], values[name], strict=True))) == len(set(values[k])) for k in kept):
            kept.append(name)
    return [name for name in several if name in kept]


def order(frame: Frame, name: str | None) -> list[str]:
    """Texts of an axis in the order of its values."""
    if not name:
        return [""]
    values = {value_text(name, axes.get(name)): axes.get(name) for axes in frame.cells.values()}
    if all(isinstance(value, int | float) for value in values.values()):
        return sorted(values, key=lambda text: float(values[text] or 0))
    return list(values)


def roles_of(frame: Frame, options: Mapping[str, Any]) -> Roles:
    """Roles of the campaign's axes: as the options say, else fio's usual ones, else in order."""
    left = varying(frame)
    chosen: dict[str, str | None] = dict.fromkeys(PREFERRED)
    for wanted in (options, PREFERRED):
        for role in PREFERRED:
            if chosen[role] is None and wanted.get(role) in left:
                chosen[role] = str(wanted[role])
                left.remove(str(wanted[role]))
    for role in FILLED:
        fitting = [name for name in left if role != "colour" or len(order(frame, name)) <= MOST_COLOURS]
        if chosen[role] is None and fitting:
            chosen[role] = fitting[0]
            left.remove(fitting[0])
    if crowded(frame, chosen["columns"]) and chosen["columns"]:
        left.append(chosen["columns"])
        chosen["columns"] = None
    return Roles(chosen["columns"], chosen["rows"], chosen["x"], chosen["colour"], tuple(left))


def crowded(frame: Frame, name: str | None) -> bool:
    """Whether an axis has too many values for columns side by side."""
    return len(order(frame, name)) > 6


def value_text(name: str, value: object) -> str:
    """A value of an axis; in a picture 1 and 0 would look like numbers of preps."""
    if name == "prep" and isinstance(value, bool):
        return "yes" if value else "no"
    return axis_text(name, value)


def cell_text(frame: Frame, cell: str) -> str:
    """A cell by the axes that vary."""
    axes = frame.cells[cell]
    return ", ".join(f"{name}={value_text(name, axes.get(name))}" for name in varying(frame)) or cell


def shown_variants(frame: Frame) -> list[str]:
    """Variants that have samples, the baseline first."""
    there = set(frame.samples["variant"]) if len(frame.samples) else set()
    return sorted((v for v in frame.variants if v in there), key=lambda v: v != frame.baseline)
