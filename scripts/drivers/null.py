"""fio's null engine: no device and no I/O at all; what fio itself costs. Needs nothing."""

from collections.abc import Mapping
from typing import Any

from scripts.drivers.base import Description, Device, Facts
from scripts.hosts.operations import Operation

MODULES: tuple[str, ...] = ()
DAEMONS: tuple[str, ...] = ()


def fio_options(device: Device) -> dict[str, Any]:
    """Options that this driver adds to every fio command: the engine, and a size, since there is no file to ask."""
    return {"ioengine": "null", "size_bytes": device["size_bytes"]}


def requires(device: Device, facts: Facts) -> list[str]:
    """Any machine has it."""
    return []


def create(device: Device) -> list[Operation]:
    """Nothing to make."""
    return []


def readback(device: Device) -> list[Operation]:
    """Nothing to read."""
    return []


def describe(device: Device, readings: Mapping[str, str]) -> Description:
    """The request, which nothing can change."""
    return Description({"size_bytes": device["size_bytes"]})


def reset(device: Device) -> list[Operation]:
    """Nothing to reset."""
    return []


def destroy(device: Device) -> list[Operation]:
    """Nothing to remove."""
    return []


def gone(device: Device) -> list[Operation]:
    """Nothing to check."""
    return []


def node(device: Device) -> str:
    """A name that stands for no file."""
    return "null"
