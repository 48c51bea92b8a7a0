"""What an import says of a file besides its figures: what was asked for, which axes vary, why it was refused."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from scripts.dataset.imports.mapping import canonical


def described(axes: Mapping[str, Any], options: Mapping[str, Any], requested: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that say what was asked for; null where an option has no plain value.

    Args:
        axes: of the options, with fio's defaults. requested: see evidence.py.
    """
    numbers = {key: value if isinstance(value := axes.get(key), int) else None for key in ("bs", "iodepth", "numjobs")}
    sizes = {key: canonical(key, options[key]) for key in ("size", "io_size") if key in options}
    return {
        "rw": text_of(axes.get("rw")) or None,
        "ioengine": text_of(axes.get("ioengine")) or None,
        "bs_bytes": numbers["bs"],
        "iodepth": numbers["iodepth"],
        "numjobs": numbers["numjobs"],
        "direct": None if "direct" not in axes else str(axes["direct"]) == "1",
        "requested_runtime_s": float(requested["runtime_s"]) if "runtime_s" in requested else None,
        "size_bytes": sizes.get("size") if isinstance(sizes.get("size"), int) else None,
        "io_size_bytes": sizes.get("io_size") if isinstance(sizes.get("io_size"), int) else None,
    }


def kind_of(reason: str) -> str:
    """A reason without what is particular to one file, for counting."""
    known = ("fio's ", "not fio's JSON", "a log file", "truncated", "damaged", "unsafe archive")
    text = reason.partition(":")[0] if reason.startswith(known) else reason
    return re.sub(r"\d{3,}", "N", text.partition(" at byte")[0])[:120]


def varying_axes(all_axes: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names of axes with more than one value, absence included, in the order of their first appearance."""
    listed = list({id(axes): axes for axes in all_axes}.values())  # many runs share one object
    names = dict.fromkeys(name for axes in listed for name in axes)
    return [name for name in names if len({text_of(axes.get(name)) for axes in listed}) > 1]


def text_of(value: Any) -> str:
    """An axis value as text."""
    return "" if value is None else str(value)
