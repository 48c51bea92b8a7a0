"""What a driver is: pure functions from a device's parameters to operations, and from readings to facts.

A driver is one module of this package whose name is the driver's name; it implements the functions of `Driver`, and
`config/schemas/drivers/<name>.schema.json` describes its parameters. See docs/adding-a-driver.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from scripts.hosts.operations import Operation

Device = Mapping[str, Any]
"""Resolved parameters of a device: bytes, seconds, plain numbers, booleans, text; never with units."""


@dataclass(frozen=True)
class Facts:
    """What is known about a host before anything is made on it.

    Attributes:
        modules: names of kernel modules that can be loaded (underscores), built-in ones included.
        programs: names of programs on the path.
        kernel: release, as `uname -r` prints it.
        cpus: number of processors.
        unavailable: parts that could not be built or found, by name, with the reason (`{"rublk": "cargo: ..."}`).
        root: whether operations run with root's rights.
    """

    modules: frozenset[str]
    programs: frozenset[str]
    kernel: str
    cpus: int
    root: bool = True
    unavailable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Mismatch:
    """A parameter that the kernel changed without saying so."""

    parameter: str
    requested: Any
    actual: Any
    where: str

    def __str__(self) -> str:
        return f"{self.parameter}: asked for {self.requested}, the device has {self.actual} ({self.where})"


@dataclass(frozen=True)
class Description:
    """A device as it is: parameters read back, differences from what was asked, facts for the environment."""

    parameters: Mapping[str, Any]
    mismatches: Sequence[Mismatch] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)


class Driver(Protocol):
    """The functions every driver module has at its top level."""

    MODULES: Sequence[str]
    """Kernel modules that must be gone after `destroy`, in the order they are unloaded."""
    DAEMONS: Sequence[str]
    """comm names of user-space servers; on a deadline they are killed before fio (an I/O they hold never ends else)."""

    def requires(self, device: Device, facts: Facts) -> list[str]: ...
    def create(self, device: Device) -> list[Operation]: ...
    def readback(self, device: Device) -> list[Operation]: ...
    def describe(self, device: Device, readings: Mapping[str, str]) -> Description: ...
    def reset(self, device: Device) -> list[Operation]: ...
    def destroy(self, device: Device) -> list[Operation]: ...
    def gone(self, device: Device) -> list[Operation]: ...
    def node(self, device: Device) -> str: ...
