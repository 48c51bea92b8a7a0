"""What stands below every table: clock, environment, prep, n, differences, and what was not run."""

import textwrap
from collections.abc import Iterable

from scripts.comparison.frame import Frame

WIDTH = 80
CLOCKS = {
    "hardware": "hardware",
    "unknown": "unknown (imported results; the mapping can say it)",
    "emulated": "emulated (no KVM: the figures are only indicative)",
    "instructions": "instructions (executed guest instructions count as time, one thread: this is code path, not "
    "throughput, and it can reverse an order measured on hardware)",
}
TARGETS = ("null_blk", "rnull_mod", "zloop", "ublk_drv")
SERVERS = {"ublk": ("rublk",)}


def wrapped(label: str, text: str) -> list[str]:
    """`label: text` in lines of at most 80 columns."""
    return textwrap.wrap(f"{label}: {text}", WIDTH, subsequent_indent="  ", break_long_words=False)


def values(frame: Frame, name: str) -> str:
    """All values of a fact, or `unknown`."""
    return ", ".join(value for value in frame.environment.get(name, []) if value) or "unknown"


def targets(frame: Frame) -> Iterable[str]:
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


def caption(frame: Frame) -> list[str]:
    """Lines below a table."""
    samples, plan = frame.samples, frame.plan
    clock = str(plan.get("clock", "hardware"))
    lines = wrapped("Clock", CLOCKS.get(clock, clock))
    accelerator, virtual = values(frame, "accelerator"), values(frame, "virtualisation")
    machine = f"virtual machine ({accelerator})" if plan.get("host") == "guest" else virtual
    lines += wrapped("Machine", f"{machine}, kernel {values(frame, 'kernel')}, {values(frame, 'fio_version')}")
    found = list(targets(frame))
    if found:
        lines += wrapped("Targets", "; ".join(found))
    preps = [] if plan.get("host") == "imported" else sorted({str(entry["axes"].get("prep")) for entry in plan["runs"]})
    names = {"True": "yes (whole device written with fio)", "False": "no"}
    lines += wrapped("Prep", " and ".join(names.get(p, p) for p in preps) or "unknown")
    if len(samples):
        per_cell = samples.groupby(["variant", "cell"]).size()
        counts = f"{per_cell.min()}" if per_cell.min() == per_cell.max() else f"{per_cell.min()} to {per_cell.max()}"
        boots = samples["boot_id"].nunique()
        if plan.get("host") == "imported":
            known = f"{boots} boot(s)" if boots else "boots unknown"
            how = f"{len(samples)} imported runs, not measured by this pipeline"
        else:
            known = f"{boots} boot(s)"
            how = f"{len(samples)} sessions: device loaded, measured, unloaded and verified gone for each"
        lines += wrapped("Samples", f"{counts} a cell, {known}, {how}")
    schedulers = values(frame, "queue/scheduler")
    if schedulers != "unknown":
        lines += wrapped("Scheduler", schedulers)
    if plan.get("oversubscribe"):
        lines += wrapped("Workers", "more than processors, on purpose (oversubscribe)")
    for difference in plan.get("differences", []):
        lines += wrapped("Difference", difference)
    for variant, reason in plan.get("not_run", {}).items():
        lines += wrapped("Not run", f"{frame.label(variant)}: {reason}")
    for (variant, cell), reason in frame.problems.items():
        lines += wrapped("Missing", f"{frame.label(variant)}, {cell}: {reason}")
    return lines
