"""The tolerant look at a text: every document in it, what stands between them, and what had to be mended."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from scripts.fio.repeated import Pairs

MENDABLE = re.compile(
    r'"(?:[^"\\]|\\.)*"'  # a string: only its escapes may be wrong
    r"|(?<![\w.])[-+]?(?:nan|inf(?:inity)?)(?:\([^)]*\))?(?![\w.])",
    re.IGNORECASE | re.DOTALL,
)
ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})|\\', re.DOTALL)
FIRST_KEYS = tuple(f'"{key}"' for key in ("fio version", "timestamp", "timestamp_ms", "time", "client_stats", "jobs",
                                          "global options", "disk_util"))  # fmt: skip
MAX_FAILURES = 200
"""Braces that began no JSON. Behind so many only what looks like fio's is tried: a try costs the length of the text."""
MAX_TRIED = 64 << 20
"""So many characters may be looked at in vain."""
NOT_FINITE = "nan or inf read as unknown"
BAD_ESCAPE = "a backslash that escapes nothing is kept as it is"


class Refused(Exception):
    """fio's output can not be read; the text says why and where."""


@dataclass
class Found:
    """Documents of a text with the keys that stand twice in each, the texts around them, and what was mended."""

    documents: list[tuple[dict[str, Any], list[str]]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    size: int | None = None


def documents_of(text: str, size: int | None = None) -> Found:
    """All of fio's documents in a text; `size` is that of the file in bytes, where it is another than the text's.

    Raises:
        Refused: a document begins and does not end, or is damaged; with the byte.
    """
    found = Found(size=size)
    pairs = Pairs()

    def constant(_: str) -> None:
        note(found, NOT_FINITE)

    decoder = json.JSONDecoder(object_pairs_hook=pairs, strict=False, parse_constant=constant)
    position, mended_to, failures = 0, -1, 0
    most_failures = max(4, min(MAX_FAILURES, MAX_TRIED // max(len(text), 1)))
    while (start := text.find("{", position)) >= 0:
        if failures >= most_failures and not looks_like_fio(text, start):
            found.skipped.append(text[position : start + 1])
            position = start + 1
            continue
        pairs.repeated = []
        try:
            value, end = decoder.raw_decode(text, start)
        except RecursionError:
            raise Refused("nested too deeply") from None
        except ValueError as error:
            if mended_to < start and looks_like_fio(text, start):  # once: what is still wrong then stays damaged
                mended_to = start
                better = mended(text[start:], found)
                if better != text[start:]:
                    text = text[:start] + better
                    continue
            failures += 1
            position = after_damage(text, start, error, found, position)
            continue
        if isinstance(value, dict) and ("jobs" in value or "client_stats" in value):
            found.documents.append((value, pairs.repeated))
            found.skipped.append(text[position:start])
        else:
            found.skipped.append(text[position:end])
        position = end
    found.skipped.append(text[position:])
    return found


def note(found: Found, what: str) -> None:
    """Say once what was mended."""
    if what not in found.mended:
        found.mended.append(what)


def mended(text: str, found: Found) -> str:
    """The text with `nan` as null, and with backslashes that escape nothing doubled."""

    def one(match: re.Match[str]) -> str:
        token = match[0]
        if not token.startswith('"'):
            note(found, NOT_FINITE)
            return "null"
        if "\\" not in token:
            return token
        better = ESCAPE.sub(lambda m: m[0] if m[1] else "\\\\", token)
        if better != token:
            note(found, BAD_ESCAPE)
        return better

    return MENDABLE.sub(one, text)


def after_damage(text: str, start: int, error: ValueError, found: Found, position: int) -> int:
    """Where to look on behind a brace that begins no JSON.

    Raises:
        Refused: it begins a document of fio's.
    """
    at = error.pos if isinstance(error, json.JSONDecodeError) else start
    if looks_like_fio(text, start):
        where = len(text[:at].encode("utf-8", "replace"))
        if "}" not in text[at:].strip().rstrip("]"):
            begin = len(text[:start].encode("utf-8", "replace"))
            end = len(text.encode("utf-8", "replace")) if found.size is None else found.size
            raise Refused(f"truncated: the document that begins at byte {begin} ends at byte {end}") from None
        raise Refused(f"damaged at byte {where}: {getattr(error, 'msg', 'a number of thousands of digits')}") from None
    following = text.find("\n", start)
    following = len(text) if following < 0 else following
    found.skipped.append(text[position:following])
    return following


def looks_like_fio(text: str, start: int) -> bool:
    """Whether a brace begins a document of fio: alone, or followed by a key that stands first in some version."""
    rest = text[start + 1 : start + 200].lstrip()
    return not rest or rest.startswith(FIRST_KEYS)
