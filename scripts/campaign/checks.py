"""What a schema can not see: keys that contradict each other."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.campaign.errors import Problem, closest
from scripts.campaign.units import short_bytes

REFERENCES = Path(__file__).resolve().parents[2] / "config" / "references"
SYNCHRONOUS = ("psync", "sync", "pvsync", "pvsync2", "vsync", "mmap")


def processors(keys: Mapping[str, Any]) -> int:
    """Processors that jobs can use on the campaign's host."""
    if keys["host"] == "guest":
        return int(keys.get("guest", {}).get("cpus", 2))
    return os.cpu_count() or 1


def workload_problems(where: str, options: Mapping[str, Any], cpus: int, oversubscribe: bool) -> list[Problem]:
    """Contradictions within one workload.

    Args:
        where: key path of the workload in the file.
        options: resolved fio options.
        cpus: processors of the host; oversubscribe: whether more workers than that are wanted.
    """
    found = []
    runtime, ramp = options.get("runtime_s"), options.get("ramp_time_s")
    if runtime == 0:
        found.append(Problem(f"{where}.runtime", 0, "must be more than 0 s"))
    if options.get("time_based") and not runtime:
        found.append(Problem(f"{where}.time_based", True, "needs a runtime"))
    if ramp and not (runtime and options.get("time_based")):
        found.append(
            Problem(f"{where}.ramp_time", ramp, "needs runtime and time_based; without, it can eat the whole run")
        )
    elif ramp and runtime and ramp > runtime:
        found.append(Problem(f"{where}.ramp_time", ramp, f"must not be longer than the runtime of {runtime} s"))
    if "rw" not in options:
        found.append(Problem(f"{where}.rw", None, "missing: what the workload does, such as randread"))
    jobs = options.get("numjobs", 1)
    if jobs > cpus and not oversubscribe:
        found.append(
            Problem(
                f"{where}.numjobs",
                jobs,
                f"more workers than the host's {cpus} processors; allowed with `oversubscribe: true`",
            )
        )
    engine, depth = options.get("ioengine", "psync"), options.get("iodepth", 1)
    if engine in SYNCHRONOUS and depth > 1:
        found.append(Problem(f"{where}.iodepth", depth, f"ioengine {engine} is synchronous: its depth is always 1"))
    numbers = [int(n) for n in re.findall(r"\d+", str(options.get("cpus_allowed", "")))]
    if numbers and max(numbers) >= cpus:
        found.append(
            Problem(f"{where}.cpus_allowed", options["cpus_allowed"], f"the host has processors 0 to {cpus - 1}")
        )
    if "rwmixread" in options and options.get("rw") not in ("rw", "readwrite", "randrw", None):
        found.append(
            Problem(f"{where}.rwmixread", options["rwmixread"], f"rw={options.get('rw')} is not a mixed workload")
        )
    return found


def table_problems(keys: Mapping[str, Any]) -> list[Problem]:
    """Tables that could not be printed after all has been measured."""
    found = []
    names = sorted(path.stem for path in REFERENCES.glob("*.yaml"))
    for table, options in keys.get("tables", {}).items():
        reference = options.get("reference")
        if reference is None or reference in names or Path(reference).is_file():
            continue
        allowed = f"one of {', '.join(names)}, or a file"
        found.append(Problem(f"tables.{table}.reference", reference, allowed, closest(reference, names)))
    return found


def fit_problems(where: str, variant: str, device: Mapping[str, Any], options: Mapping[str, Any]) -> list[Problem]:
    """Contradictions between one workload and one variant's device."""
    found = []
    bs = options.get("bs_bytes", 4096)
    size, zone, block = device.get("size_bytes"), device.get("zone_size_bytes"), device.get("block_size_bytes")
    zoned = bool(zone) and device.get("zoned", True)

    def limit(key: str, value: Any, allowed: str) -> None:
        found.append(Problem(f"{where}.{key}", value, f"{allowed} (variant {variant})"))

    if size and bs > size:
        limit("bs", short_bytes(bs), f"larger than the device of {short_bytes(size)}")
    elif zone and zoned and bs > zone:
        limit("bs", short_bytes(bs), f"larger than a zone of {short_bytes(zone)}")
    if block and bs % block:
        limit("bs", short_bytes(bs), f"must be a multiple of the device's block size of {short_bytes(block)}")
    if size and options.get("size_bytes", 0) + options.get("offset_bytes", 0) > size:
        limit(
            "size",
            short_bytes(options.get("size_bytes", 0)),
            f"with the offset beyond the device of {short_bytes(size)}",
        )
    depth, queues = device.get("queue_depth"), device.get("queues", 1)
    if depth and options.get("iodepth", 1) > depth * queues:
        limit("iodepth", options["iodepth"], f"deeper than the device's {queues} x {depth} requests")
    writes = options.get("rw", "") not in ("read", "randread")
    if zoned and writes and options.get("zonemode") != "zbd":
        limit("zonemode", options.get("zonemode"), "must be zbd: writes of a zoned device go to write pointers")
    return found
