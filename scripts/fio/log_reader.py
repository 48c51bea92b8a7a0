"""fio's log files -> Arrow batches with the columns of their layout, in fio's own units."""

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
from pyarrow import compute

from scripts.fio.bins import edges, value_of_number
from scripts.fio.limits import MAX_INT
from scripts.fio.logs import Layout
from scripts.fio.scan import Refused

BLOCK_BYTES = 4 << 20
TAIL_BYTES = 1 << 16
HISTOGRAM_ROWS = 200
"""Lines of a histogram log taken at once: each has up to 1,856 buckets."""


def first_line(data: BinaryIO) -> bytes:
    """The first line that holds something; the file is at its start again."""
    data.seek(0)
    line = b"\n"
    while line and not line.strip():
        line = data.readline(1 << 20)
    data.seek(0)
    return line.strip()


class Whole(io.RawIOBase):
    """A file up to its last whole line."""

    def __init__(self, data: BinaryIO, length: int):
        self.data, self.left = data, length

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As much as is left of what is whole."""
        found = self.data.read(min(len(buffer), self.left))
        buffer[: len(found)] = found
        self.left -= len(found)
        return len(found)


def whole_lines(data: BinaryIO) -> tuple[BinaryIO, bool]:
    """The file without a last line that is cut off, and whether there was none; it is at its start."""
    size = data.seek(0, io.SEEK_END)
    end = size
    while end > 0:
        start = max(end - TAIL_BYTES, 0)
        data.seek(start)
        place = data.read(end - start).rfind(b"\n")
        if place >= 0:
            end = start + place + 1
            break
        end = start
    data.seek(0)
    if end == size:
        return data, True
    return io.BufferedReader(Whole(data, end)), False


def plain_batches(data: BinaryIO, layout: Layout) -> Iterator[pa.RecordBatch]:
    """A log's rows as they stand in it.

    Args:
        data: of whole lines.

    Raises:
        Refused: a line has another number of columns, or something that is no number.
    """
    types = {name: pa.int64() for name in layout.columns} | {"direction": pa.int8()}
    try:
        for batch in pc.open_csv(
            data,
            read_options=pc.ReadOptions(column_names=list(layout.columns), block_size=BLOCK_BYTES),
            convert_options=pc.ConvertOptions(column_types=types, strings_can_be_null=False, null_values=[]),
        ):
            yield checked(batch, layout)
    except pa.ArrowInvalid as error:
        if str(error).startswith("Empty CSV file"):  # its only line is cut off
            return
        kind = "another number of columns" if "Expected" in str(error) else "something that is no number"
        raise Refused(f"a log file with {kind}: {str(error)[:200]!r}") from error


def checked(batch: pa.RecordBatch, layout: Layout) -> pa.RecordBatch:
    """A batch whose directions are fio's, and whose figures can be.

    Raises:
        Refused: a direction that fio does not have: the columns are not what the options say; a negative figure, or one
            that does not fit.
    """
    for name in ("value", "value_max", "bs_bytes"):
        if name in batch.schema.names and batch.num_rows:
            ends = compute.min_max(batch[name])
            if ends["min"].as_py() < 0 or ends["max"].as_py() > MAX_INT // layout.scale:
                raise Refused(f"a log file with a {name} that is negative or does not fit into 64 bits")
    directions = batch["direction"].to_numpy(zero_copy_only=False)
    if len(directions) and (directions.min() < 0 or directions.max() > 2):
        raise Refused("a log file whose direction column holds other numbers than 0, 1, 2")
    return batch


def histogram_batches(data: BinaryIO, layout: Layout) -> Iterator[pa.RecordBatch]:
    """A histogram log's buckets, one row for each that holds something.

    Raises:
        Refused: a line has another number of columns, or something that is no number.
    """
    while lines := [line for _, line in zip(range(HISTOGRAM_ROWS), data, strict=False)]:
        try:
            table = np.array([line.split(b",") for line in lines if line.strip()], dtype=np.int64)
        except (ValueError, OverflowError) as error:
            text = str(error)[:200]
            raise Refused(f"a histogram log with lines of different length, or no whole numbers: {text}") from error
        if len(table) and table.min() < 0:
            raise Refused("a histogram log with a negative number")
        if not len(table):
            break
        counts = table[:, 3:]
        row, bucket = np.nonzero(counts)
        step = 1 << layout.coarseness
        low, _ = edges(value_of_number(bucket.astype(np.int64) * step))
        _, high = edges(value_of_number(bucket.astype(np.int64) * step + step - 1))
        columns = {
            "time_ms": table[row, 0],
            "direction": table[row, 1].astype(np.int8),
            "bs_bytes": table[row, 2],
            "low_ns": low * layout.scale,
            "high_ns": high * layout.scale,
            "count": counts[row, bucket],
        }
        yield checked(pa.RecordBatch.from_arrays([pa.array(v) for v in columns.values()], list(columns)), layout)
