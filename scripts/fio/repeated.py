"""Keys that stand twice in one object of fio's JSON: every decoder takes the last one in silence, and data is lost.

Options that were given several times are no mistake, and fio up to 3.3 pads its percentiles with `"0.00"`.
"""

import json
import re
from typing import Any

MOST_SHAPES = 10_000
FIGURES = b"0123456789."
BINS = re.compile(rb'"bins"\s*:\s*\{[^{}]*\}')
PADDING = "0.00"
_shapes: set[int] = set()
"""Shapes without a repeated key."""


class Pairs:
    """Object hook: an option that was given several times becomes a list, other repeated keys are remembered."""

    def __init__(self) -> None:
        self.repeated: list[str] = []

    def __call__(self, items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) == len(items):
            return result
        result.clear()
        twice: set[str] = set()
        for key, value in items:
            if key in result and key != PADDING:
                if isinstance(value, str) and isinstance(result[key], str | list):
                    earlier = result[key] if key in twice else [result[key]]
                    result[key] = [*earlier, value]
                    twice.add(key)
                    continue
                self.repeated.append(key)
            result[key] = value
        return result


def repeated_keys(data: bytes) -> frozenset[str]:
    """All of them, of a whole document that a strict decoder has read."""
    pairs = Pairs()
    json.loads(data, object_pairs_hook=pairs)
    return frozenset(pairs.repeated)


def may_repeat(data: bytes) -> bool:
    """Whether a document has to be looked through: thousands of results have the same shape, and one look is enough.

    A shape is all that is no figure, so it does not tell percentiles apart; rows.py looks at those.
    """
    plain = BINS.sub(b'"bins":0', data) if b'"bins"' in data else data
    shape = hash(plain.translate(None, FIGURES))
    if shape in _shapes:
        return False
    if repeated_keys(plain):
        return True
    if len(_shapes) < MOST_SHAPES:
        _shapes.add(shape)
    return False
