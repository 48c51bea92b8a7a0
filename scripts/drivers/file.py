"""A file in a directory, without any block driver: what a run costs on this machine's file system. Needs no root."""

from collections.abc import Mapping

from scripts.drivers.base import Description, Device, Facts, Mismatch
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

MODULES: tuple[str, ...] = ()
DAEMONS: tuple[str, ...] = ()


def folder(device: Device) -> str:
    """The only directory that is made and removed."""
    return f"{device['directory'].rstrip('/')}/blkcampaign-file"


def check(device: Device) -> list[str]:
    """Contradictions in the request."""
    directory = device["directory"]
    return [] if directory.startswith("/") else [f"directory = {directory!r}: must be an absolute path"]


def requires(device: Device, facts: Facts) -> list[str]:
    """Any machine can have a file."""
    return []


def create(device: Device) -> list[Operation]:
    """Make the file, sparse."""
    return [
        op.make_directory(folder(device)),
        op.execute("truncate", "-s", device["size_bytes"], node(device)),
    ]


def readback(device: Device) -> list[Operation]:
    """Size, and the file system it is on."""
    return [
        op.execute("stat", "-c", "%s", node(device), label="size"),
        op.execute("stat", "-f", "-c", "%T", node(device), label="file_system", optional=True),
    ]


def describe(device: Device, readings: Mapping[str, str]) -> Description:
    """Compare the size."""
    size = int(readings["size"])
    wrong = [] if size == device["size_bytes"] else [Mismatch("size_bytes", device["size_bytes"], size, "stat")]
    return Description({"size_bytes": size}, wrong, {"file_system": readings.get("file_system", "").strip()})


def prefill(device: Device) -> list[Operation]:
    """Allocate the file's blocks, for runs without prep."""
    return [op.execute("fallocate", "-l", device["size_bytes"], node(device))]


def reset(device: Device) -> list[Operation]:
    """Nothing: an overwritten file is as good as new."""
    return []


def destroy(device: Device) -> list[Operation]:
    """Remove the file."""
    return [op.remove_tree(folder(device), optional=True)]


def gone(device: Device) -> list[Operation]:
    """Succeeds when the file is gone."""
    return [op.absent(folder(device))]


def node(device: Device) -> str:
    """The file."""
    return f"{folder(device)}/image"
