"""The order of runs: rounds of blocks of variants, shuffled by a recorded seed.

A round is sample k of every cell; a block is every variant of a cell, back to back. The place of a block comes from a
hash of seed, round and cell, so that a new cell or variant leaves the order of the others as it was.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence


def shuffled(items: Iterable[str], *salt: object) -> list[str]:
    """Items in the order of their hashes with the salt."""

    def key(item: str) -> bytes:
        return hashlib.sha256("\0".join([*map(str, salt), item]).encode()).digest()

    return sorted(items, key=key)


def schedule(
    seed: int, rounds: int, cells: Sequence[str], variants: Sequence[str]
) -> Iterator[tuple[int, int, str, str]]:
    """(round, block, cell, variant) in the order of execution; rounds and blocks count from 1."""
    for number in range(1, rounds + 1):
        for block, cell in enumerate(shuffled(cells, seed, number), start=1):
            for variant in shuffled(variants, seed, number, cell):
                yield number, block, cell, variant
