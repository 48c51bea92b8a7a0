"""What is wrong with a campaign or an option, in words a user can act on."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One fault: which key, what it has, what would be right, and the closest known name of an unknown key."""

    key: str
    value: Any
    allowed: str
    closest: str = ""

    def __str__(self) -> str:
        value = "" if self.value is None else f" = {self.value!r}"
        hint = f"; did you mean {self.closest!r}?" if self.closest else ""
        return f"{self.key}{value}: {self.allowed}{hint}"


class CampaignError(Exception):
    """All faults of one file (or of the command line) at once.

    Args:
        where: the file, or `--config`.
        problems: at least one.
    """

    def __init__(self, where: str, problems: Sequence[Problem]):
        self.where = where
        self.problems = list(problems)
        count = f"{len(self.problems)} errors" if len(self.problems) > 1 else "error"
        super().__init__("\n".join([f"{count} in {where}:", *(f"  {problem}" for problem in self.problems)]))


def closest(name: object, known: Iterable[str]) -> str:
    """The known name that looks most like `name`, or an empty text."""
    found = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.5)
    return found[0] if found else ""
