"""Rows -> Parquet files that appear whole."""

import contextlib
import os
import queue
import threading
from collections.abc import Iterable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

Part = TypeVar("Part")


def table_of(rows: Iterable[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """A table of the schema; keys it does not have are ignored, absent ones are null."""
    listed = list(rows)
    used = set().union(*listed)
    arrays = [
        pa.array(list(map(dict.get, listed, repeat(field.name))), type=field.type)
        if field.name in used
        else pa.nulls(len(listed), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def write_table(table: pa.Table, path: Path) -> None:
    """One table as a file."""
    with ParquetFile(path, table.schema) as file:
        file.write(table)


def write_tables(tables: Iterator[pa.Table], schema: pa.Schema, path: Path) -> None:
    """Write tables one after the other into one file; each is made while the one before is written."""
    with ParquetFile(path, schema) as file:
        for table in ahead(tables):
            file.write(table)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column holds texts, each of which may stand there often."""
    return bool(pa.types.is_dictionary(kind) or pa.types.is_string(kind))


class ParquetFile:
    """A Parquet file that appears whole at its end, or not at all. Only texts are coded as dictionaries: figures hardly
    repeat, and trying costs a third of the time and makes the file larger.
    """

    def __init__(self, path: Path, schema: pa.Schema):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.partial = path, path.with_name(f".{path.name}.{os.getpid()}")
        coded = [field.name for field in schema if is_text(field.type)]
        ranged = [field.name for field in schema if not pa.types.is_dictionary(field.type)]
        self.writer = pq.ParquetWriter(
            self.partial,
            schema,
            compression="snappy",
            use_dictionary=coded or False,
            write_statistics=ranged or False,
        )

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
