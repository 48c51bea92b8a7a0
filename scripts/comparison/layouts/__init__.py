"""Layouts: how a campaign's comparison is laid out as tables. One small file each, with a function

    tables(frame: Frame, options: Mapping[str, Any]) -> list[Table]

and a file name that is the layout's name with `-` as `_`.
"""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scripts.comparison.frame import Frame
from scripts.comparison.table import Table

Layout = Callable[[Frame, Mapping[str, Any]], list[Table]]


def names() -> list[str]:
    """All layouts."""
    files = Path(__file__).parent.glob("*.py")
    return sorted(path.stem.replace("_", "-") for path in files if path.stem != "__init__")


def layout(name: str) -> Layout:
    """A layout's function.

    Raises:
        KeyError: there is none of this name.
    """
    if name not in names():
        raise KeyError(f"no layout {name!r}; there are: {', '.join(names())}")
    module = importlib.import_module(f"scripts.comparison.layouts.{name.replace('-', '_')}")
    return module.tables
