"""null_blk, the kernel's C null block driver, plain or zoned, configured through configfs."""

from collections.abc import Mapping
from dataclasses import replace

from scripts.drivers import queue, zones
from scripts.drivers.base import Description, Device, Facts, Mismatch
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

MODULES = ("null_blk",)
DAEMONS: tuple[str, ...] = ()
DISK = "nullb0"
CONFIG = f"/sys/kernel/config/nullb/{DISK}"
MIB = 1 << 20

# configfs attribute -> our key and its divisor, in the order they are written
ATTRIBUTES = {
    "size": ("size_bytes", MIB),
    "blocksize": ("block_size_bytes", 1),
    "submit_queues": ("queues", 1),
    "poll_queues": ("poll_queues", 1),
    "hw_queue_depth": ("queue_depth", 1),
    "queue_mode": ("queue_mode", 1),
    "irqmode": ("irqmode", 1),
    "completion_nsec": ("completion_nsec", 1),
    "memory_backed": ("memory_backed", 1),
    "discard": ("discard", 1),
    "blocking": ("blocking", 1),
    "home_node": ("home_node", 1),
    "use_per_node_hctx": ("use_per_node_hctx", 1),
    "cache_size": ("cache_size_bytes", MIB),
    "mbps": ("mbps", 1),
    "max_sectors": ("max_sectors", 1),
    "virt_boundary": ("virt_boundary", 1),
    "no_sched": ("no_sched", 1),
    "shared_tags": ("shared_tags", 1),
    "shared_tag_bitmap": ("shared_tag_bitmap", 1),
    "rotational": ("rotational", 1),
    "fua": ("fua", 1),
    "badblocks": ("badblocks", 1),
}
ZONE_ATTRIBUTES = {
    "zone_size": ("zone_size_bytes", MIB),
    "zone_capacity": ("zone_capacity_bytes", MIB),
    "zone_nr_conv": ("conventional_zones", 1),
    "zone_max_open": ("max_open_zones", 1),
    "zone_max_active": ("max_active_zones", 1),
    "zone_append_max_sectors": ("zone_append_max_sectors", 1),
    "zone_full": ("zone_full", 1),
}


def attributes(device: Device) -> dict[str, tuple[str, int]]:
    """configfs attributes that this device sets."""
    table = {**ATTRIBUTES, **({"zoned": ("zoned", 1), **ZONE_ATTRIBUTES} if device["zoned"] else {})}
    return {name: (key, divisor) for name, (key, divisor) in table.items() if device.get(key) is not None}


def check(device: Device) -> list[str]:
    """Contradictions in the request."""
    found = []
    for key in ("size_bytes", "cache_size_bytes", "zone_size_bytes", "zone_capacity_bytes"):
        if device.get(key) and device[key] % MIB:
            found.append(f"{key.removesuffix('_bytes')} = {device[key]}: null_blk takes whole MiB")
    if device["zoned"]:
        found += zones.geometry_problems(device)
    return found


def requires(device: Device, facts: Facts) -> list[str]:
    """Reasons why this machine can not have the device."""
    return queue.missing(device, facts, MODULES)


def create(device: Device) -> list[Operation]:
    """Load the module without devices, make one through configfs, power it on."""
    settings = []
    for name, (key, divisor) in attributes(device).items():
        value = device[key]
        settings.append(op.write(f"{CONFIG}/{name}", value if divisor == 1 else value // divisor))
    return [
        op.absent("/sys/module/null_blk", message="null_blk is loaded already; unload it first"),
        op.execute("modprobe", "null_blk", "nr_devices=0"),
        op.make_directory(CONFIG),
        *settings,
        op.write(f"{CONFIG}/power", 1),
        *queue.settle(DISK, device),
    ]


def readback(device: Device) -> list[Operation]:
    """Read the queue, and every attribute set, after power on."""
    return [
        *queue.readings(DISK),
        *(op.read(f"{CONFIG}/{name}", label=f"configfs/{name}", optional=True) for name in attributes(device)),
        op.read("/sys/module/null_blk/srcversion", label="srcversion", optional=True),
    ]


def describe(device: Device, readings: Mapping[str, str]) -> Description:
    """Compare with configfs as well: the driver writes there what it made of a request."""
    shown = queue.described(
        DISK, device, readings, without=() if device["zoned"] else ("max_open_zones", "max_active_zones")
    )
    mismatches = list(shown.mismatches)
    parameters = dict(shown.parameters)
    for name, (key, divisor) in attributes(device).items():
        if f"configfs/{name}" not in readings:
            continue
        actual = queue.number(readings[f"configfs/{name}"].replace("Y", "1").replace("N", "0"))
        if isinstance(actual, int):
            actual *= divisor
        parameters[f"configfs/{name}"] = actual
        already = {mismatch.parameter for mismatch in mismatches}
        if actual != device[key] and key not in already:
            mismatches.append(Mismatch(key, device[key], actual, f"{CONFIG}/{name}"))
    if not device["zoned"] and parameters.get("queue/zoned", "none") != "none":
        mismatches.append(Mismatch("zoned", False, parameters["queue/zoned"], "queue/zoned"))
    environment = {**shown.environment, "null_blk_srcversion": readings.get("srcversion", "").strip() or "built in"}
    return replace(shown, parameters=parameters, mismatches=mismatches, environment=environment)


def reset(device: Device) -> list[Operation]:
    """Empty the zones."""
    return zones.reset(node(device)) if device["zoned"] else []


def destroy(device: Device) -> list[Operation]:
    """Power off, remove, unload."""
    return [
        op.write(f"{CONFIG}/power", 0, optional=True),
        op.remove_directory(CONFIG, optional=True),
        *queue.unload(*MODULES),
    ]


def gone(device: Device) -> list[Operation]:
    """Succeeds when device and module are gone; a memory-backed device has returned its memory then."""
    return [op.absent(CONFIG), op.wait_gone(f"/dev/{DISK}"), *queue.modules_gone(*MODULES)]


def node(device: Device) -> str:
    """The device's node."""
    return f"/dev/{DISK}"
