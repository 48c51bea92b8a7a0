"""Log files of fio -> logs/<kind>.parquet, streamed: a log of gigabytes never is in memory."""

import io
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from scripts.dataset.schema import HISTOGRAM_LOG, LOG_VALUES, log_schema
from scripts.dataset.write import ParquetFile, ahead
from scripts.fio.log_reader import first_line, histogram_batches, plain_batches, whole_lines
from scripts.fio.logs import Layout, LogName, check_columns

WHOLE_BYTES = 64 << 20
DIRECTIONS = ("read", "write", "trim")


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
        constant = {"run": run, "source": source, "job": name.job, "time_base": layout.time_base}
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
                columns.append(
                    pa.DictionaryArray.from_arrays(
                        batch["direction"].cast(pa.int32()), pa.array(DIRECTIONS, pa.string())
                    )
                )
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
