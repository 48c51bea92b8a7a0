"""What zoned drivers share: contradictions in a requested geometry, resetting."""

from scripts.campaign.units import short_bytes
from scripts.drivers.base import Device
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation


def geometry_problems(device: Device, power_of_two: bool = True) -> list[str]:
    """Requests that a driver would refuse, or worse, silently change."""
    size, zone = device.get("size_bytes", 0), device.get("zone_size_bytes", 0)
    if not zone:
        return ["zone_size = 0: must be more than 0"]
    found = []
    zones = size // zone
    if power_of_two and zone & (zone - 1):
        found.append(f"zone_size = {short_bytes(zone)}: must be a power of two")
    if size % zone:
        found.append(f"size = {short_bytes(size)}: must be a multiple of zone_size = {short_bytes(zone)}")
    capacity = device.get("zone_capacity_bytes")
    if capacity is not None and not 0 < capacity <= zone:
        found.append(f"zone_capacity = {short_bytes(capacity)}: at most zone_size = {short_bytes(zone)}")
    conventional = device.get("conventional_zones", 0)
    if conventional and conventional >= zones:
        found.append(f"conventional_zones = {conventional}: fewer than the device's {zones} zones")
    sequential = zones - conventional
    for key in ("max_open_zones", "max_active_zones"):
        if device.get(key, 0) > sequential:
            found.append(f"{key} = {device[key]}: at most the device's {sequential} sequential zones")
    opened, active = device.get("max_open_zones", 0), device.get("max_active_zones", 0)
    if active and opened > active:
        found.append(f"max_open_zones = {opened}: at most max_active_zones = {active}")
    return found


def reset(node: str) -> list[Operation]:
    """Empty all sequential zones."""
    return [op.execute("blkzone", "reset", node)]
