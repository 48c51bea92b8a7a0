"""Kernel modules: is one missing, loading guards, unloading, and which build of it is loaded."""

from collections.abc import Mapping
from typing import Any

from scripts.drivers.base import Facts
from scripts.hosts import operations as op
from scripts.hosts.operations import Operation

NOTE_HEADER_BYTES = 16  # three words of the ELF note and "GNU\0"; the build id follows


def missing(facts: Facts, modules: tuple[str, ...], programs: tuple[str, ...] = ()) -> list[str]:
    """Reasons of a driver's `requires`: modules, programs and rights that are not there."""
    reasons = [facts.unavailable[name] for name in (*modules, *programs) if name in facts.unavailable]
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


def vacant(*modules: str) -> list[Operation]:
    """Refuse to start beside a loaded module: it may hold somebody's device, and its parameters are not ours."""
    return [
        op.absent(f"/sys/module/{name}", message=f"module {name} is loaded already; unload it first")
        for name in modules
    ]


def unload(*modules: str) -> list[Operation]:
    """Remove modules; not loaded is fine, and whether it worked is judged by `gone`."""
    return [op.execute("modprobe", "-r", name, allow=(0, 1), optional=True) for name in modules]


def gone(*modules: str) -> list[Operation]:
    """Succeeds when none of the modules is loaded."""
    return [op.wait_gone(f"/sys/module/{name}", count=40) for name in modules]


def readings(name: str) -> list[Operation]:
    """Read what tells one build of a module from another."""
    base = f"/sys/module/{name}"
    return [
        op.read(f"{base}/notes/.note.gnu.build-id", label=f"{name}/build_id", optional=True),
        op.read(f"{base}/srcversion", label=f"{name}/srcversion", optional=True),
        op.read(f"{base}/taint", label=f"{name}/taint", optional=True),
    ]


def identity(name: str, read: Mapping[str, str]) -> dict[str, Any]:
    """Facts for the environment; None for what the kernel does not tell (then its release stands for the build).

    Out of tree is known from the taint flag O; a built-in module has no such file.
    """
    note = read.get(f"{name}/build_id", "").encode("utf-8", "surrogateescape")
    taint = read.get(f"{name}/taint")
    return {
        f"{name}_build_id": note[NOTE_HEADER_BYTES:].hex() or None,
        f"{name}_srcversion": read.get(f"{name}/srcversion", "").strip() or None,
        f"{name}_out_of_tree": None if taint is None else "O" in taint,
    }
