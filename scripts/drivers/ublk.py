"""ublk targets served by rublk: null, loop or zoned.

The server never completes an I/O that its zoned target refuses, so on a deadline it dies before fio does. Its exit
codes are not to be trusted: `rublk del` can panic after it has removed the device. State is judged, not codes.
"""

from collections.abc import Mapping
from dataclasses import replace

from scripts.drivers import backing, queue, zones
from scripts.drivers.base import Description, Device, Facts, Mismatch
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

MODULES = ("ublk_drv",)
DAEMONS = ("rublk",)
DISK = "ublkb0"
STATE = "/run/ublksrvd/0000.json"
MIB = 1 << 20


def check(device: Device) -> list[str]:
    """Contradictions in the request; rublk hangs for ever on some of them."""
    found = []
    if device["target"] == "zoned":
        found += zones.geometry_problems(device)
        if device.get("pre_alloc_size_bytes", 0) > device["zone_size_bytes"]:
            found.append("pre_alloc_size: at most zone_size")
    for key in ("size_bytes", "zone_size_bytes", "pre_alloc_size_bytes"):
        if device.get(key) and device[key] % MIB:
            found.append(f"{key.removesuffix('_bytes')} = {device[key]}: rublk takes whole MiB")
    return found


def requires(device: Device, facts: Facts) -> list[str]:
    """Reasons why this machine can not have the device."""
    modules, programs = backing.requirements(device) if device["target"] != "null" else ((), ())
    return queue.missing(device, facts, (*MODULES, *modules), ("rublk", *programs))


def command(device: Device) -> list[str]:
    """The command that adds the device."""
    common = ["-n", "0", "--queue", device["queues"], "--depth", device["queue_depth"]]
    common += ["--logical-block-size", device["block_size_bytes"]]
    target = []
    if device["target"] == "loop":
        target = ["--file", f"{backing.directory(device)}/image"]
    if device["target"] == "zoned":
        target = [
            *("--size", device["size_bytes"] // MIB, "--zone-size", device["zone_size_bytes"] // MIB),
            *("--conv-zones", device["conventional_zones"], "--path", f"{backing.directory(device)}/0"),
            *("--pre-alloc-size", device.get("pre_alloc_size_bytes", device["zone_size_bytes"]) // MIB),
        ]
        for key in ("max_open_zones", "max_active_zones"):
            if device.get(key):
                target += [f"--{key.replace('_', '-')}", device[key]]
    return [str(part) for part in ("rublk", "add", device["target"], *common, *target)]


def create(device: Device) -> list[Operation]:
    """Backing store (a new, empty one: rublk prefers an old superblock to its own options), module, server."""
    operations = [op.absent("/sys/module/ublk_drv", message="ublk_drv is loaded already; unload it first")]
    if device["target"] != "null":
        operations += backing.create(device)
    if device["target"] == "zoned":
        operations += [op.make_directory(f"{backing.directory(device)}/0")]
    if device["target"] == "loop":
        path = f"{backing.directory(device)}/image"
        operations += [op.execute("truncate", "-s", device["size_bytes"], path)]
    return [
        *operations,
        op.execute("modprobe", "ublk_drv"),
        op.wait_for("/dev/ublk-control"),
        op.execute(*command(device)),
        *queue.settle(DISK, device),
    ]


def readback(device: Device) -> list[Operation]:
    """Read the queue and what the server says of itself."""
    return [
        *queue.readings(DISK),
        op.execute("rublk", "list", "-n", "0", label="list", optional=True),
        op.execute("rublk", "--version", label="version", optional=True),
    ]


def describe(device: Device, readings: Mapping[str, str]) -> Description:
    """Compare with sysfs; the size of a null target is the server's own."""
    shown = queue.described(DISK, device, readings, without=("size_bytes",) if device["target"] == "null" else ())
    mismatches = list(shown.mismatches)
    state = next(
        (w for line in readings.get("list", "").splitlines() if "state" in line for w in line.split()[-1:]), ""
    )
    if state and state.strip("\"',") not in ("LIVE", "UBLK_S_DEV_LIVE"):
        mismatches.append(Mismatch("state", "LIVE", state, "rublk list"))
    environment = {
        **shown.environment,
        "rublk_version": readings.get("version", "").strip(),
        "rublk_list": " ".join(readings.get("list", "").split()),
    }
    return replace(shown, mismatches=mismatches, environment=environment)


def prefill(device: Device) -> list[Operation]:
    """Touch the backing store, for runs without prep."""
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
        *queue.unload(*MODULES),
        op.remove_tree(STATE, optional=True),
    ]
    return operations + (backing.destroy(device) if device["target"] != "null" else [])


def gone(device: Device) -> list[Operation]:
    """Succeeds when devices, server, module, state and backing store are gone."""
    operations = [
        op.wait_gone("/dev/ublk[bc]0"),
        op.wait_no_process("rublk"),
        *queue.modules_gone(*MODULES),
        op.absent(STATE),
    ]
    return operations + (backing.gone(device) if device["target"] != "null" else [])


def node(device: Device) -> str:
    """The device's node."""
    return f"/dev/{DISK}"
