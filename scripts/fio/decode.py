"""Bytes -> Document. Strict and typed first; only what that refuses is looked at again, tolerantly.

Tolerated, each with a warning: a byte-order mark, text before and after, several documents (the last one counts),
control characters in texts, bytes that are not UTF-8, nan and inf (become null), keys that stand there twice.
Refused: nothing, no JSON, a document that ends too early (with the byte offset), a value of a wrong kind.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from scripts.fio.document import DECODER, Document

BOM = b"\xef\xbb\xbf"
NOT_A_NUMBER = re.compile(r"(?<=[:\[,\s])-?(?:nan|inf(?:inity)?)(?=\s*[,}\]])", re.IGNORECASE)
ESCAPED = re.compile("[\udc80-\udcff]")
MAX_SKIPPED = 20


class Refused(Exception):
    """fio's output can not be read; the text says why and where."""


@dataclass
class Decoded:
    """A document, and what was skipped or bent on the way to it."""

    document: Document
    warnings: list[str] = field(default_factory=list)
    documents: int = 1


def decode(data: bytes) -> Decoded:
    """Decode one file.

    Raises:
        Refused: with the reason.
    """
    try:
        if not data.isascii():
            data.decode()  # the decoder does not look into what it only passes on (options, bins)
        document = DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return tolerant(data)
    if document.jobs is None and document.client_stats is None:
        raise Refused("JSON, but not fio's: it has neither jobs nor client_stats")
    return Decoded(document)


def tolerant(data: bytes) -> Decoded:
    """The second look."""
    if not data.strip():
        raise Refused("the file is empty" if not data else "the file has only blanks")
    warnings = []
    if data.startswith(BOM):
        data = data[len(BOM) :]
        warnings.append("byte-order mark skipped")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        # a JSON string may hold no lone backslash: each byte becomes the four characters \\xe9
        text = ESCAPED.sub(lambda m: f"\\\\x{ord(m[0]) - 0xDC00:02x}", data.decode("utf-8", "surrogateescape"))
        warnings.append(f"not UTF-8 at byte {error.start}: shown with a backslash")
    changed = NOT_A_NUMBER.sub("null", text)
    if changed != text:
        warnings.append("nan or inf read as unknown")
    found, skipped = documents_of(changed)
    if not found:
        raise Refused(what_it_is(text))
    for part in skipped:
        warnings.extend(f"skipped: {line.strip()[:200]}" for line in part.splitlines()[:MAX_SKIPPED] if line.strip())
    if len(found) > 1:
        warnings.append(f"{len(found)} documents; the last one counts")
    raw, repeated = found[-1]
    warnings.extend(f"key {key!r} stands there more than once" for key in repeated)
    try:
        document = DECODER.decode(json.dumps(raw).encode())
    except msgspec.DecodeError as error:
        raise Refused(f"unexpected content: {error}") from error
    return Decoded(document, warnings, len(found))


def mapping_of(data: bytes) -> dict[str, Any]:
    """fio's document as plain JSON, to be kept as it is.

    Raises:
        Refused: see `decode`.
    """
    try:
        found = json.loads(data)
    except ValueError:
        documents, _ = documents_of(data.decode("utf-8", "replace"))
        found = documents[-1][0] if documents else None
    if not isinstance(found, dict):
        raise Refused("not fio's JSON")
    return found


KINDS = (
    ("fio's terse output", re.compile(r"^\d;(?:fio-[^;]*;)?[^;]*;\d+;\d+;\d+;", re.MULTILINE)),
    ("fio's human-readable output", re.compile(r"^.*: \(g(?:roupid)?=\d+\): (?:rw=|err=)", re.MULTILINE)),
    ("a log file of fio", re.compile(r"\A\s*\d+,\s*\d+,(?:\s*\d+,?)+\s*$", re.MULTILINE)),
    ("fio's messages only", re.compile(r"\Afio(?:-[\d.]+\S*)?: |^No job\(?s?\)? defined", re.MULTILINE)),
)


