"""Rows -> Parquet files that appear whole."""

import contextlib
import os
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

Part = TypeVar("Part")


def table_of(rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """A table of the schema; keys it does not have are ignored, absent ones are null."""
    listed = list(rows)
    columns: dict[str, list[Any]] = {name: [None] * len(listed) for name in schema.names}
    for number, row in enumerate(listed):
        for name, value in row.items():
            if name in columns:
                columns[name][number] = value
    arrays = [pa.array(columns[field.name], type=field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


class WithoutPandas:
    """For processes that only write: pyarrow looks for pandas at its first array, and importing that takes 0.2 s.

    Put first into sys.meta_path. Nothing in such a process can use pandas afterwards.
    """

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        """Refuse pandas; leave all else to the other finders."""
        if name == "pandas":
            raise ImportError("this process does not need pandas")


def write_table(table: pa.Table, path: Path) -> None:
    """One table as a file."""
    with ParquetFile(path, table.schema, "zstd") as file:
        file.write(table)


def write_tables(tables: Iterator[pa.Table], schema: pa.Schema, path: Path) -> None:
    """Write tables one after the other into one file; each is made while the one before is written."""
    with ParquetFile(path, schema) as file:
        for table in ahead(tables):
            file.write(table)


class ParquetFile:
    """A Parquet file that appears whole at its end, or not at all. Only columns that are dictionaries are coded as such
    where there are some; else the writer decides.

    Args:
        compression: snappy for what is streamed, zstd for what is small.
    """

    def __init__(self, path: Path, schema: pa.Schema, compression: str = "snappy"):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.partial = path, path.with_name(f".{path.name}.{os.getpid()}")
        coded = [field.name for field in schema if pa.types.is_dictionary(field.type)]
        self.writer = pq.ParquetWriter(self.partial, schema, compression=compression, use_dictionary=coded or True)

    def write(self, table: pa.Table) -> None:
        """Append."""
        self.writer.write_table(table)

    def close(self) -> None:
        """The end: the file gets its name."""
        self.writer.close()
        self.partial.replace(self.path)

    def abandon(self) -> None:
        """The end, without a file."""
        with contextlib.suppress(OSError):
            self.writer.close()
        self.partial.unlink(missing_ok=True)

    def __enter__(self) -> "ParquetFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


def ahead(parts: Iterator[Part]) -> Iterator[Part]:
    """The same parts, made in a thread of their own: reading and writing take one processor each."""
    found: queue.Queue[Any] = queue.Queue(maxsize=2)
    stopped = threading.Event()

    def work() -> None:
        try:
            for part in parts:
                found.put(part)
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
        while thread.is_alive():  # it may be waiting for a place in the queue
            with contextlib.suppress(queue.Empty):
                found.get(timeout=0.05)
