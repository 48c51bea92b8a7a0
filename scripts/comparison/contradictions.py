"""Cells that contradict themselves: IOPS times block size is not their bandwidth."""

from collections.abc import Iterator

from scripts.comparison.figures import Figure
from scripts.comparison.frame import Frame
from scripts.comparison.numbers import bandwidth_text, iops_text

TOLERANCE = 0.02
"""For measured samples: fio takes both from the same counters, up to short I/Os and the end of a run."""


def contradicts(iops: Figure, bandwidth: Figure, bs_bytes: int) -> bool:
    """Whether no two values that are rounded or cut to these figures fit together."""
    return iops.high * bs_bytes < bandwidth.low or iops.low * bs_bytes > bandwidth.high


def sentence(place: str, iops: str, bandwidth: str, bs_bytes: int, product: float) -> str:
    """A note below a table."""
    return f"Contradiction: {place}: {iops} IOPS of {bs_bytes} bytes are {bandwidth_text(product)}, not {bandwidth}"


def contradictions(frame: Frame) -> Iterator[str]:
    """Notes about cells of a frame whose bandwidth is more than 2 % from their IOPS times their block size."""
    iops, bandwidth = frame.means("iops"), frame.means("bw_bytes_per_s")
    sizes = frame.samples.groupby(["variant", "cell"], sort=False)["bs_bytes"].agg(["min", "max"])
    for place, low, high in sizes.itertuples():
        count, moved = iops.get(place), bandwidth.get(place)
        if not count or not moved or low != high:
            continue  # nothing to compare, or a cell of several block sizes
        if abs(count * low / moved - 1) > TOLERANCE:
            name = f"{frame.label(place[0])}, {place[1]}"
            yield sentence(name, iops_text(count), bandwidth_text(moved), int(low), count * low)
