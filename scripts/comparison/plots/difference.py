"""The axis of relative differences: ratios to the baseline, labelled in percent.

Small differences are drawn on a linear scale. Where something is twice or half the baseline the scale is logarithmic:
on a linear one +400 % would squeeze all that lies between -80 % and +10 % into nothing, and half is as far as double.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

WIDE = 2.0
MOST_TICKS = 9
PERCENT = "datum.value == 1 ? '0' : format(round((datum.value - 1) * 1e6) / 1e4, '+.3~r')"
ZERO = {"datum": 1}
"""Where the baseline is."""


@dataclass(frozen=True)
class Axis:
    """One axis for all panels of a picture."""

    logarithmic: bool
    domain: tuple[float, float]
    ticks: tuple[float, ...] = ()

    def encoding(self, title: str | None) -> dict[str, Any]:
        """Vega-Lite's type, scale, axis and title."""
        scale = {"type": "log" if self.logarithmic else "linear", "domain": list(self.domain), "nice": False,
                 "zero": False}  # fmt: skip
        axis: dict[str, Any] = {"labelExpr": PERCENT}
        if self.ticks:
            axis["values"] = list(self.ticks)
        return {"type": "quantitative", "title": title, "scale": scale, "axis": axis}


def axis_of(ratios: Sequence[float], beyond: float = 0.06) -> Axis:
    """The axis that shows all these ratios and the baseline, and a part of itself beyond them at both ends."""
    low, high = min([1.0, *ratios]), max([1.0, *ratios])
    if low <= 0 or (high < WIDE and low > 1 / WIDE):
        margin = (high - low) * beyond or 0.01
        return Axis(False, (low - margin, high + margin))
    margin = (high / low) ** beyond
    low, high = low / margin, high * margin
    for step in (1, 2, 3, 4, 6, 8, 12, 20):
        powers = [step * place for place in range(-60 // step, 60 // step + 1)]
        ticks = tuple(2.0**power for power in powers if low <= 2.0**power <= high)
        if len(ticks) <= MOST_TICKS:
            break
    return Axis(True, (low, high), ticks)
