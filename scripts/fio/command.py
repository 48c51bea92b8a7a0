"""fio's command lines: of a workload, and of the prep."""

import os
from collections.abc import Mapping
from typing import Any

SUFFIXES = ("_bytes", "_s")
PREP_DEFAULTS = {"bs_bytes": 131072, "direct": True, "ioengine": "psync", "rw": "write"}


def program() -> str:
    """fio's name or path: BLK_FIO, else `fio`."""
    return os.environ.get("BLK_FIO", "fio")


def option_text(key: str, value: Any) -> str:
    """One option: `bs_bytes: 4096` -> `--bs=4096`, `runtime_s: 0.5` -> `--runtime=500000us`, booleans as 0 and 1.

    Byte counts have no suffix: fio's reading of suffixes depends on kb_base.
    """
    if key.endswith("_s") and isinstance(value, float):
        value = f"{round(value * 1_000_000)}us"
    elif isinstance(value, bool):
        value = int(value)
    for suffix in SUFFIXES:
        key = key.removesuffix(suffix)
    return f"--{key}={value}"


def in_order(options: Mapping[str, Any]) -> list[str]:
    """Sorted, but the engine first: fio knows an engine's own options (fixedbufs) only after it."""
    return sorted(options, key=lambda key: (key != "ioengine", key))


LOGS = ("write_bw_log", "write_iops_log", "write_lat_log", "write_hist_log")


def log_prefix(output: str) -> str:
    """Where a run's log files begin: in a folder of their own beside its output."""
    return f"{output}.logs/fio"


def writes_logs(workload: Mapping[str, Any]) -> bool:
    """Whether fio writes log files beside its output."""
    return any(workload.get(name) for name in LOGS)


def argv(workload: Mapping[str, Any], node: str, output: str) -> list[str]:
    """Command line of a measured run; fio writes JSON to `output`, and logs behind `log_prefix(output)`."""
    form = workload.get("output_format", "json")
    plain = {key: value for key, value in workload.items() if key not in (*LOGS, "output_format")}
    plain |= {name: log_prefix(output) for name in LOGS if workload.get(name)}
    options = [option_text(key, plain[key]) for key in in_order(plain)]
    target = [] if workload.get("ioengine") == "null" and node == "null" else [f"--filename={node}"]
    return [program(), "--name=run", *target, *options, f"--output-format={form}", f"--output={output}"]


def with_own(options: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """A workload's options with those that a driver adds; a driver's size is a limit, not a wish."""
    sizes = [part["size_bytes"] for part in (options, own) if "size_bytes" in part]
    return {**options, **own, **({"size_bytes": min(sizes)} if sizes else {})}


def prep_options(prep: Mapping[str, Any], device: Mapping[str, Any]) -> dict[str, Any]:
    """Resolved options of the prep of a device: zones are written through their write pointers."""
    zoned = {"zonemode": "zbd"} if device.get("zone_size_bytes") and device.get("zoned", True) else {}
    return {**PREP_DEFAULTS, **zoned, **prep}


def prep_argv(prep: Mapping[str, Any], node: str, output: str) -> list[str]:
    """Command line of the prep: the whole device, written once."""
    options = [option_text(key, prep[key]) for key in in_order(prep)]
    return [program(), "--name=prep", f"--filename={node}", *options, "--output-format=json", f"--output={output}"]


def requested_prep_bytes(device: Mapping[str, Any]) -> int | None:
    """Bytes a complete prep has written: the device, or all zones up to their capacity; None when unknown."""
    size = device.get("size_bytes")
    zone, capacity = device.get("zone_size_bytes"), device.get("zone_capacity_bytes")
    if not size or not (zone and device.get("zoned", True)) or not capacity:
        return int(size) if size else None
    zones, conventional = size // zone, device.get("conventional_zones", 0)
    return int(conventional * zone + (zones - conventional) * capacity)


def writes(workload: Mapping[str, Any]) -> bool:
    """Whether a workload changes the device."""
    return workload.get("rw") not in ("read", "randread")
