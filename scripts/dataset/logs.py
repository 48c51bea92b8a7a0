"""Log files of fio -> logs/<kind>.parquet, streamed: a log of gigabytes never is in memory."""

import io
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from scripts.dataset.schema import HISTOGRAM_LOG, LOG_VALUES, log_schema
from scripts.dataset.write import ParquetFile, ahead
from scripts.fio.log_reader import first_line, histogram_batches, plain_batches, whole_lines
from scripts.fio.logs import Layout, LogName, check_columns

WHOLE_BYTES = 64 << 20
DIRECTIONS = ("read", "write", "trim")
CONSTANT = ("run", "source", "job", "time_base", "windowed")


class Constant:
    """Columns that have one value in a whole file, absent ones included: made once, as long as a batch was so far."""

    def __init__(self, run: str, source: str, job: int | None, layout: Layout):
        self.values = {"run": run, "source": source, "job": job, "time_base": layout.time_base,
                       "windowed": layout.windowed}  # fmt: skip
        self.made: dict[str, pa.Array] = {}

    def column(self, field: pa.Field, rows: int) -> pa.Array:
        """`rows` times the value of a column; null where it has none."""
        if field.name not in self.made or len(self.made[field.name]) < rows:
            self.made[field.name] = pa.repeat(pa.scalar(self.values.get(field.name), self.plain(field)), rows)
            if pa.types.is_dictionary(field.type):
                self.made[field.name] = self.made[field.name].dictionary_encode()
        return self.made[field.name][:rows]

    @staticmethod
    def plain(field: pa.Field) -> pa.DataType:
        """Type of a value."""
        return field.type.value_type if pa.types.is_dictionary(field.type) else field.type


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
        self.small = ParquetFile(directory / f"{kind}.parquet", self.schema)
        self.large = 0

    def add(self, run: str, source: str, name: LogName, layout: Layout, data: BinaryIO) -> list[str]:
        """Append one file; warnings.

        Args:
            data: open at its start, seekable.

        Raises:
            Refused: it is not what its options say. Nothing of it is in any file then.
        """
        first = first_line(data)
        if not first:
            return ["the log file is empty"]
        check_columns(first.count(b",") + 1, layout)
        constant = Constant(run, source, name.job, layout)
        size = data.seek(0, io.SEEK_END)
        lines, whole = whole_lines(data)
        batches = (histogram_batches if self.kind == "clat_hist" else plain_batches)(lines, layout)
        if size <= WHOLE_BYTES:
            for table in [self.shaped(batch, constant, layout) for batch in batches]:
                self.small.write(table)
        else:
            self.large += 1
            with ParquetFile(self.directory / f"{self.kind}-{self.large}.parquet", self.schema) as file:
                for batch in ahead(batches):
                    file.write(self.shaped(batch, constant, layout))
        return [] if whole else ["the last line of the log is cut off and left out"]

    def shaped(self, batch: pa.RecordBatch, constant: Constant, layout: Layout) -> pa.Table:
        """A batch in the schema of the file."""
        columns = []
        for field in self.schema:
            if field.name in CONSTANT:
                columns.append(constant.column(field, batch.num_rows))
            elif field.name == "direction":
                directions = batch["direction"].cast(pa.int32())
                columns.append(pa.DictionaryArray.from_arrays(directions, pa.array(DIRECTIONS, pa.string())))
            else:
                source = SOURCES.get(field.name, field.name)
                if source in batch.schema.names:
                    columns.append(in_our_unit(source, batch[source], layout).cast(field.type))
                else:
                    columns.append(constant.column(field, batch.num_rows))
        return pa.Table.from_arrays(columns, schema=self.schema)

    def names(self) -> set[str]:
        """Names of the files written."""
        return {self.small.path.name, *(f"{self.kind}-{n}.parquet" for n in range(1, self.large + 1))}

    def close(self) -> None:
        """The file of the small logs gets its name."""
        self.small.close()


class LogSet:
    """logs/ of a campaign: one writer for each kind that there is. What was there before is replaced at the end.

    Use as a context.
    """

    def __init__(self, directory: Path):
        self.directory = directory
        self.writers: dict[str, LogWriter] = {}
        self.count = 0

    def add(self, run: str, source: str, name: LogName, layout: Layout, data: BinaryIO) -> list[str]:
        """One log file of a run; warnings.

        Raises:
            Refused: it is not what its layout says.
        """
        if name.kind not in self.writers:
            self.writers[name.kind] = LogWriter(self.directory, name.kind)
        warnings = self.writers[name.kind].add(run, source, name, layout, data)
        self.count += 1
        return warnings

    def __enter__(self) -> "LogSet":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            for writer in self.writers.values():
                writer.small.abandon()

    def close(self) -> None:
        """All files get their names; those of an earlier run that are not written again go."""
        kept = set()
        for writer in self.writers.values():
            writer.close()
            kept |= writer.names()
        for path in self.directory.glob("*.parquet"):
            if path.name not in kept:
                path.unlink()


SOURCES = {f"{base}{end}": f"value{end}" for base, _, _ in LOG_VALUES.values() for end in ("", "_max")}


def in_our_unit(source: str, array: pa.Array, layout: Layout) -> pa.Array:
    """A column of a log, its values in ns or bytes/s."""
    if not source.startswith("value") or layout.scale == 1:
        return array
    return pa.array(array.to_numpy(zero_copy_only=False) * np.int64(layout.scale))
