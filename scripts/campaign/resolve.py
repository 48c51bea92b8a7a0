"""From what a user wrote to what is measured: units resolved into the key's name, defaults filled in.

`size: 1g` becomes `size_bytes: 1073741824`, `runtime: 2s` becomes `runtime_s: 2`. A default is part of the result, so a
changed default is a changed measurement.
"""

from collections.abc import Mapping
from typing import Any

from scripts.campaign.units import parse_bytes, parse_seconds

SUFFIXES = {"bytes": "_bytes", "seconds": "_s"}


def resolve_value(value: Any, schema: Mapping[str, Any]) -> Any:
    """One value; lists are resolved item by item."""
    if isinstance(value, list):
        return [resolve_value(item, schema) for item in value]
    if schema.get("flag"):
        return bool(value)
    if schema.get("unit") == "bytes":
        return parse_bytes(value)
    if schema.get("unit") == "seconds":
        return parse_seconds(value)
    if isinstance(value, float) and value.is_integer() and schema.get("type") == "integer":
        return int(value)
    return value


def resolved_key(key: str, schema: Mapping[str, Any]) -> str:
    """The key with its unit."""
    return key + SUFFIXES.get(schema.get("unit", ""), "")


def resolve(values: Mapping[str, Any], properties: Mapping[str, Mapping[str, Any]], defaults: bool) -> dict[str, Any]:
    """Resolve a mapping of keys that the properties know; with `defaults`, absent keys that have one are added."""
    result = {}
    for key, schema in properties.items():
        if key in values:
            result[resolved_key(key, schema)] = resolve_value(values[key], schema)
        elif defaults and "default" in schema:
            result[resolved_key(key, schema)] = resolve_value(schema["default"], schema)
    return result
