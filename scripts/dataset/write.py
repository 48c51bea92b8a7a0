"""Rows -> Parquet files that appear whole."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def table_of(rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """A table of the schema; keys it does not have are ignored, absent ones are null."""
    columns: dict[str, list[Any]] = {name: [] for name in schema.names}
    appends = [(name, columns[name].append) for name in schema.names]
    for row in rows:
        for name, append in appends:
            append(row.get(name))
    arrays = [pa.array(columns[field.name], type=field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


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
