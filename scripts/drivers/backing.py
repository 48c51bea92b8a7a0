"""Where backing files live: `xfs-brd` (XFS on a RAM disk), `tmpfs`, or a directory of the user's own file system."""

from collections.abc import Mapping

from scripts.drivers import module
from scripts.drivers.base import Device
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

MOUNT = "/run/blkcampaign-backing"
OWN = "blkcampaign"  # the only name ever made or removed in a user's directory
HEADROOM_BYTES = 96 << 20  # XFS: smallest log and metadata, and its reserve


def directory(device: Device) -> str:
    """Where the driver's files are."""
    backing = device["backing"]
    return f"{backing}/{OWN}" if backing.startswith("/") else f"{MOUNT}/{OWN}"


def disk_bytes(device: Device) -> int:
    """Size of the RAM disk: the device, an eighth more, and what XFS needs (never below its minimum of 300 MiB)."""
    return int(max(device["size_bytes"] + device["size_bytes"] // 8 + HEADROOM_BYTES, 320 << 20))


def create(device: Device) -> list[Operation]:
    """Make an empty directory for backing files."""
    backing = device["backing"]
    operations: list[Operation] = []
    if backing == "xfs-brd":
        operations = [
            *module.vacant("brd"),  # its /dev/ram0 could hold somebody's data
            op.execute("modprobe", "brd", "rd_nr=1", f"rd_size={disk_bytes(device) // 1024}"),
            op.wait_for("/dev/ram0"),
            op.execute("mkfs.xfs", "-q", "-f", "/dev/ram0"),
            op.make_directory(MOUNT, message="left over"),
            op.execute("mount", "-t", "xfs", "/dev/ram0", MOUNT),
        ]
    elif backing == "tmpfs":
        operations = [
            op.make_directory(MOUNT, message="left over"),
            op.execute("mount", "-t", "tmpfs", "-o", f"size={disk_bytes(device)}", "tmpfs", MOUNT),
        ]
    return [*operations, op.make_directory(directory(device))]


def fill(device: Device) -> list[Operation]:
    """Touch every page of the RAM disk once, for devices that are not prepared: a first write to it costs more.

    tmpfs gives its pages back when the file goes, and a user's directory is left alone: nothing to gain there.
    """
    if device["backing"] != "xfs-brd":
        return []
    path = f"{directory(device)}/fill"
    count = device["size_bytes"] >> 20
    return [
        op.execute("dd", "if=/dev/zero", f"of={path}", "bs=1M", f"count={count}", "oflag=direct"),
        op.remove_tree(path),
    ]


def write_through(device: Device, node: str) -> list[Operation]:
    """Write a whole device once, past the page cache, so that what is behind it has its blocks."""
    count = f"count={device['size_bytes']}"
    return [op.execute("dd", "if=/dev/zero", f"of={node}", "bs=1M", count, "iflag=count_bytes", "oflag=direct")]


def readings(device: Device) -> list[Operation]:
    """Read what the backing files are on."""
    return [op.execute("stat", "-f", "-c", "%T %S %b %f", directory(device), label="backing", optional=True)]


def facts(device: Device, read: Mapping[str, str]) -> dict[str, object]:
    """The backing store for the environment: kind, file system, its block size, and how much of it was used."""
    found: dict[str, object] = {"backing": device["backing"]}
    words = read.get("backing", "").split()
    if len(words) == 4 and all(word.isdigit() for word in words[1:]):
        block, total, free = map(int, words[1:])
        found |= {
            "backing_file_system": words[0],
            "backing_block_bytes": block,
            "backing_size_bytes": total * block,
            "backing_used_bytes": (total - free) * block,
        }
    return found


def destroy(device: Device) -> list[Operation]:
    """Remove files, mount and RAM disk, whatever of them is there."""
    if device["backing"].startswith("/"):
        return [op.remove_tree(directory(device), optional=True)]
    operations = [
        op.execute("umount", MOUNT, allow=(0, 1, 32), optional=True),
        op.remove_directory(MOUNT, optional=True),
    ]
    return operations + (module.unload("brd") if device["backing"] == "xfs-brd" else [])


def gone(device: Device) -> list[Operation]:
    """Succeeds when nothing is left."""
    if device["backing"].startswith("/"):
        return [op.absent(directory(device))]
    return [op.absent(MOUNT), *(module.gone("brd") if device["backing"] == "xfs-brd" else [])]


def requirements(device: Device) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(modules, programs) needed."""
    return (("brd", "xfs"), ("mkfs.xfs",)) if device["backing"] == "xfs-brd" else ((), ())
