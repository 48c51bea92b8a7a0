"""loop, a block device over a file. One hardware queue; its depth is a parameter of the module.

The number is far above the ones that `losetup --find` gives out, since others may use loop devices on the same machine.
An unbound loop device keeps its scheduler and nr_requests, so the module is unloaded where nobody else uses it.
"""

from collections.abc import Mapping
from dataclasses import replace

from scripts.drivers import backing, configfs, module, queue, zones
from scripts.drivers.base import Description, Device, Facts, Mismatch
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

MODULES = ("loop",)
DAEMONS: tuple[str, ...] = ()
DISK = "loop77"
BOUND = f"/sys/block/{DISK}/loop"
SHOWN = ("backing_file", "dio", "offset", "sizelimit")


def image(device: Device) -> str:
    """The backing file."""
    return f"{backing.directory(device)}/image"


def check(device: Device) -> list[str]:
    """Contradictions in the request."""
    return zones.whole_mib_problems(device, "loop", "size_bytes")


def requires(device: Device, facts: Facts) -> list[str]:
    """Reasons why this machine can not have the device."""
    modules, programs = backing.requirements(device)
    return module.missing(facts, (*MODULES, *modules), ("losetup", *programs))


def create(device: Device) -> list[Operation]:
    """Backing file, module (which may be loaded already, then with its own depth), and a device on the file."""
    direct = "on" if device["direct_io"] else "off"
    return [
        op.absent(BOUND, message=f"/dev/{DISK} is in use already"),
        *backing.create(device),
        op.execute("truncate", "-s", device["size_bytes"], image(device)),
        op.execute("modprobe", "loop", "max_loop=0", f"hw_queue_depth={device['queue_depth']}"),
        op.wait_for("/dev/loop-control"),
        op.execute(
            "losetup", f"--direct-io={direct}", "--sector-size", device["block_size_bytes"], node(device), image(device)
        ),
        *queue.settle(DISK, device),
    ]


def readback(device: Device) -> list[Operation]:
    """Read the queue, and what the device is bound to."""
    return [
        *queue.readings(DISK),
        *(op.read(f"{BOUND}/{name}", label=f"loop/{name}") for name in SHOWN),
        op.read("/sys/module/loop/parameters/hw_queue_depth", label="hw_queue_depth", optional=True),
        *module.readings("loop"),
        *backing.readings(device),
    ]


def describe(device: Device, readings: Mapping[str, str]) -> Description:
    """Compare with sysfs: direct I/O is dropped without an error where the file system can not do it."""
    shown = queue.described(DISK, device, readings)
    bound = {f"loop/{name}": configfs.plain(readings[f"loop/{name}"]) for name in SHOWN}
    expected = {"loop/backing_file": image(device), "loop/dio": int(device["direct_io"])}
    names = {"loop/backing_file": "backing", "loop/dio": "direct_io"}
    mismatches = [
        Mismatch(names[key], value, bound[key], f"{BOUND}/{key.removeprefix('loop/')}")
        for key, value in expected.items()
        if bound[key] != value
    ]
    depth = {"loop/hw_queue_depth": configfs.plain(readings["hw_queue_depth"])} if "hw_queue_depth" in readings else {}
    return replace(
        shown,
        parameters={**shown.parameters, **bound, **depth},
        mismatches=[*shown.mismatches, *mismatches],
        environment={**shown.environment, **module.identity("loop", readings), **backing.facts(device, readings)},
    )


def prefill(device: Device) -> list[Operation]:
    """Give the image its blocks, for runs without prep."""
    return backing.write_through(device, node(device))


def reset(device: Device) -> list[Operation]:
    """Nothing: there are no zones."""
    return []


def destroy(device: Device) -> list[Operation]:
    """Unbind, unload where nobody else uses loop devices, remove the backing store."""
    return [
        op.execute("losetup", "--detach", node(device), allow=(0, 1), optional=True),
        op.wait_gone(BOUND, count=100, optional=True),
        *module.unload(*MODULES),
        *backing.destroy(device),
    ]


def gone(device: Device) -> list[Operation]:
    """Succeeds when nothing is bound and the backing store is gone. The module may have other users."""
    return [op.wait_gone(BOUND), *backing.gone(device)]


def node(device: Device) -> str:
    """The device's node."""
    return f"/dev/{DISK}"
