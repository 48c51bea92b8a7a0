"""ublk targets served by rublk: null, loop or zoned.

The server never completes an I/O that its zoned target refuses, so on a deadline it dies before fio does. Its exit
codes are not to be trusted: `rublk del` can panic after it has removed the device. State is judged, not codes.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from scripts.campaign.units import short_bytes
from scripts.drivers import backing, module, queue, zones
from scripts.drivers.base import Description, Device, Facts, Mismatch
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

MODULES = ("ublk_drv",)
DAEMONS = ("rublk",)
DISK = "ublkb0"
CONTROL = "/dev/ublk-control"
STATE = "/run/ublksrvd/0000.json"
MIB = 1 << 20
NULL_BYTES = 250 << 30
FLAGS = {
    "zoned": ("user_copy", "multi_cpus_affinity"),
    "null": ("user_copy", "zero_copy", "multi_cpus_affinity", "mlock", "async_await"),
    "loop": ("buffered_io", "zero_copy", "multi_cpus_affinity", "mlock", "async_await", "no_discard"),
}
"""Switches by target. rublk offers some of them for other targets too, and panics when they are used."""
ALL_FLAGS = tuple(dict.fromkeys(flag for flags in FLAGS.values() for flag in flags))


def bit(number: int, when: bool = True) -> Callable[[str], bool]:
    """A reader of one bit of a hexadecimal word; `when` is the bit's value that means yes."""
    return lambda text: bool(int(text, 16) >> number & 1) is when


LISTED: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "state": (r"state (\w+)", str),
    "target": (r'"name":"(\w+)"', str),
    "io_buf_size_bytes": (r"max rq size (\d+)", int),
    "zero_copy": (r"\bflags (0x\w+)", bit(0)),  # UBLK_F_SUPPORT_ZERO_COPY
    "user_copy": (r"\bflags (0x\w+)", bit(7)),  # UBLK_F_USER_COPY
    "multi_cpus_affinity": (r"ublksrv_flags: (0x\w+)", bit(36, when=False)),
    "mlock": (r"ublksrv_flags: (0x\w+)", bit(37)),
    "buffered_io": (r'"direct_io":(\d)', lambda text: text == "0"),
    "async_await": (r'"async_await":(\w+)', lambda text: text == "true"),
    "no_discard": (r'"no_discard":(\w+)', lambda text: text == "true"),
}
"""Our keys in the output of `rublk list`."""
ALWAYS_LISTED = ("state", "target", "io_buf_size_bytes")
CHANGING = re.compile(r"daemon pid \d+|tid: \d+|ublk[cb]: \d+:\d+")
"""Parts of that output that differ between two devices of the same kind."""


def check(device: Device) -> list[str]:
    """Contradictions in the request; rublk hangs for ever on some of them, and panics without a reason on others."""
    target = device["target"]
    found = zones.whole_mib_problems(device, "rublk", "size_bytes", "zone_size_bytes", "pre_alloc_size_bytes")
    if target == "zoned":
        found += zones.geometry_problems(device)
        zone, block = device.get("zone_size_bytes", 0), device.get("pre_alloc_size_bytes", 0)
        if zone and block > zone:
            found.append(f"pre_alloc_size = {short_bytes(block)}: must be at most zone_size = {short_bytes(zone)}")
        if device.get("zone_capacity_bytes", zone) != zone:
            capacity = short_bytes(device["zone_capacity_bytes"])
            found.append(f"zone_capacity = {capacity}: rublk has none; must be zone_size = {short_bytes(zone)}")
    else:
        keys = (*zones.KEYS, "pre_alloc_size_bytes")
        found += [
            f"{key.removesuffix('_bytes')} = {device[key]}: only target: zoned has that, not {target}"
            for key in keys
            if device.get(key)
        ]
    allowed = FLAGS[target]
    found += [
        f"{flag} = true: rublk's {target} target does not have it; there is {', '.join(allowed)}"
        for flag in ALL_FLAGS
        if device.get(flag) and flag not in allowed
    ]
    if target == "zoned" and device.get("user_copy") is False:
        found.append("user_copy = false: rublk's zoned target always copies itself")
    if device.get("user_copy") and device.get("zero_copy"):
        found.append("zero_copy = true: can not be had together with user_copy")
    if target == "null" and device["size_bytes"] > NULL_BYTES:
        found.append(f"size = {short_bytes(device['size_bytes'])}: must be at most the 250g of target: null")
    buffer = device["io_buf_size_bytes"]
    if buffer % 4096 or not buffer:
        found.append(f"io_buf_size = {buffer}: must be a multiple of 4096")
    return found


def requires(device: Device, facts: Facts) -> list[str]:
    """Reasons why this machine can not have the device."""
    modules, programs = backing.requirements(device) if device["target"] != "null" else ((), ())
    zoned = ("blkzone",) if device["target"] == "zoned" else ()
    return module.missing(facts, (*MODULES, *modules), ("rublk", *zoned, *programs))


def fio_options(device: Device) -> dict[str, Any]:
    """A null target is always 250 GiB: fio uses as much of it as was asked for."""
    return {"size_bytes": device["size_bytes"]} if device["target"] == "null" else {}


