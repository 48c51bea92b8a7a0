"""brd, the kernel's RAM disk: no queue, no scheduler; pages are allocated at the first write."""

from collections.abc import Mapping
from dataclasses import replace

from scripts.drivers import backing, module, queue
from scripts.drivers.base import Description, Device, Facts
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

MODULES = ("brd",)
DAEMONS: tuple[str, ...] = ()
DISK = "ram0"
KIB = 1 << 10
NO_SCHEDULER = {"scheduler": "none"}


def check(device: Device) -> list[str]:
    """Contradictions in the request."""
    size = device["size_bytes"]
    return [f"size = {size}: brd takes whole KiB, at least one"] if size % KIB or not size else []


def requires(device: Device, facts: Facts) -> list[str]:
    """Reasons why this machine can not have the device."""
    return module.missing(facts, MODULES)


def create(device: Device) -> list[Operation]:
    """Load the module with one disk."""
    return [
        *module.vacant(*MODULES),
        op.execute("modprobe", "brd", "rd_nr=1", f"rd_size={device['size_bytes'] // KIB}"),
        op.wait_for(node(device)),
    ]


def readback(device: Device) -> list[Operation]:
    """Read the queue's attributes, and the module's build."""
    return [*queue.readings(DISK), *module.readings("brd")]


def describe(device: Device, readings: Mapping[str, str]) -> Description:
    """Compare with sysfs. A disk without a request queue has no scheduler file: that is `none`."""
    shown = queue.described(DISK, device, readings)
    return replace(
        shown,
        parameters={**NO_SCHEDULER, **shown.parameters},
        environment={"queue/scheduler": "none", **shown.environment, **module.identity("brd", readings)},
    )


def prefill(device: Device) -> list[Operation]:
    """Allocate all pages, for runs without prep."""
    return backing.write_through(device, node(device))


def reset(device: Device) -> list[Operation]:
    """Nothing: written pages are the state to start from."""
    return []


def destroy(device: Device) -> list[Operation]:
    """Unload."""
    return module.unload(*MODULES)


def gone(device: Device) -> list[Operation]:
    """Succeeds when the module is gone; it has returned its memory then."""
    return [*module.gone(*MODULES), op.wait_gone(node(device))]


def node(device: Device) -> str:
    """The device's node."""
    return f"/dev/{DISK}"
