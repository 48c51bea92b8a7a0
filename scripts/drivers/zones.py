"""What zoned drivers share: contradictions in a requested geometry, reading it back, resetting."""

import re
from collections.abc import Mapping
from typing import Any

from scripts.campaign.units import short_bytes
from scripts.drivers.base import Device, Mismatch
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

SECTOR_BYTES = 512
KEYS = ("zone_size_bytes", "zone_capacity_bytes", "conventional_zones", "max_open_zones", "max_active_zones")
ZONE = re.compile(r"len 0x(?P<length>[0-9a-f]+), cap 0x(?P<capacity>[0-9a-f]+).*\[type: (?P<type>\d)")
CONVENTIONAL = "1"


def geometry_problems(device: Device) -> list[str]:
    """Requests that a driver would refuse, hang on, or worse, silently change.

    The block layer takes a limit of as many open zones as there are sequential ones, or more, for no limit.
    """
    size, zone = device.get("size_bytes", 0), device.get("zone_size_bytes", 0)
    if not zone:
        return ["zone_size is missing: a zoned device needs one, such as 64m"]
    found = []
    zones = size // zone
    if zone & (zone - 1):
        found.append(f"zone_size = {short_bytes(zone)}: must be a power of two")
    if size % zone or not size:
        found.append(f"size = {short_bytes(size)}: must be a multiple of zone_size = {short_bytes(zone)}")
    capacity = device.get("zone_capacity_bytes")
    if capacity is not None and not 0 < capacity <= zone:
        found.append(f"zone_capacity = {short_bytes(capacity)}: must be 1 to zone_size = {short_bytes(zone)}")
    conventional = device.get("conventional_zones", 0)
    if conventional >= max(zones, 1):
        found.append(f"conventional_zones = {conventional}: must be fewer than the device's {zones} zones")
        return found
    sequential = zones - conventional
    for key in ("max_open_zones", "max_active_zones"):
        if device.get(key, 0) >= sequential:
            allowed = f"must be 0 (no limit) or less than the device's {sequential} sequential zones"
            found.append(f"{key} = {device[key]}: {allowed}")
    opened, active = device.get("max_open_zones", 0), device.get("max_active_zones", 0)
    if active and opened > active:
        found.append(f"max_open_zones = {opened}: must be at most max_active_zones = {active}")
    return found


def whole_mib_problems(device: Device, driver: str, *keys: str) -> list[str]:
    """Sizes that a driver which counts in MiB can not have."""
    return [
        f"{key.removesuffix('_bytes')} = {short_bytes(device[key])}: {driver} takes whole MiB"
        for key in keys
        if device.get(key) and device[key] % (1 << 20)
    ]


def readings(device: Device, node: str) -> list[Operation]:
    """Report the last conventional zone and the first sequential one: sysfs shows neither number nor capacity."""
    first = max(device.get("conventional_zones", 0) - 1, 0) * device["zone_size_bytes"] // SECTOR_BYTES
    return [op.execute("blkzone", "report", "-o", first, "-c", 2, node, label="zones")]


def compared(device: Device, read: Mapping[str, str]) -> tuple[dict[str, Any], list[Mismatch]]:
    """(parameters, mismatches) of conventional zones and capacity."""
    where = "blkzone report"
    found = [match.groupdict() for match in ZONE.finditer(read.get("zones", ""))]
    wanted = device.get("conventional_zones", 0)
    kinds = [zone["type"] == CONVENTIONAL for zone in found]
    expected = [True, False] if wanted else [False, False]
    parameters: dict[str, Any] = {}
    mismatches = []
    if kinds == expected[: len(kinds)] and kinds:
        parameters["conventional_zones"] = wanted
    else:
        first = max(wanted - 1, 0)
        shown = ", ".join(f"zone {first + i} {'conventional' if k else 'sequential'}" for i, k in enumerate(kinds))
        mismatches.append(Mismatch("conventional_zones", wanted, shown or "no zones", where))
    capacities = [int(zone["capacity"], 16) * SECTOR_BYTES for zone, kind in zip(found, kinds, strict=True) if not kind]
    if capacities:
        capacity = capacities[0]
        parameters["zone_capacity_bytes"] = capacity
        asked = device.get("zone_capacity_bytes") or device["zone_size_bytes"]
        if capacity != asked:
            mismatches.append(Mismatch("zone_capacity_bytes", asked, capacity, where))
    return parameters, mismatches


def reset(node: str) -> list[Operation]:
    """Empty all sequential zones."""
    return [op.execute("blkzone", "reset", node)]
