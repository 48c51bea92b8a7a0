"""rnull, the null block driver in Rust (module rnull_mod). One hardware queue of depth 256, no memory, no zones."""

from collections.abc import Mapping
from dataclasses import replace

from scripts.drivers import queue
from scripts.drivers.base import Description, Device, Facts, Mismatch
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

MODULES = ("rnull_mod",)
DAEMONS: tuple[str, ...] = ()
DISK = "rnullb0"
CONFIG = f"/sys/kernel/config/rnull/{DISK}"
MIB = 1 << 20
ATTRIBUTES = {
    "blocksize": ("block_size_bytes", 1),
    "size": ("size_bytes", MIB),
    "irqmode": ("irqmode", 1),
    "rotational": ("rotational", 1),
}


def check(device: Device) -> list[str]:
    """Contradictions in the request."""
    return [f"size = {device['size_bytes']}: rnull takes whole MiB"] if device["size_bytes"] % MIB else []


def requires(device: Device, facts: Facts) -> list[str]:
    """Reasons why this machine can not have the device."""
    return queue.missing(device, facts, MODULES)


def create(device: Device) -> list[Operation]:
    """Load the module, make a device through configfs, power it on."""
    settings = [op.write(f"{CONFIG}/{n}", device[k] // d if d > 1 else device[k]) for n, (k, d) in ATTRIBUTES.items()]
    return [
        op.absent("/sys/module/rnull_mod", message="rnull_mod is loaded already; unload it first"),
        op.execute("modprobe", "rnull_mod"),
        op.make_directory(CONFIG),
        *settings,
        op.write(f"{CONFIG}/power", 1),
        *queue.settle(DISK, device),
    ]


def readback(device: Device) -> list[Operation]:
    """Read the queue and configfs."""
    return [
        *queue.readings(DISK),
        *(op.read(f"{CONFIG}/{name}", label=f"configfs/{name}", optional=True) for name in ATTRIBUTES),
        op.read("/sys/module/rnull_mod/srcversion", label="srcversion", optional=True),
        op.read("/sys/module/rnull_mod/notes/.note.gnu.build-id", label="build_id", optional=True),
    ]


def describe(device: Device, readings: Mapping[str, str]) -> Description:
    """Compare with sysfs and configfs."""
    shown = queue.described(DISK, device, readings)
    mismatches = list(shown.mismatches)
    parameters = dict(shown.parameters)
    for name, (key, divisor) in ATTRIBUTES.items():
        if f"configfs/{name}" not in readings:
            continue
        actual = queue.number(readings[f"configfs/{name}"].replace("Y", "1").replace("N", "0"))
        if isinstance(actual, int):
            actual *= divisor
        parameters[f"configfs/{name}"] = actual
        if actual != device[key] and key not in {m.parameter for m in mismatches}:
            mismatches.append(Mismatch(key, device[key], actual, f"{CONFIG}/{name}"))
    environment = dict(shown.environment)
    build_id = readings.get("build_id", "").encode("utf-8", "surrogateescape")
    if build_id:
        environment["rnull_mod_build_id"] = build_id[16:].hex()  # 12 bytes of note header, "GNU\0", the id
    environment["rnull_mod_srcversion"] = readings.get("srcversion", "").strip() or "unknown"
    return replace(shown, parameters=parameters, mismatches=mismatches, environment=environment)


def reset(device: Device) -> list[Operation]:
    """Nothing: there is no state."""
    return []


def destroy(device: Device) -> list[Operation]:
    """Power off, remove, unload."""
    return [
        op.write(f"{CONFIG}/power", 0, optional=True),
        op.remove_directory(CONFIG, optional=True),
        *queue.unload(*MODULES),
    ]


def gone(device: Device) -> list[Operation]:
    """Succeeds when device and module are gone."""
    return [op.absent(CONFIG), op.wait_gone(f"/dev/{DISK}"), *queue.modules_gone(*MODULES)]


def node(device: Device) -> str:
    """The device's node."""
    return f"/dev/{DISK}"
