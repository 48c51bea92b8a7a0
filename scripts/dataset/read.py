"""Reading runs.parquet of any version of its schema."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from scripts.dataset.schema import SCHEMA, VERSION

RENAMED: dict[int, dict[str, str]] = {}
"""{version: {old name: new name}}: what later versions renamed. Removed columns stand nowhere and are dropped."""


class SchemaError(Exception):
    """Not a file of ours, or one of a newer version; the text says which."""


def version_of(path: Path) -> int:
    """Version of the schema that a runs.parquet was written with.

    Raises:
        SchemaError: it is none. OSError: it can not be read.
    """
    try:
        metadata = pq.read_schema(path).metadata or {}
    except pa.ArrowInvalid as error:
        raise SchemaError(f"{path}: no Parquet file ({error})") from error
    if metadata.get(b"blkcampaign_schema") != b"runs":
        raise SchemaError(f"{path}: a Parquet file, but not a runs.parquet of blkcampaign")
    found = int(metadata.get(b"blkcampaign_schema_version", b"0"))
    if found > VERSION:
        raise SchemaError(f"{path}: written by a newer blkcampaign (schema {found}, this one knows {VERSION})")
    return found


def read_runs(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Rows in today's schema: columns that the file lacks are null, whatever its version.

    Raises:
        SchemaError, OSError: see `version_of`.
    """
    version = version_of(path)
    back = {new: old for v in range(version, VERSION) for old, new in RENAMED.get(v, {}).items()}
    there = set(pq.read_schema(path).names)
    wanted = [field for field in SCHEMA if columns is None or field.name in columns]
    names = {field.name: back.get(field.name, field.name) for field in wanted}
    table = pq.read_table(path, columns=[old for old in names.values() if old in there])
    arrays = [
        table[names[f.name]].cast(f.type) if names[f.name] in there else pa.nulls(len(table), f.type) for f in wanted
    ]
    return pa.table(arrays, schema=pa.schema(wanted, metadata=SCHEMA.metadata))
