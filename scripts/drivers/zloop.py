"""zloop, the kernel's zoned loop driver: one backing file a zone, on a file system."""

from collections.abc import Mapping
from dataclasses import replace

from scripts.drivers import backing, queue, zones
from scripts.drivers.base import Description, Device, Facts
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

MODULES = ("zloop",)
DAEMONS: tuple[str, ...] = ()
DISK = "zloop0"
CONTROL = "/dev/zloop-control"
MIB = 1 << 20


def check(device: Device) -> list[str]:
    """Contradictions in the request."""
    found = zones.geometry_problems(device)
    for key in ("size_bytes", "zone_size_bytes", "zone_capacity_bytes"):
        if device.get(key) and device[key] % MIB:
            found.append(f"{key.removesuffix('_bytes')} = {device[key]}: zloop takes whole MiB")
    return found


def requires(device: Device, facts: Facts) -> list[str]:
    """Reasons why this machine can not have the device."""
    modules, programs = backing.requirements(device)
    return queue.missing(device, facts, (*MODULES, *modules), programs)


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
    flags = [flag for flag in ("buffered_io",) if device.get(flag)]
    return "add " + ",".join([*(f"{key}={value}" for key, value in options.items()), *flags])


def create(device: Device) -> list[Operation]:
    """Backing file system, module, and one device on it."""
    return [
        op.absent("/sys/module/zloop", message="zloop is loaded already; unload it first"),
        *backing.create(device),
        op.make_directory(f"{backing.directory(device)}/0"),
        op.execute("modprobe", "zloop"),
        op.wait_for(CONTROL),
        op.write(CONTROL, request(device)),
        *queue.settle(DISK, device),
    ]


def readback(device: Device) -> list[Operation]:
    """Read the queue."""
    return [
        *queue.readings(DISK),
        op.read("/sys/module/zloop/srcversion", label="srcversion", optional=True),
    ]


def describe(device: Device, readings: Mapping[str, str]) -> Description:
    """Compare with sysfs."""
    shown = queue.described(DISK, device, readings)
    environment = {**shown.environment, "zloop_srcversion": readings.get("srcversion", "").strip() or "unknown"}
    return replace(shown, environment={**environment, "backing": device["backing"]})


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
        *queue.unload(*MODULES),
        *backing.destroy(device),
    ]


def gone(device: Device) -> list[Operation]:
    """Succeeds when device, module and backing store are gone."""
    return [op.wait_gone(f"/dev/{DISK}"), *queue.modules_gone(*MODULES), *backing.gone(device)]


def node(device: Device) -> str:
    """The device's node."""
    return f"/dev/{DISK}"
