"""What readers of such tables ask first, as yes, no, mixed or unknown; and what drivers say about their devices."""

from collections.abc import Iterable
from typing import Any

from scripts.comparison.frame import Frame


def checklist(frame: Frame) -> str:
    """`prep done: yes; unloaded after each run: yes; ...`, from the plan and what the runs recorded."""
    guest = frame.plan.get("host") == "guest"
    virtual = {"none": "bare metal", "": "unknown"}
    kinds = [virtual.get(value, f"virtual machine ({value})") for value in frame.environment.get("virtualisation", [])]
    measured = frame.plan.get("campaign") and frame.plan.get("host") in ("guest", "local")
    answers = {
        "prep done": answer(axes.get("prep") for axes in frame.cells.values()) if measured else "unknown",
        # only runs with an unload.json are counted at all
        "unloaded after each run": "yes, verified" if measured and len(frame.samples) else "unknown",
        "pinned": option(frame, "cpus_allowed"),
        "lfsr": option(frame, "random_generator", "lfsr", random_only=True),
        "norandommap": option(frame, "norandommap", True, random_only=True),
        "scheduler": same(frame, "queue/scheduler"),
        "same queue count": queues(frame),
        "release builds": builds(frame),
        "machine": ", ".join(kinds) or ("virtual machine" if guest else "unknown"),
    }
    return "; ".join(f"{question}: {said}" for question, said in answers.items())


def answer(values: Iterable[Any]) -> str:
    """yes, no, mixed, or unknown where nothing is known."""
    found = {None if value is None else bool(value) for value in values}
    if len(found) == 1:
        return {True: "yes", False: "no", None: "unknown"}[found.pop()]
    return "mixed" if found else "unknown"


def option(frame: Frame, name: str, wanted: Any = None, random_only: bool = False) -> str:
    """Whether the workloads have a fio option; fio's defaults are no."""
    options = frame.plan.get("options")
    if not options:
        return "unknown"
    asked = [o for cell, o in options.items() if cell in frame.cells]
    if random_only:
        asked = [o for o in asked if "rand" in str(o.get("rw", ""))]
        if not asked:
            return "not needed (no random workload)"
    return answer(bool(o.get(name)) if wanted is None else o.get(name) == wanted for o in asked)


def same(frame: Frame, fact: str) -> str:
    """The one value of a fact, or its values by variant."""
    by_variant = {v: facts[fact] for v, facts in frame.by_variant.items() if facts.get(fact)}
    if not by_variant:
        return "unknown"
    if len({tuple(values) for values in by_variant.values()}) == 1:
        return ", ".join(next(iter(by_variant.values())))
    return "differs (" + ", ".join(f"{frame.label(v)}: {'/'.join(values)}" for v, values in by_variant.items()) + ")"


def queues(frame: Frame) -> str:
    """Whether all variants have the same number of hardware queues in each cell."""
    if "queues" in frame.plan.get("axes", []):
        return "yes (axis)"
    devices = {v: d.get("queues") for v, d in frame.plan.get("devices", {}).items() if v in frame.variants}
    if not devices or None in devices.values():
        return "unknown"
    if len(set(devices.values())) == 1:
        return f"yes ({next(iter(devices.values()))})"
    return "no (" + ", ".join(f"{frame.label(v)}: {n}" for v, n in devices.items()) + ")"


def builds(frame: Frame) -> str:
    """Kind of build of user-space targets, as they were recorded."""
    found = {
        (variant, value)
        for variant, facts in frame.by_variant.items()
        for name, values in facts.items()
        if name.endswith("_build")
        for value in values
    }
    if not found:
        return "unknown (no user-space target recorded one)"
    others = sorted(f"{frame.label(v)}: {kind or 'unknown'}" for v, kind in found if kind != "release")
    return f"no ({', '.join(others)})" if others else "yes"


def remarks(frame: Frame) -> list[str]:
    """Known facts of the variants' devices (`remarks` of a driver), and a warning about virtual machines."""
    from scripts.drivers import registry

    found = []
    for variant, device in frame.plan.get("devices", {}).items():
        name = str(frame.plan["variants"].get(variant, {}).get("driver", ""))
        if registry.schema_path(name) is None:
            continue
        said = getattr(registry.driver(name), "remarks", None)
        found += [f"{frame.label(variant)}: {text}" for text in (said(device) if said else [])]
    return found