def command(device: Device) -> list[str]:
    """The command that adds the device."""
    parts: list[Any] = ["rublk", "add", device["target"], "-n", 0]
    parts += ["--queue", device["queues"], "--depth", device["queue_depth"]]
    parts += ["--logical-block-size", device["block_size_bytes"], "--io-buf-size", device["io_buf_size_bytes"]]
    parts += [f"--{flag.replace('_', '-')}" for flag in ALL_FLAGS if device.get(flag)]
    if device["target"] == "loop":
        parts += ["--file", image(device)]
    if device["target"] == "zoned":
        parts += ["--size", device["size_bytes"] // MIB, "--zone-size", device["zone_size_bytes"] // MIB]
        parts += ["--conv-zones", device["conventional_zones"], "--path", folder(device)]
        parts += ["--pre-alloc-size", device.get("pre_alloc_size_bytes", device["zone_size_bytes"]) // MIB]
        for key in ("max_open_zones", "max_active_zones"):
            if device.get(key):
                parts += [f"--{key.replace('_', '-')}", device[key]]
    return [str(part) for part in parts]


def folder(device: Device) -> str:
    """Where a zoned target keeps its superblock and one file a zone."""
    return f"{backing.directory(device)}/0"


def image(device: Device) -> str:
    """The backing file of a loop target."""
    return f"{backing.directory(device)}/image"


def create(device: Device) -> list[Operation]:
    """Backing store (a new, empty one: rublk prefers an old superblock to its own options), module, server."""
    operations = module.vacant(*MODULES)
    if device["target"] != "null":
        operations += backing.create(device)
    if device["target"] == "zoned":
        operations += [op.make_directory(folder(device))]
    if device["target"] == "loop":
        operations += [op.execute("truncate", "-s", device["size_bytes"], image(device))]
    return [
        *operations,
        op.execute("modprobe", "ublk_drv"),
        op.wait_for(CONTROL),
        op.execute(*command(device)),
        *queue.settle(DISK, device),
    ]


def readback(device: Device) -> list[Operation]:
    """Read the queue, the zones, and what the server says of itself."""
    return [
        *queue.readings(DISK),
        *(zones.readings(device, node(device)) if device["target"] == "zoned" else []),
        op.execute("rublk", "list", "-n", "0", label="list", allow=(0, 1, 101)),
        op.execute("rublk", "--version", label="version", optional=True),
        *module.readings("ublk_drv"),
        *(backing.readings(device) if device["target"] != "null" else []),
    ]


def describe(device: Device, readings: Mapping[str, str]) -> Description:
    """Compare with sysfs, with the zones and with the server's own list."""
    shown = queue.described(DISK, device, readings, without=("size_bytes",) if device["target"] == "null" else ())
    parameters, mismatches = dict(shown.parameters), list(shown.mismatches)
    if device["target"] == "zoned":
        geometry, wrong = zones.compared(device, readings)
        parameters |= geometry
        mismatches += wrong
    text = readings.get("list", "")
    for key, (pattern, kind) in LISTED.items():
        match = re.search(pattern, text)
        actual = kind(match[1]) if match else None
        parameters[f"rublk/{key}"] = actual
        wanted = {"state": "LIVE", **device}.get(key)
        if wanted not in (None, actual) and (key in ALWAYS_LISTED or actual is not None):
            mismatches.append(Mismatch(key, wanted, "nothing" if actual is None else actual, "rublk list"))
    environment = {
        **shown.environment,
        **module.identity("ublk_drv", readings),
        **(backing.facts(device, readings) if device["target"] != "null" else {}),
        "rublk_version": readings.get("version", "").strip().removeprefix("rublk "),
        "rublk_list": " ".join(CHANGING.sub("", text).split()),
    }
    return replace(shown, parameters=parameters, mismatches=mismatches, environment=environment)


def prefill(device: Device) -> list[Operation]:
    """Touch the backing store, for runs without prep."""
    if device["target"] == "loop":
        return backing.write_through(device, node(device))
    return backing.fill(device) if device["target"] == "zoned" else []


def reset(device: Device) -> list[Operation]:
    """Empty the zones."""
    return zones.reset(node(device)) if device["target"] == "zoned" else []


def destroy(device: Device) -> list[Operation]:
    """Remove the device; kill the server where that did not end it; unload; remove its state and backing store."""
    operations = [
        op.execute("rublk", "del", "-n", "0", allow=(0, 1, 101), optional=True),
        op.wait_gone(f"/dev/{DISK}", count=40, optional=True),
        op.kill("rublk", optional=True),
        op.wait_no_process("rublk", count=100, optional=True),
        *module.unload(*MODULES),
        op.remove_tree(STATE, optional=True),
    ]
    return operations + (backing.destroy(device) if device["target"] != "null" else [])


def gone(device: Device) -> list[Operation]:
    """Succeeds when devices, server, module, state and backing store are gone."""
    operations = [
        op.wait_gone("/dev/ublk[bc]0"),
        op.wait_no_process("rublk"),
        *module.gone(*MODULES),
        op.absent(STATE),
    ]
    return operations + (backing.gone(device) if device["target"] != "null" else [])


def node(device: Device) -> str:
    """The device's node."""
    return f"/dev/{DISK}"
