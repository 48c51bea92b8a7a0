"""What a file without fio's JSON holds instead: said in the reason why it is refused."""

import re

KINDS = (
    ("fio's terse output", re.compile(r"^\d;(?:fio-[^;]*;)?[^;]*;\d+;\d+;\d+;", re.MULTILINE)),
    ("fio's human-readable output", re.compile(r"^.*: \(g(?:roupid)?=\d+\): (?:rw=|err=)", re.MULTILINE)),
    ("a log file of fio", re.compile(r"\A\s*\d+, *\d+,(?: *(?:0x[0-9a-f]+|\d+)(?:,|$))+", re.MULTILINE)),
    ("fio's messages only", re.compile(r"\Afio(?:-[\d.]+\S*)?: |^No job\(?s?\)? defined", re.MULTILINE)),
)
LOOKED_AT = 1 << 16
"""Characters; a text shows at its beginning what it is."""


def what_it_is(text: str) -> str:
    """The kind of a text, and its beginning."""
    for kind, pattern in KINDS:
        if pattern.search(text, 0, LOOKED_AT):
            return f"{kind}, not its JSON: {first_words(text)}"
    return f"not fio's JSON: {first_words(text)}"


def first_words(text: str) -> str:
    """The beginning of a text, on one line."""
    words = " ".join(text[:2000].split())
    return repr(words[:80] + ("..." if len(words) > 80 else ""))
