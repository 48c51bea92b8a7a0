"""What stands below every table: clock, environment, prep, n, checklist, differences, and what was not run."""

from collections.abc import Iterator

from scripts.comparison.checklist import checklist, remarks
from scripts.comparison.frame import Frame

CLOCKS = {
    "hardware": "hardware",
    "unknown": "unknown (imported results; the mapping can say it)",
    "emulated": "emulated (no KVM: the figures are only indicative)",
    "instructions": "instructions (executed guest instructions count as time, one thread: this is code path, not "
    "throughput, and it can reverse an order measured on hardware)",
}
TARGETS = ("null_blk", "rnull_mod", "zloop", "ublk_drv")
SERVERS = {"ublk": ("rublk",)}


def values(frame: Frame, name: str) -> str:
    """All values of a fact, or `unknown`."""
    return ", ".join(value for value in frame.environment.get(name, []) if value) or "unknown"


def targets(frame: Frame) -> Iterator[str]:
    """Builds of what is compared: modules by build id, servers by version and kind of build."""
    for variant in frame.variants:
        facts = frame.by_variant.get(variant, {})
        found = []
        for module in TARGETS:
            ids = [value[:12] for value in facts.get(f"{module}_build_id", []) if value]
            if ids:
                kind = " (out of tree)" if "True" in facts.get(f"{module}_out_of_tree", []) else ""
                found.append(f"{module} build {', '.join(ids)}{kind}")
        for server in SERVERS.get(str(frame.plan["variants"][variant].get("driver")), ()):
            kinds = ", ".join(facts.get(f"{server}_build", [])) or "build kind unknown"
            found.append(f"{server} {', '.join(facts.get(f'{server}_version', []))} ({kinds})")
        if found:
            yield f"{frame.label(variant)}: {', '.join(found)}"


def caption(frame: Frame) -> list[tuple[str, str]]:
    """(label, text) of each paragraph."""
    return [*conditions(frame), ("Checklist", checklist(frame)), *absences(frame)]


def conditions(frame: Frame) -> Iterator[tuple[str, str]]:
    """Under which conditions was measured."""
    samples, plan = frame.samples, frame.plan
    clock = str(plan.get("clock", "hardware"))
    yield "Clock", CLOCKS.get(clock, clock)
    accelerator, virtual = values(frame, "accelerator"), values(frame, "virtualisation")
    virtual = "bare metal" if virtual == "none" else virtual
    machine = f"virtual machine ({accelerator})" if plan.get("host") == "guest" else virtual
    yield "Machine", f"{machine}, kernel {values(frame, 'kernel')}, {values(frame, 'fio_version')}"
    if found := list(targets(frame)):
        yield "Targets", "; ".join(found)
    imported = plan.get("host") == "imported"
    preps = {"None"} if imported else {str(axes.get("prep")) for axes in frame.cells.values()}
    names = {"True": "yes (whole device written with fio)", "False": "no", "None": "unknown"}
    yield "Prep", " and ".join(names.get(p, p) for p in sorted(preps))
    if len(samples):
        per_cell = samples.groupby(["variant", "cell"]).size()
        counts = f"{per_cell.min()}" if per_cell.min() == per_cell.max() else f"{per_cell.min()} to {per_cell.max()}"
        boots, hosts = samples["boot_id"].nunique(), samples["hostname"].nunique()
        known = f"{boots} boot(s)" if boots else "boots unknown"
        known += f", {hosts} hosts" if hosts > 1 else ""
        if imported:
            how = f"{len(samples)} imported runs, not measured by this pipeline"
        else:
            how = f"{len(samples)} sessions: device loaded, measured, unloaded and verified gone for each"
        yield "Samples", f"{counts} a cell, {known}, {how}"
    if (schedulers := values(frame, "queue/scheduler")) != "unknown":
        yield "Scheduler", schedulers
    if plan.get("oversubscribe"):
        yield "Workers", "more than processors, on purpose (oversubscribe)"
    for remark in remarks(frame):
        yield "Remark", remark


def absences(frame: Frame) -> Iterator[tuple[str, str]]:
    """Differences between the variants that nobody asked for, and what there is no figure of."""
    for difference in frame.plan.get("differences", []):
        yield "Difference", difference
    for variant, reason in frame.plan.get("not_run", {}).items():
        yield "Not run", f"{frame.label(variant)}: {reason}"
    alike: dict[tuple[str, str], list[str]] = {}
    for (variant, cell), reason in frame.problems.items():
        alike.setdefault((variant, reason), []).append(cell)
    for (variant, reason), cells in alike.items():
        named = ", ".join(cells) if len(cells) <= 3 else f"{len(cells)} cells ({cells[0]} .. {cells[-1]})"
        yield "Missing", f"{frame.label(variant)}, {named}: {reason}"
