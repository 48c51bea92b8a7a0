"""Bytes -> Document. Strict and typed first; only what that refuses is looked at again, tolerantly.

Tolerated, each with a warning: a byte-order mark, UTF-16, text before and after, several documents (the last one
counts), control characters and wrong escapes in texts, bytes that are not UTF-8, keys that stand there twice, whole
numbers written as text or with a fraction of zero. Nan and inf, numbers of more than 64 bits and negative counts become
unknown. Refused: nothing, no JSON, a document that ends too early (with the byte), a value of a wrong kind.
"""

import codecs
import json
import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from scripts.fio.clean import cleaned
from scripts.fio.document import DECODER, LAX_DECODER, Document
from scripts.fio.kinds import what_it_is
from scripts.fio.repeated import may_repeat, repeated_keys
from scripts.fio.scan import Refused, documents_of

__all__ = ["Decoded", "Refused", "decode", "mapping_of"]

BOM = codecs.BOM_UTF8
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
NOT_UTF_8 = re.compile("[\udc80-\udcff]")
MAX_SKIPPED = 20
MAX_BENT = 20


@dataclass
class Decoded:
    """A document, and what was skipped or bent on the way to it.

    Attributes:
        documents: how many there were; the last one counts. data: what the strict decoder read, empty where it did not.
    """

    document: Document
    warnings: list[str] = field(default_factory=list)
    documents: int = 1
    data: bytes = b""
    bent: frozenset[str] = frozenset()

    def repeated(self) -> frozenset[str]:
        """Keys that stand twice in some object: which of their values is meant is not known."""
        return repeated_keys(self.data) if self.data else self.bent

    def has_bins(self) -> bool:
        """Whether it may have histograms."""
        return not self.data or b'"bins"' in self.data


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
    return tolerant(data) if may_repeat(data) else Decoded(document, data=data)


def tolerant(data: bytes) -> Decoded:
    """The second look."""
    if not data.strip(b" \t\r\n\0"):
        raise Refused("the file is empty" if not data else "the file has only blanks")
    text, warnings = text_of(data)
    found = documents_of(text, len(data))
    if not found.documents:
        raise Refused(what_it_is(text))
    warnings += found.mended
    for part in found.skipped:
        lines = [line.strip() for line in part.splitlines() if line.strip()]
        warnings.extend(f"skipped: {line[:200]}" for line in lines[:MAX_SKIPPED])
        if len(lines) > MAX_SKIPPED:
            warnings.append(f"skipped: and {len(lines) - MAX_SKIPPED} lines more")
    if len(found.documents) > 1:
        warnings.append(f"{len(found.documents)} documents; the last one counts")
    raw, repeated = found.documents[-1]
    bent = [f"key {key!r} stands there more than once" for key in repeated]
    try:
        document = LAX_DECODER.decode(json.dumps(cleaned(raw, bent.append)).encode())
    except RecursionError:
        raise Refused("nested too deeply") from None
    except msgspec.DecodeError as error:
        raise Refused(f"unexpected content: {error}") from error
    bent = list(dict.fromkeys(bent))
    if len(bent) > MAX_BENT:
        bent[MAX_BENT:] = [f"and {len(bent) - MAX_BENT} oddities more"]
    return Decoded(document, warnings + bent, len(found.documents), bent=frozenset(repeated))


def text_of(data: bytes) -> tuple[str, list[str]]:
    """The file as text, and warnings about its encoding."""
    if data.startswith(UTF_16):
        return data.decode("utf-16", "replace"), ["UTF-16 read as text"]
    if len(data) >= 4 and not (data[0] and data[1]) and (data[0] or data[1]):
        byte_order = "utf-16-le" if data[0] else "utf-16-be"
        return data.decode(byte_order, "replace"), [f"{byte_order.upper()} without a byte-order mark read as text"]
    warnings = []
    if data.startswith(BOM):
        data = data[len(BOM) :]
        warnings.append("byte-order mark skipped")
    try:
        return data.decode("utf-8"), warnings
    except UnicodeDecodeError as error:
        warnings.append(f"not UTF-8 at byte {error.start}: shown with a backslash")
    # a JSON string may hold no lone backslash: each byte becomes the four characters \\xe9
    escaped = NOT_UTF_8.sub(lambda m: f"\\\\x{ord(m[0]) - 0xDC00:02x}", data.decode("utf-8", "surrogateescape"))
    return escaped, warnings


def mapping_of(data: bytes) -> dict[str, Any]:
    """fio's document as plain JSON, to be kept as it is.

    Raises:
        Refused: see `decode`.
    """
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        documents = documents_of(text_of(data)[0]).documents
        found = documents[-1][0] if documents else None
    if not isinstance(found, dict):
        raise Refused("not fio's JSON")
    return found
