"""fio's latency histograms (`--output-format=json+`): buckets by version, exact sums, percentiles with their error.

fio counts in buckets of a width that doubles with every power of two: 64 to a power, so a bucket is at most 1/64 of
its values wide. What it writes as a bucket's name is the middle of the bucket (fio's plat_idx_to_val), in ns since 2.99
and in us before; up to 2.19 it writes the bucket's number. Below 128 units every bucket is one value.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from scripts.fio.decode import Decoded
from scripts.fio.document import Direction
from scripts.fio.limits import MAX_TIME
from scripts.fio.rows import DIRECTIONS, is_set, jobs_of, options_for
from scripts.fio.version import guessed_version, parse_version, percentiles_of_lat_under_clat

BITS = 6
"""FIO_IO_U_PLAT_BITS: 2^6 buckets to a power of two."""
NUMBERED_UNTIL = (2, 19)
Ints = npt.NDArray[np.int64]
PLAIN_CHARACTERS = b'0123456789{}":, \n\r\t'
BLANKED = bytes(c if chr(c).isdigit() and c < 128 else 32 for c in range(256))
PLAIN = msgspec.json.Decoder(dict[int, int])
NAMED = msgspec.json.Decoder(dict[str, int])


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
    _, exponents = np.frexp(values.astype(np.float64))
    error_bits = np.maximum(exponents.astype(np.int64) - 1 - BITS, 0)
    low = values >> error_bits << error_bits
    return low, low + (np.int64(1) << error_bits)


def value_of_number(numbers: Ints) -> Ints:
    """A value in the bucket of each number, as fio up to 2.19 counts them."""
    group = numbers >> BITS
    error_bits = np.maximum(group - 1, 0)
    base = np.where(group > 1, np.int64(1) << (error_bits + BITS), np.where(group == 1, 1 << BITS, 0))
    inside = numbers & ((1 << BITS) - 1)
    return base + (inside << error_bits)


def numbers_in(raw: bytes) -> Ints | None:
    """Keys and counts by turns of `{"key": count, ...}`; None where there is anything but plain numbers in it.

    A third of the time that a mapping would take to be made and taken apart again.
    """
    if raw.translate(None, PLAIN_CHARACTERS) or not raw.startswith(b"{"):
        return None
    found: Ints = np.fromstring(raw.translate(BLANKED), dtype=np.int64, sep=" ")
    if raw.count(b":") * 2 != len(found):
        return None
    return found if not len(found) or found.max() <= MAX_TIME else None


def counted(raw: bytes) -> tuple[Ints, Ints]:
    """(keys, counts) of one histogram as fio wrote it, empty buckets left out.

    Raises:
        msgspec.DecodeError: it is none.
    """
    quick = numbers_in(raw)
    if quick is not None:
        keys, counts = quick[::2], quick[1::2]
        real = counts > 0
        return (keys, counts) if real.all() else (keys[real], counts[real])
    found: dict[Any, int]
    try:
        found = PLAIN.decode(raw)
    except msgspec.ValidationError:  # up to 2.19 it also holds FIO_IO_U_PLAT_BITS and the like
        found = {int(key): value for key, value in NAMED.decode(raw).items() if key.isdigit()}
    keys = np.fromiter(found.keys(), np.int64, len(found))
    counts = np.fromiter(found.values(), np.int64, len(found))
    real = counts > 0
    return keys[real], counts[real]


def histograms_of(decoded: Decoded) -> Iterator[Histogram]:
    """All histograms of a document; one that can not be read is left out with a warning."""
    document = decoded.document
    version = parse_version(document.version) or guessed_version(document)[0]
    for index, job in enumerate(jobs_of(document)):
        options = options_for(document, job)[0]
        under_clat = percentiles_of_lat_under_clat(version) and is_set(options, "lat_percentiles")
        for direction in DIRECTIONS:
            part = getattr(job, direction)
            if part is None:
                continue
            for latency, raw, scale in raw_of(part):
                try:
                    keys, counts = counted(raw)
                except (msgspec.DecodeError, OverflowError) as error:
                    decoded.warnings.append(f"{direction} {latency}: bins can not be read: {error}")
                    continue
                if not len(keys):
                    continue
                low, high = edges(value_of_number(keys) if version <= NUMBERED_UNTIL else keys)
                name = "lat" if latency == "clat" and under_clat else latency
                yield Histogram(index, direction, name, low * scale, high * scale, counts)


def raw_of(part: Direction) -> Iterator[tuple[str, bytes, int]]:
    """(latency, bins as fio wrote them, ns to a unit) of one direction."""
    for name, in_ns, in_us in (
        ("slat", part.slat_ns, part.slat),
        ("clat", part.clat_ns, part.clat),
        ("lat", part.lat_ns, part.lat),
    ):
        latency, scale = (in_ns, 1) if in_ns is not None else (in_us, 1000)
        if latency is not None and len(raw := bytes(latency.bins)) > 2:
            yield name, raw, scale


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
