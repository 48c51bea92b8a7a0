"""zloop, the kernel's zoned loop driver: one backing file a zone, on a file system."""

from collections.abc import Mapping
from dataclasses import replace

from scripts.drivers import backing, module, queue, zones
from scripts.drivers.base import Description, Device, Facts
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

MODULES = ("zloop",)
DAEMONS: tuple[str, ...] = ()
DISK = "zloop0"
CONTROL = "/dev/zloop-control"
MIB = 1 << 20
FLAGS = ("buffered_io", "ordered_zone_append", "discard_write_cache")


def check(device: Device) -> list[str]:
    """Contradictions in the request."""
    found = zones.geometry_problems(device)
    found += zones.whole_mib_problems(device, "zloop", "size_bytes", "zone_size_bytes", "zone_capacity_bytes")
    if device.get("max_active_zones"):
        found.append(f"max_active_zones = {device['max_active_zones']}: zloop has no such limit; must be 0")
    if device.get("ordered_zone_append") and device.get("zone_append") is False:
        found.append("ordered_zone_append = true: needs zone_append")
    return found


def requires(device: Device, facts: Facts) -> list[str]:
    """Reasons why this machine can not have the device."""
    modules, programs = backing.requirements(device)
    return module.missing(facts, (*MODULES, *modules), ("blkzone", *programs))


def request(device: Device) -> str:
    """The line written to the control device."""
    options = {
        "id": 0,
        "capacity_mb": device["size_bytes"] // MIB,
        "zone_size_mb": device["zone_size_bytes"] // MIB,
        "conv_zones": device["conventional_zones"],
        "base_dir": backing.directory(device),
        "nr_queues": device["queues"],
        "queue_depth": device["queue_depth"],
    }
    if device.get("zone_capacity_bytes"):
        options["zone_capacity_mb"] = device["zone_capacity_bytes"] // MIB
    if device.get("max_open_zones"):
        options["max_open_zones"] = device["max_open_zones"]
    if device.get("zone_append") is not None:
        options["zone_append"] = int(device["zone_append"])
    flags = [flag for flag in FLAGS if device.get(flag)]
    return "add " + ",".join([*(f"{key}={value}" for key, value in options.items()), *flags])


def create(device: Device) -> list[Operation]:
    """Backing file system, module, and one device on it."""
    return [
        *module.vacant(*MODULES),
        *backing.create(device),
        op.make_directory(f"{backing.directory(device)}/0"),
        op.execute("modprobe", "zloop"),
        op.wait_for(CONTROL),
        op.write(CONTROL, request(device)),
        *queue.settle(DISK, device),
    ]


def readback(device: Device) -> list[Operation]:
    """Read the queue, the zones, and which build of the module it is."""
    return [
        *queue.readings(DISK),
        *zones.readings(device, node(device)),
        *module.readings("zloop"),
        *backing.readings(device),
    ]


def describe(device: Device, readings: Mapping[str, str]) -> Description:
    """Compare with sysfs and with the zones."""
    shown = queue.described(DISK, device, readings)
    parameters, mismatches = zones.compared(device, readings)
    return replace(
        shown,
        parameters={**shown.parameters, **parameters},
        mismatches=[*shown.mismatches, *mismatches],
        environment={**shown.environment, **module.identity("zloop", readings), **backing.facts(device, readings)},
    )


def prefill(device: Device) -> list[Operation]:
    """Touch the backing store, for runs without prep."""
    return backing.fill(device)


def reset(device: Device) -> list[Operation]:
    """Empty the zones."""
    return zones.reset(node(device))


def destroy(device: Device) -> list[Operation]:
    """Remove the device, unload, remove the backing store."""
    return [
        op.write(CONTROL, "remove id=0", optional=True),
        op.wait_gone(f"/dev/{DISK}", count=100, optional=True),
        *module.unload(*MODULES),
        *backing.destroy(device),
    ]


def gone(device: Device) -> list[Operation]:
    """Succeeds when device, module and backing store are gone."""
    return [op.wait_gone(f"/dev/{DISK}"), *module.gone(*MODULES), *backing.gone(device)]


def node(device: Device) -> str:
    """The device's node."""
    return f"/dev/{DISK}"
