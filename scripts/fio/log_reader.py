"""fio's log files -> Arrow batches with the columns of their layout, in fio's own units."""

import io
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from scripts.fio.bins import edges, value_of_number
from scripts.fio.logs import Layout
from scripts.fio.scan import Refused

BLOCK_BYTES = 4 << 20
HISTOGRAM_ROWS = 200
"""Lines of a histogram log taken at once: each has up to 1,856 buckets."""


def first_line(data: BinaryIO) -> bytes:
    """The first line; the file is at its start again."""
    data.seek(0)
    line = data.readline(1 << 20).strip()
    data.seek(0)
    return line


def ends_whole(data: BinaryIO) -> bool:
    """Whether the last line has its end."""
    size = data.seek(0, io.SEEK_END)
    if size:
        data.seek(size - 1)
    last = data.read(1)
    data.seek(0)
    return last in (b"\n", b"")


def plain_batches(data: BinaryIO, layout: Layout, whole: bool) -> Iterator[pa.RecordBatch]:
    """A log's rows as they stand in it; the last one is left out when it is cut off.

    Raises:
        Refused: a line has another number of columns, or something that is no number.
    """
    wrong: list[str] = []

    def invalid(row: pc.InvalidRow) -> str:
        wrong.append(f"{row.actual_columns} columns: {row.text!r}")
        return "skip"

    types = {name: pa.int64() for name in layout.columns} | {"direction": pa.int8()}
    try:
        reader = pc.open_csv(
            data,
            read_options=pc.ReadOptions(column_names=list(layout.columns), block_size=BLOCK_BYTES),
            parse_options=pc.ParseOptions(invalid_row_handler=invalid),
            convert_options=pc.ConvertOptions(column_types=types, strings_can_be_null=False),
        )
        held = None
        for batch in reader:
            if held is not None:
                yield checked(held)
            held = batch
        if held is not None:
            if not whole and not wrong:
                held = held.slice(0, held.num_rows - 1)
            yield checked(held)
    except pa.ArrowInvalid as error:
        raise Refused(f"a log file with something that is no number: {error}") from error
    if len(wrong) > (0 if whole else 1):
        raise Refused(f"a log file in which {len(wrong)} line(s) have another number of columns; the first: {wrong[0]}")


def checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch whose directions are fio's.

    Raises:
        Refused: a direction that fio does not have: the columns are not what the options say.
    """
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
        if not lines[-1].endswith(b"\n"):
            lines.pop()
        try:
            table = np.array([line.split(b",") for line in lines], dtype=np.float64).astype(np.int64)
        except ValueError as error:
            raise Refused(f"a histogram log with lines of different length, or no numbers: {error}") from error
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
        yield checked(pa.RecordBatch.from_arrays([pa.array(v) for v in columns.values()], list(columns)))
