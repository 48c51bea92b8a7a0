"""rnull, the null block driver in Rust (module rnull_mod). One hardware queue of depth 256, no memory, no zones."""

from collections.abc import Mapping

from scripts.drivers import configfs, module, queue, zones
from scripts.drivers.base import Description, Device, Facts
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

MODULES = ("rnull_mod",)
DAEMONS: tuple[str, ...] = ()
DISK = "rnullb0"
CONFIG = f"/sys/kernel/config/rnull/{DISK}"
MIB = configfs.MIB
ATTRIBUTES = {
    "blocksize": ("block_size_bytes", 1),
    "size": ("size_bytes", MIB),
    "irqmode": ("irqmode", 1),
    "rotational": ("rotational", 1),
}


def check(device: Device) -> list[str]:
    """Contradictions in the request."""
    return zones.whole_mib_problems(device, "rnull", "size_bytes")


def requires(device: Device, facts: Facts) -> list[str]:
    """Reasons why this machine can not have the device."""
    return module.missing(facts, MODULES)


def create(device: Device) -> list[Operation]:
    """Load the module, make a device through configfs, power it on."""
    return [
        *module.vacant(*MODULES),
        op.execute("modprobe", "rnull_mod"),
        op.make_directory(CONFIG),
        *configfs.settings(CONFIG, ATTRIBUTES, device),
        op.write(f"{CONFIG}/power", 1),
        *queue.settle(DISK, device),
    ]


def readback(device: Device) -> list[Operation]:
    """Read the queue, configfs, and which build of the module it is."""
    return [*queue.readings(DISK), *configfs.readings(CONFIG, ATTRIBUTES), *module.readings("rnull_mod")]


def describe(device: Device, readings: Mapping[str, str]) -> Description:
    """Compare with sysfs and configfs."""
    shown = queue.described(DISK, device, readings)
    parameters, mismatches = configfs.compared(CONFIG, ATTRIBUTES, device, readings)
    return configfs.completed(shown, parameters, mismatches, module.identity("rnull_mod", readings))


def reset(device: Device) -> list[Operation]:
    """Nothing: there is no state."""
    return []


def destroy(device: Device) -> list[Operation]:
    """Power off, remove, unload."""
    return configfs.removal(CONFIG, MODULES)


def gone(device: Device) -> list[Operation]:
    """Succeeds when device and module are gone."""
    return configfs.gone(CONFIG, DISK, MODULES)


def node(device: Device) -> str:
    """The device's node."""
    return f"/dev/{DISK}"
