"""Devices made through configfs (null_blk, rnull): writing attributes, and comparing what the driver made of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scripts.drivers import module
from scripts.drivers.base import Description, Device, Mismatch
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

MIB = 1 << 20
Table = Mapping[str, tuple[str, int]]
"""Attribute -> (our key, how many of our units one of the attribute's is), in the order of writing."""


def requested(table: Table, device: Device) -> dict[str, tuple[str, int]]:
    """The attributes that this device sets."""
    return {name: entry for name, entry in table.items() if device.get(entry[0]) is not None}


def settings(directory: str, table: Table, device: Device) -> list[Operation]:
    """Write the attributes."""
    return [
        op.write(f"{directory}/{name}", device[key] if unit == 1 else device[key] // unit)
        for name, (key, unit) in requested(table, device).items()
    ]


def readings(directory: str, names: Iterable[str]) -> list[Operation]:
    """Read attributes; one that this kernel lacks is not read."""
    return [op.read(f"{directory}/{name}", label=f"configfs/{name}", optional=True) for name in names]


def plain(text: str) -> Any:
    """An int where the text is one (Y and N are 1 and 0), else the text."""
    text = {"Y": "1", "N": "0"}.get(text.strip(), text.strip())
    return int(text) if text.lstrip("-").isdigit() else text


def removal(directory: str, modules: Sequence[str]) -> list[Operation]:
    """Power off, remove, unload."""
    return [
        op.write(f"{directory}/power", 0, optional=True),
        op.remove_directory(directory, optional=True),
        *module.unload(*modules),
    ]


def gone(directory: str, disk: str, modules: Sequence[str]) -> list[Operation]:
    """Succeeds when device and module are gone; a memory-backed device has returned its memory then."""
    return [op.absent(directory), op.wait_gone(f"/dev/{disk}"), *module.gone(*modules)]


def completed(
    shown: Description, parameters: Mapping[str, Any], mismatches: Sequence[Mismatch], identity: Mapping[str, Any]
) -> Description:
    """What the queue showed, with what configfs and the module showed; a parameter that both show wrong counts once."""
    known = {mismatch.parameter for mismatch in shown.mismatches}
    return replace(
        shown,
        parameters={**shown.parameters, **parameters},
        mismatches=[*shown.mismatches, *(m for m in mismatches if m.parameter not in known)],
        environment={**shown.environment, **identity},
    )


def compared(
    directory: str, table: Table, device: Device, read: Mapping[str, str]
) -> tuple[dict[str, Any], list[Mismatch]]:
    """(parameters read back in our units, differences from the request)."""
    parameters: dict[str, Any] = {}
    mismatches = []
    for name, (key, unit) in table.items():
        if f"configfs/{name}" not in read:
            continue
        actual = plain(read[f"configfs/{name}"])
        if isinstance(actual, int):
            actual *= unit
        parameters[f"configfs/{name}"] = actual
        wanted = device.get(key)
        if wanted is not None and actual != wanted:
            shown = bool(actual) if isinstance(wanted, bool) and actual in (0, 1) else actual
            mismatches.append(Mismatch(key, wanted, shown, f"{directory}/{name}"))
    return parameters, mismatches
