"""What must not be compared: mixed clocks, and environments that differ where they are not the axis."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

MACHINE = ("kernel", "fio_version", "accelerator", "virtualisation", "cpu", "mitigations")
"""Facts that one comparison has one value of. All others (modules, targets, queue/*) may be what is compared."""


class Refusal(Exception):
    """These results must not be compared; the text says why."""


def refuse_clocks(samples: pd.DataFrame) -> None:
    """One comparison has one clock.

    Raises:
        Refusal: names the clocks.
    """
    clocks = sorted(samples["clock"].dropna().unique())
    if len(clocks) > 1:
        raise Refusal(f"clocks are mixed: {', '.join(clocks)}; a second does not mean the same in them")


def refuse_mixtures(
    plan: Mapping[str, Any], samples: pd.DataFrame, by_variant: Mapping[str, Mapping[str, list[str]]]
) -> None:
    """One comparison has one clock and one environment, modules and targets of the variants apart.

    Raises:
        Refusal: names what is mixed.
    """
    refuse_clocks(samples)
    hint = "compare them with environment as the axis (`--axes environment`), or measure again"
    identities = samples.dropna(subset=["environment_id"]).groupby("variant", sort=False)["environment_id"]
    for variant, found in identities.unique().items():
        if len(found) > 1:
            raise Refusal(f"environments of {variant} are mixed: {', '.join(sorted(found))}; {hint}")
    several = samples["hostname"].nunique() > 1  # machines may differ when each has all variants
    for fact in MACHINE:
        values = {variant: tuple(facts.get(fact, ())) for variant, facts in by_variant.items()}
        known = {variant: found for variant, found in values.items() if found}
        mixed = len(set(known.values())) > 1 or (not several and any(len(found) > 1 for found in known.values()))
        if mixed:
            said = "; ".join(f"{variant}: {', '.join(found)}" for variant, found in known.items())
            raise Refusal(f"{fact} is mixed: {said}; {hint}")


def separated(plan: Mapping[str, Any], samples: pd.DataFrame) -> tuple[Mapping[str, Any], pd.DataFrame, bool]:
    """Variants with several environments become one variant for each, in the order in which they were planned.

    Returns:
        Plan and samples with the new variants, and whether there are any.

    Raises:
        Refusal: clocks are mixed.
    """
    refuse_clocks(samples)
    known = samples["environment_id"].fillna("unknown")
    counts = known.groupby(samples["variant"], sort=False).nunique()
    several = counts[counts > 1].index
    if not len(several):
        return plan, samples, False
    split = samples["variant"].isin(several)
    names = samples["variant"].where(~split, samples["variant"] + "@" + known)
    new: dict[str, Any] = {}
    for variant, options in plan["variants"].items():
        parts = list(dict.fromkeys(names[samples["variant"] == variant])) or [variant]
        for part in parts:
            suffix = f" @ {part.rpartition('@')[2]}" if len(parts) > 1 else ""
            new[part] = {**options, "label": f"{options.get('label') or variant}{suffix}"}
    base = next((n for n in new if n == plan["baseline"] or n.startswith(f"{plan['baseline']}@")), next(iter(new)))
    by_run = dict(zip(samples["run"], names, strict=True))
    runs = [{**entry, "variant": by_run.get(entry["run"], entry["variant"])} for entry in plan["runs"]]
    return {**plan, "variants": new, "baseline": base, "runs": runs}, samples.assign(variant=names), True
