"""fio's options in its output: repeated keys are lists, a job's win over the global ones."""

import json
from typing import Any

import msgspec

from scripts.fio.clean import cleaned

Options = dict[str, Any]
PLACE = ("hostname", "port")
"""Of the client: what its entry of a list of global options begins with."""


Found = tuple[Options, list[str], bool]
"""Options, warnings, and whether some that were given may be missing."""


def options_of(raw: msgspec.Raw, host: str | None = None, port: int | None = None) -> Found:
    """Options as a mapping; one that stands there several times has a list.

    fio writes options that were given several times (filename) as repeated keys; a plain decode keeps the last only.

    Args:
        host, port: of a client, whose global options stand in a list with those of the others.
    """
    data = bytes(raw)
    if not data or data == b"null":
        return {}, [], False
    try:
        plain = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return repeated_options(data, host, port)
    if isinstance(plain, list):
        return of_one_host(plain, host, port)
    if not isinstance(plain, dict):
        return {}, ["options are no mapping: unknown"], True
    if data.count(b":") != len(plain) or any(isinstance(value, int | float) for value in plain.values()):
        return repeated_options(data, host, port)  # fio writes texts only; a number may be one that does not fit
    lists = [key for key, value in plain.items() if isinstance(value, list)]
    return plain, [said(key) for key in lists], False


def last(value: Any) -> Any:
    """What fio takes of an option that was given several times."""
    return value[-1] if isinstance(value, list) and value else value


def said(key: str) -> str:
    """The warning for an option that stands there several times."""
    return f"option {key!r} was given several times"


def repeated_options(data: bytes, host: str | None, port: int | None) -> Found:
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
        return {}, ["options can not be read: unknown"], True
    if isinstance(found, list):
        return of_one_host(found, host, port)
    if not isinstance(found, dict):
        return {}, ["options are no mapping: unknown"], True
    twice |= {key for key, value in found.items() if isinstance(value, list)}
    return found, [*warnings, *(said(key) for key in sorted(twice))], False


def of_one_host(parts: list[Any], host: str | None, port: int | None) -> Found:
    """Global options of client/server mode (fio 3.39): one mapping a host, with its name and port.

    Without a host, or where its name does not tell, what differs is nobody's for certain.
    """
    mappings = [part for part in parts if isinstance(part, dict)]
    named = [part for part in mappings if host and last(part.get("hostname")) == host]
    if len(named) > 1 and port is not None:
        named = [part for part in named if str(last(part.get("port"))) == str(port)]
    if len(named) == 1:
        return {key: value for key, value in named[0].items() if key not in PLACE}, [], False
    merged: Options = {}
    for part in mappings:
        merged.update(part)
    differ = [key for key in merged if any(part.get(key) != merged[key] for part in mappings)]
    for key in differ:
        del merged[key]
    lost = [key for key in differ if key not in PLACE]
    return merged, [f"global option {key!r} differs between hosts: unknown" for key in lost], bool(lost)
