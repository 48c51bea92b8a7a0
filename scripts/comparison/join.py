"""Results of several folders (two kernels, two machines) as one comparison, where the environment is the axis."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.comparison.environment import over_all
from scripts.comparison.frame import Frame, load
from scripts.comparison.refusals import Refusal, refuse_clocks


def label(frame: Frame, directory: Path, directories: Sequence[Path]) -> str:
    """What tells a folder's variants from those of the others: its kernel, else its own name."""
    kernels = frame.environment.get("kernel", [])
    same_name = sum(other.resolve().name == directory.resolve().name for other in directories) > 1
    return kernels[0] if len(kernels) == 1 else str(directory) if same_name else directory.resolve().name


def joined(directories: Sequence[Path], axes: Sequence[str]) -> Frame:
    """Load all; a variant of each folder is a variant of its own, and the first folder has the baseline.

    Raises:
        Refusal: environment is not the axis, clocks are mixed, or the folders have no cell in common.
    """
    frames = [load(directory, axes) for directory in directories]
    if len(frames) == 1:
        return frames[0]
    if "environment" not in axes:
        raise Refusal("--results: several folders are several environments; say `--axes environment`")
    labels = [label(frame, place, directories) for frame, place in zip(frames, directories, strict=True)]
    if len(set(labels)) < len(labels):
        labels = [f"{text} ({place})" for text, place in zip(labels, directories, strict=True)]
    common = set.intersection(*(set(frame.cells) for frame in frames))
    if not common:
        raise Refusal(f"--results: {', '.join(map(str, directories))} have no cell in common")
    renamed = [moved(frame, text) for frame, text in zip(frames, labels, strict=True)]
    plan = {**renamed[0].plan, "tables": frames[0].plan.get("tables", {}), "runs": []}
    for key in ("variants", "not_run", "devices", "options", "workloads"):
        plan[key] = {name: value for frame in renamed for name, value in frame.plan.get(key, {}).items()}
    plan["runs"] = [entry for frame in renamed for entry in frame.plan["runs"]]
    plan["differences"] = list(dict.fromkeys(d for f in renamed for d in f.plan.get("differences", [])))
    samples = pd.concat([frame.samples for frame in renamed], ignore_index=True)
    refuse_clocks(samples)
    by_variant = {name: facts for frame in renamed for name, facts in frame.by_variant.items()}
    problems = {place: reason for frame in renamed for place, reason in frame.problems.items()}
    return Frame(plan, samples, problems, over_all(by_variant), by_variant)


def moved(frame: Frame, text: str) -> Frame:
    """The same frame, its variants and runs named after their folder."""
    plan = frame.plan

    def name(variant: Any) -> str:
        return f"{variant}@{text}"

    def renamed(values: Mapping[str, Any]) -> dict[str, Any]:
        return {name(variant): value for variant, value in values.items()}

    variants = {name(v): {**o, "label": f"{frame.label(v)} @ {text}"} for v, o in plan["variants"].items()}
    runs = [{**e, "variant": name(e["variant"]), "run": name(e["run"])} for e in plan["runs"]]
    new = {**plan, "variants": variants, "runs": runs, "baseline": name(plan["baseline"])}
    new["devices"], new["not_run"] = renamed(plan.get("devices", {})), renamed(plan.get("not_run", {}))
    samples = frame.samples.assign(variant=frame.samples["variant"].map(name), run=frame.samples["run"].map(name))
    problems = {(name(variant), cell): reason for (variant, cell), reason in frame.problems.items()}
    return Frame(new, samples, problems, frame.environment, renamed(frame.by_variant))
