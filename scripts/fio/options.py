"""fio's options in its output: repeated keys are lists, a job's win over the global ones."""

import json
from typing import Any

import msgspec

from scripts.fio.clean import cleaned

Options = dict[str, Any]


def options_of(raw: msgspec.Raw) -> tuple[Options, list[str]]:
    """Options as a mapping, and warnings; an option that stands there several times has a list.

    fio writes options that were given several times (filename) as repeated keys; a plain decode keeps the last only.
    """
    data = bytes(raw)
    if not data or data == b"null":
        return {}, []
    try:
        plain = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return repeated_options(data)
    if isinstance(plain, list):
        return of_all_hosts(plain)
    if not isinstance(plain, dict):
        return {}, ["options are no mapping: unknown"]
    if data.count(b":") != len(plain) or any(isinstance(value, int | float) for value in plain.values()):
        return repeated_options(data)  # fio writes texts only; a number may be one that does not fit
    lists = [key for key, value in plain.items() if isinstance(value, list)]
    return plain, [said(key) for key in lists]


def said(key: str) -> str:
    """The warning for an option that stands there several times."""
    return f"option {key!r} was given several times"


def repeated_options(data: bytes) -> tuple[Options, list[str]]:
    """The slow way, which sees repeated keys and forgives numbers that are too large."""
    warnings: list[str] = []
    twice: set[str] = set()

    def pairs(items: list[tuple[str, Any]]) -> Options:
        result: Options = {}
        for key, value in items:
            if key in result:
                result[key] = [*(result[key] if key in twice else [result[key]]), value]
                twice.add(key)
            else:
                result[key] = value
        return result

    try:
        found = cleaned(json.loads(data, object_pairs_hook=pairs), warnings.append, texts=True)
    except (ValueError, RecursionError):
        return {}, ["options can not be read: unknown"]
    if isinstance(found, list):
        return of_all_hosts(found)
    if not isinstance(found, dict):
        return {}, ["options are no mapping: unknown"]
    twice |= {key for key, value in found.items() if isinstance(value, list)}
    return found, [*warnings, *(said(key) for key in sorted(twice))]


def of_all_hosts(parts: list[Any]) -> tuple[Options, list[str]]:
    """Global options of client/server mode (fio 3.39): one mapping a host. What differs is nobody's for certain."""
    mappings = [part for part in parts if isinstance(part, dict)]
    merged: Options = {}
    for part in mappings:
        merged.update(part)
    differ = [key for key in merged if any(part.get(key) != merged[key] for part in mappings)]
    for key in differ:
        del merged[key]
    return merged, [f"global option {key!r} differs between hosts: unknown" for key in differ]
