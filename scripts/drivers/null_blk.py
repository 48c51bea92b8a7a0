"""null_blk, the kernel's C null block driver, plain or zoned, configured through configfs."""

import re
from collections.abc import Mapping

from scripts.drivers import configfs, module, queue, zones
from scripts.drivers.base import Description, Device, Facts
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

MODULES = ("null_blk",)
DAEMONS: tuple[str, ...] = ()
DISK = "nullb0"
CONFIG = f"/sys/kernel/config/nullb/{DISK}"
MIB = configfs.MIB

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
    "badblocks_once": ("badblocks_once", 1),
    "badblocks_partial_io": ("badblocks_partial_io", 1),
}
ZONE_ATTRIBUTES = {
    "zoned": ("zoned", 1),
    "zone_size": ("zone_size_bytes", MIB),
    "zone_capacity": ("zone_capacity_bytes", MIB),
    "zone_nr_conv": ("conventional_zones", 1),
    "zone_max_open": ("max_open_zones", 1),
    "zone_max_active": ("max_active_zones", 1),
    "zone_append_max_sectors": ("zone_append_max_sectors", 1),
    "zone_full": ("zone_full", 1),
}


TAG_SET = ("submit_queues", "poll_queues", "hw_queue_depth")
RANGE = re.compile(r"\+(\d+)-(\d+)")


def table(device: Device) -> dict[str, tuple[str, int]]:
    """The attributes that this kind of device has."""
    return {**ATTRIBUTES, **ZONE_ATTRIBUTES} if device["zoned"] else ATTRIBUTES


def check(device: Device) -> list[str]:
    """Contradictions in the request; null_blk changes most of them without an error."""
    sizes = ("size_bytes", "cache_size_bytes", "zone_size_bytes", "zone_capacity_bytes")
    found = zones.whole_mib_problems(device, "null_blk", *sizes)
    if device["zoned"]:
        found += zones.geometry_problems(device)
        if device.get("discard"):
            found.append("discard = true: null_blk ignores it on a zoned device")
    if not device["memory_backed"]:
        found += [
            f"{key} = {device[name]}: null_blk ignores it without memory_backed: true"
            for key, name in (("discard", "discard"), ("cache_size", "cache_size_bytes"))
            if device.get(name)
        ]
    elif device.get("blocking") is False:
        found.append("blocking = false: a memory_backed device always blocks")
    if device["completion_nsec"] and device["irqmode"] != 2:
        found.append(f"completion_nsec = {device['completion_nsec']}: has no effect without irqmode: 2")
    return found


def remarks(device: Device) -> list[str]:
    """What readers of a table have to know."""
    if device.get("memory_backed"):
        return ["memory_backed forces blocking: every I/O is done in a context that may sleep"]
    return []


def requires(device: Device, facts: Facts) -> list[str]:
    """Reasons why this machine can not have the device."""
    return module.missing(facts, MODULES, ("blkzone",) if device["zoned"] else ())


def create(device: Device) -> list[Operation]:
    """Load the module without devices, make one through configfs, power it on."""
    options = ["nr_devices=0"]
    if device.get("shared_tags"):  # one set of tags for all devices, made of the module's parameters
        options += [f"{name}={device[ATTRIBUTES[name][0]]}" for name in TAG_SET]
    return [
        *module.vacant(*MODULES),
        op.execute("modprobe", "null_blk", *options),
        op.make_directory(CONFIG),
        *configfs.settings(CONFIG, table(device), device),
        op.write(f"{CONFIG}/power", 1),
        *queue.settle(DISK, device),
    ]


def readback(device: Device) -> list[Operation]:
    """Read the queue, and every attribute after power on, asked for or not: defaults differ between kernels."""
    return [
        *queue.readings(DISK),
        *configfs.readings(CONFIG, table(device)),
        *(zones.readings(device, node(device)) if device["zoned"] else []),
        *module.readings("null_blk"),
    ]


def describe(device: Device, readings: Mapping[str, str]) -> Description:
    """Compare with configfs as well: the driver writes there what it made of a request."""
    shown = queue.described(DISK, device, readings)
    configured = dict(device)
    if bad := RANGE.fullmatch(str(device.get("badblocks", ""))):
        first, last = int(bad[1]), int(bad[2])
        configured["badblocks"] = f"{first} {last - first + 1}"  # written as a range, read as start and length
    if device.get("badblocks_once"):
        configured["badblocks"] = None  # the partition scan may have been the one I/O that fails
    parameters, mismatches = configfs.compared(CONFIG, table(device), configured, readings)
    if device["zoned"]:
        geometry, wrong = zones.compared(device, readings)
        parameters, mismatches = {**parameters, **geometry}, [*mismatches, *wrong]
    return configfs.completed(shown, parameters, mismatches, module.identity("null_blk", readings))


def reset(device: Device) -> list[Operation]:
    """Empty the zones."""
    return zones.reset(node(device)) if device["zoned"] else []


def destroy(device: Device) -> list[Operation]:
    """Power off, remove, unload."""
    return configfs.removal(CONFIG, MODULES)


def gone(device: Device) -> list[Operation]:
    """Succeeds when device and module are gone; a memory-backed device has returned its memory then."""
    return configfs.gone(CONFIG, DISK, MODULES)


def node(device: Device) -> str:
    """The device's node."""
    return f"/dev/{DISK}"
