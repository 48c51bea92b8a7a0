"""What every block device has under /sys/block: setting the scheduler, reading the queue back, comparing."""

from collections.abc import Mapping
from typing import Any

from scripts.drivers.base import Description, Device, Mismatch
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

ATTRIBUTES = (
    "scheduler",
    "nr_requests",
    "async_depth",
    "logical_block_size",
    "physical_block_size",
    "rotational",
    "zoned",
    "nr_zones",
    "chunk_sectors",
    "max_open_zones",
    "max_active_zones",
    "zone_append_max_bytes",
    "write_cache",
    "fua",
    "stable_writes",
    "discard_max_bytes",
    "rq_affinity",
    "nomerges",
    "io_poll",
    "max_sectors_kb",
    "max_segments",
    "wbt_lat_usec",
    "iostats",
    "add_random",
    "read_ahead_kb",
)
"""Attributes of queue/ that can explain a number."""

DIRECTLY_COMPARED = {
    "block_size_bytes": "logical_block_size",
    "scheduler": "scheduler",
    "max_open_zones": "max_open_zones",
    "max_active_zones": "max_active_zones",
}


def settle(disk: str, device: Device) -> list[Operation]:
    """Wait for the disk's node and set the scheduler (and nr_requests, where asked for)."""
    queue = f"/sys/block/{disk}/queue"
    operations = [op.wait_for(f"/dev/{disk}")]
    if device.get("scheduler"):
        operations.append(op.write(f"{queue}/scheduler", device["scheduler"]))
    if device.get("nr_requests"):
        operations.append(op.write(f"{queue}/nr_requests", device["nr_requests"]))
    return operations


def readings(disk: str) -> list[Operation]:
    """Read everything `described` compares or records."""
    base = f"/sys/block/{disk}"
    operations = [op.read(f"{base}/queue/{name}", label=f"queue/{name}", optional=True) for name in ATTRIBUTES]
    return [*operations, op.read(f"{base}/size", label="size"), op.listing(f"{base}/mq", label="mq", optional=True)]


def active(scheduler: str) -> str:
    """The chosen one of `none [mq-deadline] kyber`."""
    inside = scheduler.partition("[")[2].partition("]")[0]
    return inside or scheduler.strip()


def number(text: str) -> Any:
    """An int where the text is one, else the text."""
    text = text.strip()
    return int(text) if text.lstrip("-").isdigit() else text


def described(disk: str, device: Device, read: Mapping[str, str], without: tuple[str, ...] = ()) -> Description:
    """Compare what was asked for with what the kernel shows.

    Args:
        disk: name under /sys/block.
        device: resolved parameters.
        read: readings by label.
        without: requested keys that the queue does not show for this driver.
    """
    values = {name: number(read[f"queue/{name}"]) for name in ATTRIBUTES if f"queue/{name}" in read}
    if "scheduler" in values:
        values["scheduler"] = active(read["queue/scheduler"])
    actual = measured(disk, device, read, values)
    mismatches = [
        Mismatch(key, device[key], value, where)
        for key, (value, where) in actual.items()
        if device.get(key) is not None and key not in without and device[key] != value
    ]
    is_zoned = values.get("zoned", "none") != "none"
    if is_zoned != wants_zones(device):
        mismatches.append(Mismatch("zoned", wants_zones(device), values.get("zoned", "none"), "queue/zoned"))
    zones = device["size_bytes"] // device["zone_size_bytes"] if is_zoned and device.get("zone_size_bytes") else None
    if zones and values.get("nr_zones") != zones:
        mismatches.append(Mismatch("number of zones", zones, values.get("nr_zones"), "queue/nr_zones"))
    parameters = {**{key: value for key, (value, _) in actual.items()}, **{f"queue/{k}": v for k, v in values.items()}}
    return Description(parameters, mismatches, {f"queue/{name}": value for name, value in values.items()})


def measured(
    disk: str, device: Device, read: Mapping[str, str], values: Mapping[str, Any]
) -> dict[str, tuple[Any, str]]:
    """Our keys as the kernel has them: (value, where it is shown)."""
    actual: dict[str, tuple[Any, str]] = {"size_bytes": (int(read["size"]) * 512, f"/sys/block/{disk}/size x 512")}
    for key, name in DIRECTLY_COMPARED.items():
        if name in values:
            actual[key] = (values[name], f"queue/{name}")
    if "nr_requests" in values:
        depth, where = ("nr_requests", "") if device.get("nr_requests") else ("queue_depth", doubling(device, values))
        actual[depth] = (values["nr_requests"], f"queue/nr_requests{where}")
    mq = [name for name in read.get("mq", "").split() if name.isdigit()]
    if mq:
        polled = device.get("poll_queues", 0)
        less = f" less {polled} for polling" if polled else ""
        actual["queues"] = (len(mq) - polled, f"number of /sys/block/{disk}/mq/*{less}")
    if isinstance(values.get("chunk_sectors"), int) and values.get("zoned", "none") != "none":
        actual["zone_size_bytes"] = (values["chunk_sectors"] * 512, "queue/chunk_sectors x 512")
    return actual


def doubling(device: Device, values: Mapping[str, Any]) -> str:
    """How to accept the requests that a scheduler adds: all but none change nr_requests when they are set."""
    if values.get("scheduler") in (None, "none") or values["nr_requests"] == device.get("queue_depth"):
        return ""
    return f"; {values['scheduler']} sets its own number: say nr_requests: {values['nr_requests']} to have that"


def wants_zones(device: Device) -> bool:
    """Whether a zoned device was asked for."""
    return bool(device.get("zoned", bool(device.get("zone_size_bytes"))))
