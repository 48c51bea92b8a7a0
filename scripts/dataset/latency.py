"""Histograms of many runs -> latency.parquet: one row for each bucket that holds something."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from scripts.dataset.schema import LATENCY
from scripts.fio.bins import Histogram
from scripts.fio.histograms import Bins, problem_of, read_bins

PART_BYTES = 4 << 20
"""So much of fio's JSON is read at once: rows of one part are made while those of the one before are written."""
FIGURES = ("low_ns", "high_ns", "count")


class Entry(NamedTuple):
    """One histogram, and who hears that it can not be read."""

    run: str
    source: str
    bins: Bins
    warn: Callable[[str], None]


class Latencies:
    """Collects histograms as fio wrote them, and reads them when they are written."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, run: str, source: str, bins: Bins, warn: Callable[[str], None]) -> None:
        """One histogram of a run. `warn` is called while `tables` is walked, where it can not be read."""
        self.entries.append(Entry(run, source, bins, warn))

    def tables(self) -> Iterator[pa.Table]:
        """All of them in the schema of latency.parquet, in parts."""
        start = size = 0
        for end, entry in enumerate(self.entries, start=1):
            size += len(entry.bins.raw)
            if size >= PART_BYTES:
                yield part(self.entries[start:end])
                start, size = end, 0
        yield part(self.entries[start:])


def part(entries: list[Entry]) -> pa.Table:
    """Rows of some histograms."""
    read = read_bins([entry.bins for entry in entries])
    for place, reason in read.problems.items():
        entries[place].warn(problem_of(entries[place].bins, reason))
    columns = {
        "run": repeated([entry.run for entry in entries], read.lengths),
        "source": repeated([entry.source for entry in entries], read.lengths),
        "job_index": np.repeat(np.array([entry.bins.job_index for entry in entries], np.int64), read.lengths),
        "direction": repeated([entry.bins.direction for entry in entries], read.lengths),
        "latency": repeated([entry.bins.latency for entry in entries], read.lengths),
        **{name: getattr(read, name) for name in FIGURES},
    }
    return pa.Table.from_arrays([pa.array(columns[field.name]) for field in LATENCY], schema=LATENCY)


def repeated(values: list[str], lengths: npt.NDArray[np.int64]) -> pa.Array:
    """Each text so many times, as a dictionary."""
    number = {value: i for i, value in enumerate(dict.fromkeys(values))}
    codes = np.array([number[value] for value in values], dtype=np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(np.repeat(codes, lengths)), pa.array(list(number), pa.string()))


def histograms_in(path: Path, latency: str) -> Iterator[tuple[str, Histogram]]:
    """(run, histogram) of a latency.parquet, in one pass.

    Args:
        latency: clat, lat or slat.
    """
    table = pq.read_table(path, filters=[("latency", "=", latency)]).unify_dictionaries().combine_chunks()
    if not table.num_rows:
        return
    coded = {name: table[name].chunk(0) for name in ("run", "direction")}
    runs, directions = (coded[name].indices.to_numpy() for name in ("run", "direction"))
    jobs, low, high, count = (table[name].to_numpy() for name in ("job_index", "low_ns", "high_ns", "count"))
    changes = np.flatnonzero((np.diff(runs) != 0) | (np.diff(jobs) != 0) | (np.diff(directions) != 0)) + 1
    for start, end in itertools.pairwise([0, *changes.tolist(), len(runs)]):
        part = slice(start, end)
        direction = coded["direction"].dictionary[int(directions[start])].as_py()
        run = coded["run"].dictionary[int(runs[start])].as_py()
        yield run, Histogram(int(jobs[start]), direction, latency, low[part], high[part], count[part])
