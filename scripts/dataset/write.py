"""Rows -> Parquet files that appear whole."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


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
    """Write under another name and rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        pq.write_table(table, partial, compression="zstd")
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
