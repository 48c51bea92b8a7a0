"""Histograms in fio's documents (`--output-format=json+`) -> arrays, many of them at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import csv

from scripts.fio.bins import BITS, Histogram, Ints, edges, value_of_number
from scripts.fio.decode import Decoded
from scripts.fio.document import Direction
from scripts.fio.job_options import options_for
from scripts.fio.limits import MAX_TIME
from scripts.fio.rows import DIRECTIONS, jobs_of, under_clat
from scripts.fio.version import guessed_version, parse_version

NUMBERED_UNTIL = (2, 19)
NUMBERS = 29 << BITS
"""No version has more buckets."""
PLAIN = msgspec.json.Decoder(dict[int, int])
NAMED = msgspec.json.Decoder(dict[str, int])
MAX_VALUE = 2**52
"""52 days in ns; its bucket's upper edge in us still fits into 64 bits when it is made ns."""
LINE_ENDS = bytes.maketrans(b",", b"\n")
DROPPED = b'"{} \t\r\n'
READ = csv.ReadOptions(column_names=["key", "count"])
PARSE = csv.ParseOptions(delimiter=":", quote_char=False)
CONVERT = csv.ConvertOptions(column_types={"key": pa.int64(), "count": pa.int64()}, null_values=[])


@dataclass(frozen=True, slots=True)
class Bins:
    """One histogram as fio wrote it.

    Attributes:
        raw: JSON, `{"bucket": count, ...}`. scale: ns to a unit. numbered: buckets by number, not by value.
    """

    job_index: int
    direction: str
    latency: str
    raw: bytes
    scale: int
    numbered: bool


@dataclass(frozen=True)
class Buckets:
    """Buckets of many histograms, one after the other, empty ones left out.

    Attributes:
        lengths: number of buckets of each histogram. low_ns, high_ns, count: as in `Histogram`.
        problems: why a histogram can not be read, by its place; its length is 0.
    """

    lengths: Ints
    low_ns: Ints
    high_ns: Ints
    count: Ints
    problems: dict[int, str]


def bins_of(decoded: Decoded) -> Iterator[Bins]:
    """All histograms of a document, unread."""
    document = decoded.document
    version = parse_version(document.version) or guessed_version(document)[0]
    for index, job in enumerate(jobs_of(document)):
        options = options_for(document, job)[0]
        for direction in DIRECTIONS:
            part = getattr(job, direction)
            if part is None:
                continue
            for latency, raw, scale in raw_of(part):
                name = "lat" if latency == "clat" and under_clat(part, version, options) else latency
                yield Bins(index, direction, name, raw, scale, version <= NUMBERED_UNTIL)


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


def read_bins(listed: Sequence[Bins]) -> Buckets:
    """Read histograms."""
    problems: dict[int, str] = {}
    lengths, keys, counts = all_at_once(listed) or one_by_one(listed, problems)
    real = counts > 0
    if not real.all():
        of_which = np.repeat(np.arange(len(listed)), lengths)
        lengths = np.bincount(of_which[real], minlength=len(listed))
        keys, counts = keys[real], counts[real]
    if any(bins.numbered for bins in listed):
        numbered = np.repeat([bins.numbered for bins in listed], lengths)
        keys = np.where(numbered, value_of_number(keys), keys)
    low, high = edges(keys)
    if any(bins.scale != 1 for bins in listed):
        scales = np.repeat(np.array([bins.scale for bins in listed], np.int64), lengths)
        low, high = low * scales, high * scales
    return Buckets(lengths, low, high, counts, problems)


def all_at_once(listed: Sequence[Bins]) -> tuple[Ints, Ints, Ints] | None:
    """(lengths, keys, counts) of many histograms; None where one of them has anything but plain numbers in it.

    As lines of `key:count` for Arrow's CSV reader: a fifth of the time that mappings take to be made and taken apart.
    """
    lines = [bins.raw.translate(LINE_ENDS, DROPPED) for bins in listed]
    lengths = np.array([line.count(b":") for line in lines], np.int64)
    text = b"\n".join(lines)
    if not text.strip():
        return None
    try:
        table = csv.read_csv(pa.BufferReader(text), READ, PARSE, CONVERT)
    except pa.ArrowInvalid:
        return None
    keys, counts = table["key"], table["count"]
    if table.num_rows != lengths.sum() or keys.null_count or counts.null_count:
        return None
    found = keys.to_numpy(), counts.to_numpy()
    if any(part.min() < 0 or part.max() > largest for part, largest in zip(found, (MAX_VALUE, MAX_TIME), strict=True)):
        return None
    numbered = np.array([bins.numbered for bins in listed])
    if numbered.any() and found[0][np.repeat(numbered, lengths)].max(initial=0) >= NUMBERS:
        return None
    return lengths, *found


def one_by_one(listed: Sequence[Bins], problems: dict[int, str]) -> tuple[Ints, Ints, Ints]:
    """The same for histograms of any content; fills in `problems`."""
    parts: list[tuple[list[int], list[int]]] = []
    for place, bins in enumerate(listed):
        try:
            parts.append(counted(bins.raw, NUMBERS - 1 if bins.numbered else MAX_VALUE))
        except (msgspec.DecodeError, ValueError) as error:
            problems[place] = str(error)
            parts.append(([], []))
    keys, counts = (np.array([number for part in parts for number in part[side]], np.int64) for side in (0, 1))
    return np.array([len(part[0]) for part in parts], np.int64), keys, counts


def counted(raw: bytes, largest: int) -> tuple[list[int], list[int]]:
    """(keys, counts) of one histogram as fio wrote it; keys are at most `largest`.

    Raises:
        msgspec.DecodeError: it is none. ValueError: a number that fio can not have meant.
    """
    found: dict[Any, int]
    try:
        found = PLAIN.decode(raw)
    except msgspec.ValidationError:  # up to 2.19 it also holds FIO_IO_U_PLAT_BITS and the like
        found = {int(key): value for key, value in NAMED.decode(raw).items() if key.isascii() and key.isdigit()}
    for key, value in found.items():
        if not (0 <= key <= largest and 0 <= value <= MAX_TIME):
            raise ValueError(f"{key}: {value} is out of range")
    return list(found), list(found.values())


def histograms_of(decoded: Decoded) -> Iterator[Histogram]:
    """All histograms of a document; one that can not be read is left out with a warning."""
    listed = list(bins_of(decoded))
    read = read_bins(listed)
    starts = np.cumsum(read.lengths) - read.lengths
    for place, (bins, start, length) in enumerate(zip(listed, starts, read.lengths, strict=True)):
        if place in read.problems:
            decoded.warnings.append(problem_of(bins, read.problems[place]))
        elif length:
            part = slice(start, start + length)
            arrays = read.low_ns[part], read.high_ns[part], read.count[part]
            yield Histogram(bins.job_index, bins.direction, bins.latency, *arrays)


def problem_of(bins: Bins, reason: str) -> str:
    """A warning."""
    return f"{bins.direction} {bins.latency}: bins can not be read: {reason}"
