"""JSON of any kind -> values that the dataset can hold. What it can not hold becomes unknown, and that is said."""

import math
from collections.abc import Callable
from typing import Any

from scripts.fio.limits import COUNTS, MAX_INT

Say = Callable[[str], None]


def cleaned(value: Any, say: Say, key: str = "") -> Any:
    """A copy without numbers that are not finite or have more than 64 bits, negative counts, and broken surrogates.

    Numbers in quotes are left: the lax decoder reads them. `say` is called with a warning for everything changed.
    """
    if isinstance(value, dict):
        return {text_of(k, say): cleaned(v, say, k) for k, v in value.items()}
    if isinstance(value, list):
        return [cleaned(item, say, key) for item in value]
    if isinstance(value, str):
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
