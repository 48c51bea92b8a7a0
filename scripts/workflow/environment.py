"""Where a campaign runs: host, clock, the environment's identity, and which variants can not run there."""

import hashlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.campaign.plan import Campaign
from scripts.drivers import registry
from scripts.drivers.base import Facts
from scripts.hosts.local import fio_version, machine_facts
from scripts.hosts.programs import find
from scripts.lab import lock
from scripts.lab.lock import Lock

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass
class Environment:
    """What the plan needs to know of the host.

    Attributes:
        ready: False when the lab must be built (or the accelerator probed) before the plan can be made.
        host: configuration passed to the keeper. identities: part of a run's specification, by variant.
        not_run: reasons by variant.
    """

    ready: bool
    clock: str = "hardware"
    host: dict[str, Any] = field(default_factory=dict)
    identities: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)


def local_facts() -> Facts:
    """What this machine can do."""
    release = os.uname().release
    modules: set[str] = {path.name for path in Path("/sys/module").glob("*")}
    for name in ("modules.dep", "modules.builtin"):
        path = Path("/lib/modules") / release / name
        if path.is_file():
            lines = path.read_text(errors="replace").splitlines()
            modules |= {Path(line.split(":")[0]).name.split(".ko")[0].replace("-", "_") for line in lines}
    wanted = ("rublk", "mkfs.xfs", "blkzone", "losetup", "nbd-client")
    programs = {name for name in wanted if find(name)}
    return Facts(frozenset(modules), frozenset(programs), release, os.cpu_count() or 1, os.geteuid() == 0)


def reasons(campaign: Campaign, facts: Facts) -> dict[str, str]:
    """Variants that can not run, each with all its reasons."""
    found = {}
    for variant in campaign.variants.values():
        texts: list[str] = []
        for (name, _), device in campaign.devices.items():
            if name == variant.name:
                texts += registry.driver(variant.driver).requires(device, facts)
        if texts:
            found[variant.name] = "; ".join(dict.fromkeys(texts))
    return found


def local_environment(campaign: Campaign) -> Environment:
    """This machine, as it is."""
    facts = machine_facts()
    machine = next((p.read_text().strip() for p in [Path("/etc/machine-id")] if p.is_file()), "")
    described = [machine, facts["kernel_version"], facts["cpu_model"], fio_version(os.environ.get("BLK_FIO", "fio"))]
    identity = {"host": "local", "machine": hashlib.sha256("\0".join(map(str, described)).encode()).hexdigest()[:16]}
    return Environment(
        True,
        "hardware",
        {"kind": "local"},
        {name: identity for name in campaign.variants},
        reasons(campaign, local_facts()),
    )


def guest_environment(campaign: Campaign) -> Environment:
    """A guest made of the lab."""
    from scripts.hosts.guest.accelerator import accelerator
    from scripts.lab.manifest import locate

    state = locate(REPOSITORY)
    clock = campaign.keys["clock"]
    if not state.ready:
        return Environment(False)
    if clock == "auto":
        found = accelerator(state.path / state.manifest["vmlinuz"], say)
        clock = "hardware" if found.name == "kvm" else "instructions"
    guest = campaign.guest
    facts = Facts(
        frozenset(state.manifest["module_names"]),
        frozenset(state.manifest["program_names"]),
        state.manifest["kernel"],
        guest["cpus"],
        True,
        state.unavailable,
    )
    host = {"kind": "guest", "lab": str(state.path), "clock": clock, **guest}
    identities = guest_identities(campaign, lock.load(REPOSITORY), clock)
    return Environment(True, clock, host, identities, reasons(campaign, facts))


def guest_identities(campaign: Campaign, locked: Lock, clock: str) -> dict[str, Mapping[str, Any]]:
    """By variant: the clock, the guest's size, and what of the lab that variant's numbers depend on."""
    found: dict[str, Mapping[str, Any]] = {}
    for variant in campaign.variants.values():
        driver = registry.driver(variant.driver)
        parts = lock.identity(locked, [*driver.MODULES, *driver.DAEMONS])
        found[variant.name] = {"host": "guest", "lab": parts, "clock": clock, **campaign.guest}
    return found


def say(text: str) -> None:
    """A line of ours."""
    sys.stderr.write(f"blkcampaign: {text}\n")
    sys.stderr.flush()


def environment_of(campaign: Campaign) -> Environment:
    """The environment the campaign asks for."""
    return guest_environment(campaign) if campaign.keys["host"] == "guest" else local_environment(campaign)
