"""Histograms of many runs -> latency.parquet: one row for each bucket that holds something."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from scripts.dataset.schema import LATENCY
from scripts.fio.bins import Histogram

PART_ROWS = 1 << 18


class Buckets:
    """Collects histograms; they stay arrays all the way."""

    def __init__(self) -> None:
        self.names: list[tuple[str, str, int, str, str]] = []
        self.histograms: list[Histogram] = []

    def add(self, run: str, source: str, histogram: Histogram) -> None:
        """One histogram of a run."""
        self.names.append((run, source, histogram.job_index, histogram.direction, histogram.latency))
        self.histograms.append(histogram)

    def tables(self) -> Iterator[pa.Table]:
        """All of them in the schema of latency.parquet, in parts of about PART_ROWS."""
        start = rows = 0
        for end, histogram in enumerate(self.histograms, start=1):
            rows += len(histogram.count)
            if rows >= PART_ROWS:
                yield self.part(slice(start, end))
                start, rows = end, 0
        yield self.part(slice(start, None))

    def part(self, which: slice) -> pa.Table:
        """Some of them."""
        names, histograms = self.names[which], self.histograms[which]
        lengths = [len(h.count) for h in histograms]

        def texts(place: int) -> pa.Array:
            values = [name[place] for name in names]
            distinct = list(dict.fromkeys(values))
            number = {value: i for i, value in enumerate(distinct)}
            codes = np.array([number[value] for value in values], dtype=np.int32)
            indices = pa.array(np.repeat(codes, lengths))
            return pa.DictionaryArray.from_arrays(indices, pa.array(distinct, pa.string()))

        jobs = np.array([name[2] for name in names], dtype=np.int64)
        columns = {
            "run": texts(0),
            "source": texts(1),
            "job_index": np.repeat(jobs, lengths),
            "direction": texts(3),
            "latency": texts(4),
        }
        for name in ("low_ns", "high_ns", "count"):
            parts = [getattr(h, name) for h in histograms]
            columns[name] = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        return pa.Table.from_arrays([pa.array(columns[field.name]) for field in LATENCY], schema=LATENCY)


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
