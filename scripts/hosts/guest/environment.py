"""What a guest says about itself: the part of the environment that its kernel and its programs tell."""

from collections.abc import Mapping, Sequence
from typing import Any

from scripts.hosts import operations as op
from scripts.hosts.base import HostError
from scripts.hosts.guest.boot import INSTRUCTIONS_PER_GUEST_SECOND
from scripts.hosts.operations import Operation

ACCELERATORS = {"hardware": "KVM", "emulated": "QEMU TCG", "instructions": "QEMU TCG -icount"}
VULNERABILITIES = "/sys/devices/system/cpu/vulnerabilities"
FILES = {
    "kernel": "/proc/sys/kernel/osrelease",
    "kernel_version": "/proc/version",
    "kernel_command_line": "/proc/cmdline",
    "boot_id": "/proc/sys/kernel/random/boot_id",
    "clocksource": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "cpuinfo": "/proc/cpuinfo",
    "meminfo": "/proc/meminfo",
}
# The first fio of a boot fetches its libraries and, under emulation, has its code translated: not in a measured run.
WARM = ("fio", "--name=warm", "--ioengine=null", "--size=64k", "--thread", "--output-format=json")


def questions() -> list[Operation]:
    """One request: the files, the mitigations, fio's version; a first fio at the end."""
    reads = [op.read(path, label=name) for name, path in FILES.items()]
    mitigations = op.execute("grep", "-r", "", VULNERABILITIES, label="mitigations", optional=True)
    return [*reads, mitigations, op.execute("fio", "--version", label="fio_version"), op.execute(*WARM)]


def answers(results: Sequence[Mapping[str, Any]], clock: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Facts, flat, from the results of `questions`.

    Args:
        clock: `hardware`, `emulated` or `instructions`. manifest: the lab's.

    Raises:
        HostError: the guest could not answer, or runs another kernel than the lab's.
    """
    if not results[-1]["ok"]:
        raise HostError(f"the guest can not describe itself: {results[-1]['error']}")
    found = {result["label"]: result["output"].strip() for result in results if result.get("label")}
    cpuinfo, meminfo = found.pop("cpuinfo"), found.pop("meminfo")
    if found["kernel"] != manifest["kernel"]:
        raise HostError(f"the guest runs kernel {found['kernel']}, its lab says {manifest['kernel']}")
    mitigations = (line.removeprefix(f"{VULNERABILITIES}/") for line in found["mitigations"].splitlines())
    programs = {name: p for name, p in manifest.get("programs", {}).items() if name != "fio"}
    facts: dict[str, Any] = {
        **found,
        "mitigations": "; ".join(line.replace(":", ": ", 1) for line in sorted(mitigations)),
        "cpu_model": next((x.split(":")[1].strip() for x in cpuinfo.splitlines() if x.startswith("model name")), ""),
        "cpus": sum(line.startswith("processor\t") for line in cpuinfo.splitlines()),
        "memory_bytes": int(meminfo.split()[1]) * 1024,
        "virtualisation": "qemu",
        "accelerator": ACCELERATORS[clock],
        "clock": clock,
        "lab": manifest.get("key", ""),
        **{f"{name}_version": p.get("version") for name, p in programs.items()},
        **{f"{name}_build": p["build"] for name, p in programs.items() if p.get("build")},
    }
    if clock == "instructions":
        facts["instructions_per_guest_second"] = INSTRUCTIONS_PER_GUEST_SECOND
    return facts
