"""What makes two measurements the same one: the canonical text of a specification, and the run's name made from it."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from scripts.campaign.units import short_bytes

PROTOCOL = 1
"""Raised by hand when measuring code changes what a number means; every run is then a new one."""

# Names of directories on users' disks: what stands here may only grow, never change.
_RW = {"readwrite": "rw"}


def canonical(specification: Mapping[str, Any]) -> str:
    """The one text of a specification: sorted keys, no spaces, ASCII."""
    return json.dumps(specification, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(text: str) -> str:
    """First 12 hex digits of the SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def run_name(specification: Mapping[str, Any], text: str) -> str:
    """Readable part and hash, such as `zloop-randwrite-4k-qd1-j1-s1-0123456789ab`."""
    workload = specification["workload"]
    rw = str(workload.get("rw", "none"))
    parts = [
        str(specification["driver"]),
        _RW.get(rw, rw),
        short_bytes(int(workload.get("bs_bytes", 4096))),
        f"qd{workload.get('iodepth', 1)}",
        f"j{workload.get('numjobs', 1)}",
        f"s{specification['sample']}",
    ]
    return "-".join([*parts, digest(text)])
