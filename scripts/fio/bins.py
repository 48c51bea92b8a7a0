"""fio's latency histograms: buckets by version, exact sums, percentiles with their error.

fio counts in buckets of a width that doubles with every power of two: 64 to a power, so a bucket is at most 1/64 of
its values wide. What it writes as a bucket's name is the middle of the bucket (fio's plat_idx_to_val), in ns since 2.99
and in us before; up to 2.19 it writes the bucket's number. Below 128 units every bucket is one value.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BITS = 6
"""FIO_IO_U_PLAT_BITS: 2^6 buckets to a power of two."""
MANTISSA_BITS, EXPONENT_BIAS = 52, 1023
"""Of a double."""
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Histogram:
    """Buckets of one latency of one job and direction.

    Attributes:
        low_ns, high_ns: edges; a bucket holds low <= latency < high. count: I/Os in it, never 0.
    """

    job_index: int
    direction: str
    latency: str
    low_ns: Ints
    high_ns: Ints
    count: Ints


def edges(values: Ints) -> tuple[Ints, Ints]:
    """(low, high) of the buckets that hold these values, in the unit of the values."""
    error_bits = values.astype(np.float64).view(np.int64)
    error_bits >>= MANTISSA_BITS  # what is left is the place of the highest bit
    error_bits -= EXPONENT_BIAS + BITS
    np.maximum(error_bits, 0, out=error_bits)
    low = values >> error_bits
    low <<= error_bits
    return low, low + (np.int64(1) << error_bits)


def value_of_number(numbers: Ints) -> Ints:
    """A value in the bucket of each number, as fio up to 2.19 counts them."""
    group = numbers >> BITS
    error_bits = np.maximum(group - 1, 0)
    base = np.where(group > 1, np.int64(1) << (error_bits + BITS), np.where(group == 1, 1 << BITS, 0))
    inside = numbers & ((1 << BITS) - 1)
    return base + (inside << error_bits)


def merged(parts: Iterable[Histogram]) -> tuple[Ints, Ints, Ints]:
    """(low_ns, high_ns, count) of many histograms together: exact, since all versions in ns have the same buckets.

    Raises:
        ValueError: buckets overlap without being the same (ns and us mixed).
    """
    listed = list(parts)
    if not listed:
        nothing = np.zeros(0, np.int64)
        return nothing, nothing, nothing
    low = np.concatenate([part.low_ns for part in listed])
    high = np.concatenate([part.high_ns for part in listed])
    count = np.concatenate([part.count for part in listed])
    both, inverse = np.unique(np.stack([low, high]), axis=1, return_inverse=True)
    total = np.zeros(both.shape[1], np.int64)
    np.add.at(total, inverse.ravel(), count)
    if np.any(both[0][1:] < both[1][:-1]):
        raise ValueError("histograms in ns and in us have different buckets and can not be added")
    return both[0], both[1], total


def percentile_ns(low_ns: Ints, high_ns: Ints, count: Ints, percent: float) -> tuple[float, float]:
    """A percentile and the largest error it can have: half the width of its bucket, at most 1/128 of the value.

    Args:
        low_ns, high_ns, count: sorted by low_ns, as from `merged`. percent: 0 to 100.

    Raises:
        ValueError: there are no samples.
    """
    if not len(count):
        raise ValueError("no samples")
    rank = max(int(np.ceil(percent / 100 * int(count.sum()))), 1)
    place = int(np.searchsorted(np.cumsum(count), rank))
    low, high = int(low_ns[place]), int(high_ns[place]) - 1
    return (low + high) / 2, (high - low) / 2
