"""JSON of any kind -> values that the dataset can hold. What it can not hold becomes unknown, and that is said."""

import math
from collections.abc import Callable
from typing import Any

from scripts.fio.limits import COUNTS, MAX_INT, MAX_TIME

Say = Callable[[str], None]
NUMBERS = COUNTS | {"error", "groupid", "port", "timestamp", "timestamp_ms", "job_start"}
TIMES = frozenset({"min", "max", "percentile", "latency_target"})
OPTIONS = ("job options", "global options")


def cleaned(value: Any, say: Say, key: str = "", texts: bool = False) -> Any:
    """A copy without numbers that are not finite or have more than 64 bits, negative counts, and broken surrogates.

    Numbers in quotes are left: the lax decoder reads them. `say` is called with a warning for everything changed.
    With `texts` quotes are as they should be: options are.
    """
    if isinstance(value, dict):
        inside = "percentile" if key == "percentile" else ""
        texts = texts or key in OPTIONS
        found = {text_of(k, say): cleaned(v, say, inside or k, texts) for k, v in value.items()}
        return {k: v for k, v in found.items() if v is not None} if inside else found
    if isinstance(value, list):
        return [cleaned(item, say, key, texts) for item in value]
    if isinstance(value, str):
        if key in NUMBERS and not texts:
            say(f"{key} is in quotes: read as a number")
        return text_of(value, say)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            say(f"{key} is not a finite number: unknown")
            return None
        if value == int(value) and abs(value) <= 2**53:
            value = int(value)
    if isinstance(value, int) and not -MAX_INT - 1 <= value <= MAX_INT:
        say(f"{key} has more than 64 bits: unknown")
        return None
    if key in TIMES and value > MAX_TIME:
        say(f"{key} is longer than 64 bits can hold in ns: unknown")
        return None
    if key in COUNTS and value < 0:
        say(f"{key} is negative ({value}): unknown")
        return None
    return value


def text_of(text: str, say: Say) -> str:
    """A text that can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        say("half a character in a text: shown with a backslash")
        return text.encode("utf-8", "backslashreplace").decode()
    return text