def what_it_is(text: str) -> str:
    """What a file without fio's JSON holds instead."""
    for kind, pattern in KINDS:
        if pattern.search(text):
            return f"{kind}, not its JSON: {first_words(text)}"
    return f"not fio's JSON: {first_words(text)}"


def first_words(text: str) -> str:
    """The beginning of a text, on one line."""
    words = " ".join(text.split())
    return repr(words[:80] + ("..." if len(words) > 80 else ""))


def documents_of(text: str) -> tuple[list[tuple[dict[str, Any], list[str]]], list[str]]:
    """All of fio's documents in a text with the keys repeated in them, and the texts between them.

    Raises:
        Refused: a document begins and does not end.
    """
    repeated: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        twice: set[str] = set()
        for key, value in items:
            if key in result and key != "0.00":  # fio <= 3.3 pads percentiles with "0.00"
                if isinstance(value, str) and isinstance(result[key], str | list):
                    earlier = result[key] if key in twice else [result[key]]
                    result[key] = [*earlier, value]
                    twice.add(key)
                    continue
                repeated.append(key)
            result[key] = value
        return result

    decoder = json.JSONDecoder(object_pairs_hook=pairs, strict=False)
    found: list[tuple[dict[str, Any], list[str]]] = []
    skipped: list[str] = []
    position = 0
    while (start := text.find("{", position)) >= 0:
        repeated.clear()
        try:
            value, end = decoder.raw_decode(text, start)
        except RecursionError:
            raise Refused("nested too deeply") from None
        except ValueError as error:
            at = error.pos if isinstance(error, json.JSONDecodeError) else start
            if looks_like_fio(text, start) and "}" not in text[at:].strip().rstrip("]"):
                offset = len(text[:at].encode("utf-8", "replace"))
                raise Refused(f"truncated: the document that begins at byte {start} ends at byte {offset}") from None
            if looks_like_fio(text, start):
                where = len(text[:at].encode("utf-8", "replace"))
                raise Refused(f"damaged at byte {where}: {getattr(error, 'msg', error)}") from None
            following = text.find("\n", start)
            if following < 0:
                break
            skipped.append(text[position:following])
            position = following
            continue
        if isinstance(value, dict) and ("jobs" in value or "client_stats" in value):
            found.append((value, list(repeated)))
            skipped.append(text[position:start])
        else:
            skipped.append(text[position:end])
        position = end
    skipped.append(text[position:])
    return found, skipped


def looks_like_fio(text: str, start: int) -> bool:
    """Whether a brace begins a document of fio: alone, or followed by fio's first key."""
    rest = text[start + 1 : start + 200].lstrip()
    return not rest or rest.startswith(
        ('"fio version"', '"timestamp"', '"client_stats"', '"jobs"', '"global options"', '"')
    )


def options_of(raw: msgspec.Raw) -> tuple[dict[str, Any], list[str]]:
    """Options as a mapping; an option that stands there twice has a list. Second: keys that do.

    fio writes options that were given several times (filename) as repeated keys; a plain decode keeps the last only.
    """
    data = bytes(raw)
    if not data or data == b"null":
        return {}, []
    plain = msgspec.json.decode(data)
    if isinstance(plain, list):  # one mapping a host (client/server since 3.39)
        merged: dict[str, Any] = {}
        for part in plain:
            merged.update(part if isinstance(part, dict) else {})
        return merged, []
    if not isinstance(plain, dict):
        return {}, []
    lists = [key for key, value in plain.items() if isinstance(value, list)]
    if data.count(b":") == len(plain):
        return plain, lists
    twice: set[str] = set(lists)

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in items:
            if key in result:
                result[key] = [*(result[key] if key in twice else [result[key]]), value]
                twice.add(key)
            else:
                result[key] = value
        return result

    return json.loads(data, object_pairs_hook=pairs), sorted(twice)
