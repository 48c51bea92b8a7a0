"""Log files of fio -> logs/<kind>.parquet, streamed: a log of gigabytes never is in memory."""

import io
import os
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from scripts.dataset.schema import HISTOGRAM_LOG, LOG_VALUES, log_schema
from scripts.fio.bins import edges, value_of_number
from scripts.fio.logs import Layout, LogName, check_columns
from scripts.fio.scan import Refused

BLOCK_BYTES = 4 << 20
WHOLE_BYTES = 64 << 20
DIRECTIONS = pa.array(["read", "write", "trim"])
HISTOGRAM_ROWS = 200
"""Lines of a histogram log taken at once: each has up to 1,856 buckets."""


class LogWriter:
    """The log files of one kind of a campaign -> `<kind>.parquet`, and `<kind>-<n>.parquet` for each large one.

    A log that turns out to be damaged leaves nothing behind: a small one is read whole before it is written, a large
    one is streamed into a file of its own, which only gets its name at the end.

    Args:
        directory: results/<campaign>/logs. kind: bw, iops, lat, clat, slat or clat_hist.
    """

    def __init__(self, directory: Path, kind: str):
        self.kind, self.directory = kind, directory
        self.schema = HISTOGRAM_LOG if kind == "clat_hist" else log_schema(kind)
        directory.mkdir(parents=True, exist_ok=True)
        self.small = ParquetFile(directory / f"{kind}.parquet", self.schema)
        self.large = 0

    def add(self, run: str, source: str, name: LogName, layout: Layout, data: BinaryIO) -> list[str]:
        """Append one file; warnings.

        Args:
            data: open at its start, seekable.

        Raises:
            Refused: it is not what its options say. Nothing of it is in any file then.
        """
        first, whole = first_line(data), ends_whole(data)
        if not first:
            return ["the log file is empty"]
        check_columns(first.count(b",") + 1, layout)
        constant = {"run": run, "source": source, "job": name.job, "time_base": layout.time_base}
        histogram = self.kind == "clat_hist"
        batches = histogram_batches(data, layout) if histogram else plain_batches(data, layout, whole)
        size = data.seek(0, io.SEEK_END)
        data.seek(0)
        if size <= WHOLE_BYTES:
            for table in [self.shaped(batch, constant, layout) for batch in batches]:
                self.small.write(table)
        else:
            self.large += 1
            with ParquetFile(self.directory / f"{self.kind}-{self.large}.parquet", self.schema) as file:
                for batch in ahead(batches):
                    file.write(self.shaped(batch, constant, layout))
        return [] if whole else ["the last line of the log is cut off and left out"]

    def shaped(self, batch: pa.RecordBatch, constant: dict[str, Any], layout: Layout) -> pa.Table:
        """A batch in the schema of the file."""
        rows = batch.num_rows
        columns = []
        zeros = pa.array(np.zeros(rows, np.int32))
        for field in self.schema:
            if field.name in constant and pa.types.is_dictionary(field.type):
                columns.append(pa.DictionaryArray.from_arrays(zeros, pa.array([constant[field.name]], pa.string())))
            elif field.name == "job":
                job = constant["job"]
                columns.append(pa.nulls(rows, pa.int32()) if job is None else pa.array(np.full(rows, job, np.int32)))
            elif field.name == "windowed":
                columns.append(pa.array(np.full(rows, layout.windowed)))
            elif field.name == "direction":
                columns.append(pa.DictionaryArray.from_arrays(batch["direction"].cast(pa.int32()), DIRECTIONS))
            else:
                columns.append(self.figures(batch, field, layout))
        return pa.Table.from_arrays(columns, schema=self.schema)

    def figures(self, batch: pa.RecordBatch, field: pa.Field, layout: Layout) -> pa.Array:
        """A column of numbers: in our unit, null where the layout has none."""
        source = SOURCES.get(field.name, field.name)
        if source not in batch.schema.names:
            return pa.nulls(batch.num_rows, field.type)
        array = batch[source]
        if source.startswith("value") and layout.scale != 1:
            array = pa.array(array.to_numpy(zero_copy_only=False) * np.int64(layout.scale))
        return array.cast(field.type)

    def close(self) -> None:
        """The file of the small logs gets its name."""
        self.small.close()


class ParquetFile:
    """A Parquet file that appears whole at its end, or not at all."""

    def __init__(self, path: Path, schema: pa.Schema):
        self.path, self.partial = path, path.with_name(f".{path.name}.{os.getpid()}")
        self.writer = pq.ParquetWriter(self.partial, schema, compression="snappy", use_dictionary=CODED_COLUMNS)

    def write(self, table: pa.Table) -> None:
        """Append."""
        self.writer.write_table(table)

    def close(self) -> None:
        """The end."""
        self.writer.close()
        self.partial.replace(self.path)

    def __enter__(self) -> "ParquetFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.writer.close()
            self.partial.unlink()


SOURCES = {f"{base}{end}": f"value{end}" for base, _, _ in LOG_VALUES.values() for end in ("", "_max")}
CODED_COLUMNS = ["run", "source", "direction", "time_base"]


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


def ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches, made in a thread of their own: reading and writing take one processor each."""
    found: queue.Queue[Any] = queue.Queue(maxsize=2)
    stopped = threading.Event()

    def work() -> None:
        try:
            for batch in batches:
                found.put(batch)
                if stopped.is_set():
                    return
            found.put(None)
        except BaseException as error:
            found.put(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while (item := found.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()
