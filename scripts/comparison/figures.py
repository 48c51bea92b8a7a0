"""Published figures: text as somebody wrote it -> a number, and how far its rounding reaches."""

import re
from dataclasses import dataclass

FIGURE = re.compile(r"(?P<number>[-+]?[0-9]+(?:\.(?P<digits>[0-9]+))?) ?(?P<unit>[a-zA-Z/%]*)")
UNITS = {
    "": 1.0, "k": 1e3, "M": 1e6, "%": 1.0, "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9,
    **{f"{p}B/s": 10.0**e for p, e in (("k", 3), ("M", 6), ("G", 9))},
    **{f"{p}iB/s": 2.0**e for p, e in (("k", 10), ("M", 20), ("G", 30))},
}  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """A number in base units (1/s, bytes/s, ns, %); `step` is one unit of the last digit: it was rounded there."""

    value: float
    step: float
    text: str

    @property
    def low(self) -> float:
        """Smallest value that may have been written so."""
        return self.value - self.step

    @property
    def high(self) -> float:
        """Largest one."""
        return self.value + self.step


def figure(text: str) -> Figure:
    """`24.5k`, `100 MB/s`, `12.80 us`, `+40 %`.

    Raises:
        ValueError: it is none.
    """
    match = FIGURE.fullmatch(text.strip())
    if match is None or match["unit"] not in UNITS:
        raise ValueError(f"{text!r}: a number with one of the units {', '.join(filter(None, UNITS))}")
    unit = UNITS[match["unit"]]
    return Figure(float(match["number"]) * unit, 10.0 ** -len(match["digits"] or "") * unit, text.strip())


def percents(text: str) -> tuple[float, float]:
    """`+10 .. +30 %` or `+40 %`, as lowest and highest."""
    numbers = [figure(part.strip()).value for part in text.removesuffix("%").split("..")]
    return numbers[0], numbers[-1]
