"""What every block device has under /sys/block: setting the scheduler, reading the queue back, comparing."""

from collections.abc import Mapping
from typing import Any

from scripts.drivers.base import Description, Device, Mismatch
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

ATTRIBUTES = (
    "scheduler",
    "nr_requests",
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
    queue = {name: read[f"queue/{name}"] for name in ATTRIBUTES if f"queue/{name}" in read}
    values = {name: number(text) for name, text in queue.items()}
    if "scheduler" in queue:
        values["scheduler"] = active(queue["scheduler"])
    size_bytes = int(read["size"]) * 512
    mq = [name for name in read.get("mq", "").split() if name.isdigit()]
    actual: dict[str, tuple[Any, str]] = {"size_bytes": (size_bytes, f"/sys/block/{disk}/size x 512")}
    for key, name in DIRECTLY_COMPARED.items():
        if name in values:
            actual[key] = (values[name], f"queue/{name}")
    if "scheduler" in values:
        actual["scheduler"] = (values["scheduler"], "queue/scheduler")
    if "nr_requests" in values:
        depth = "nr_requests" if device.get("nr_requests") else "queue_depth"
        actual[depth] = (values["nr_requests"], "queue/nr_requests")
    if mq:
        actual["queues"] = (len(mq), f"number of /sys/block/{disk}/mq/*")
    if isinstance(values.get("chunk_sectors"), int) and values.get("zoned", "none") != "none":
        actual["zone_size_bytes"] = (values["chunk_sectors"] * 512, "queue/chunk_sectors x 512")
    mismatches = [
        Mismatch(key, device[key], value, where)
        for key, (value, where) in actual.items()
        if device.get(key) is not None and key not in without and device[key] != value
    ]
    parameters = {**{key: value for key, (value, _) in actual.items()}, **{f"queue/{k}": v for k, v in values.items()}}
    return Description(parameters, mismatches, {f"queue/{name}": value for name, value in values.items()})


def unload(*modules: str) -> list[Operation]:
    """Remove modules, as often as it takes for the last user to be gone; not loaded is fine."""
    return [op.execute("modprobe", "-r", module, allow=(0, 1), optional=True) for module in modules]


def modules_gone(*modules: str) -> list[Operation]:
    """Succeeds when none of the modules is loaded."""
    return [op.wait_gone(f"/sys/module/{module}", count=40) for module in modules]


def missing(device: Device, facts: Any, modules: tuple[str, ...], programs: tuple[str, ...] = ()) -> list[str]:
    """Reasons of `requires`: modules and programs that are not there, rights that are."""
    reasons = []
    for name in (*modules, *programs):
        if name in facts.unavailable:
            reasons.append(facts.unavailable[name])
    reasons += [
        f"kernel {facts.kernel} has no module {name}"
        for name in modules
        if name not in facts.modules and name not in facts.unavailable
    ]
    reasons += [
        f"no program {name}" for name in programs if name not in facts.programs and name not in facts.unavailable
    ]
    if not facts.root:
        reasons.append("loading kernel modules needs root")
    return reasons
