"""Sizes and times as fio's option files write them, resolved to plain numbers.

All size suffixes are powers of two: 4k, 4kb, 4K, 4KiB are 4096. fio agrees for `4k`, but reads `64KiB` as 64000 unless
kb_base says otherwise; nobody who writes KiB means that, so fio is always given plain byte counts.
"""

import re
from decimal import Decimal

SIZE = re.compile(r"(?P<number>0x[0-9a-f]+|\d+(\.\d+)?)\s*(?P<unit>[kmgtp]?)(i?b)?", re.IGNORECASE)
TIME = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<unit>us|usec|ms|msec|s|sec|m|min|h|d)?", re.IGNORECASE)
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
SECONDS = {"us": "0.000001", "usec": "0.000001", "ms": "0.001", "msec": "0.001"}
LONGER = {None: 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
SIZE_ALLOWED = "a size in bytes such as 4096, 4k, 64KiB, 1g (all suffixes are powers of 1024)"
TIME_ALLOWED = "a time such as 30, 30s, 500ms, 2m, 1h (without a suffix: seconds)"


def parse_bytes(value: object) -> int:
    """Number of bytes.

    Raises:
        ValueError: the text says what is allowed.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    match = SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if not match:
        raise ValueError(SIZE_ALLOWED)
    text, unit = match["number"].lower(), match["unit"].lower()
    number = Decimal(int(text, 16)) if text.startswith("0x") else Decimal(text)
    result = number * 1024 ** POWERS[unit]
    if result != int(result):
        raise ValueError(SIZE_ALLOWED + "; this one is not a whole number of bytes")
    return int(result)


def bytes_as_fio_reads(text: str) -> int:
    """Number of bytes that fio makes of a size in its own options, with its default kb_base: 4k is 4096, 4KiB 4000.

    Raises:
        ValueError: no size.
    """
    match = SIZE.fullmatch(text.strip())
    number = parse_bytes(text)
    if match and match["unit"] and "i" in text.lower():
        power = POWERS[match["unit"].lower()]
        return number // 1024**power * 1000**power
    return number


def parse_seconds(value: object) -> int | float:
    """Seconds, an int where it is whole.

    Raises:
        ValueError: the text says what is allowed.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return int(value) if value == int(value) else value
    match = TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    if not match:
        raise ValueError(TIME_ALLOWED)
    unit = match["unit"].lower() if match["unit"] else None
    factor = Decimal(SECONDS[unit]) if unit in SECONDS else Decimal(LONGER[unit])
    seconds = Decimal(match["number"]) * factor
    return int(seconds) if seconds == int(seconds) else float(seconds)


def short_bytes(number: int) -> str:
    """The shortest exact binary form: 4096 -> 4k, 1536 -> 1536."""
    for unit in ("p", "t", "g", "m", "k"):
        size = 1024 ** POWERS[unit]
        if number and number % size == 0:
            return f"{number // size}{unit}"
    return str(number)


def axis_text(name: str, value: object) -> str:
    """An axis value in a row or a heading; sizes in binary units."""
    sizes = ("bs", "size", "io_size", "zone_size", "block_size", "zone_capacity")
    if name in sizes and isinstance(value, int) and not isinstance(value, bool):
        return short_bytes(value)
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(value)
