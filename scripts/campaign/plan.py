"""The plan: every run of a campaign by name, with its specification and its place in the order."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from scripts.campaign import checks
from scripts.campaign.expand import (
    Cell,
    Variant,
    cells_of,
    device_problems,
    fio_properties,
    matrix_problems,
    narrowed,
    require,
    variants_of,
)
from scripts.campaign.identity import PROTOCOL, canonical, run_name
from scripts.campaign.load import Document, read_document
from scripts.campaign.options import Options
from scripts.campaign.order import schedule
from scripts.campaign.resolve import resolve
from scripts.campaign.units import parse_bytes
from scripts.fio.command import prep_options


@dataclass(frozen=True)
class Campaign:
    """A checked campaign: cells, variants, and every variant's resolved device for every cell."""

    document: Document
    variants: Mapping[str, Variant]
    cells: list[Cell]
    devices: Mapping[tuple[str, str], Mapping[str, Any]]
    differences: list[str]

    @property
    def name(self) -> str:
        """Name of the file, which is the folder under results/."""
        return self.document.name

    @property
    def keys(self) -> Mapping[str, Any]:
        """Top-level keys with defaults."""
        return self.document.keys

    @property
    def baseline(self) -> str:
        """Name of the variant the others are compared with."""
        return str(self.keys.get("baseline") or next(iter(self.variants)))

    def is_twin(self, variant: str) -> bool:
        """Whether a variant is the baseline's recipe once more (`replica`): an A/A comparison."""
        base = self.baseline
        if variant == base or self.variants[variant].driver != self.variants[base].driver:
            return False
        return all(self.devices.get((variant, c.name)) == self.devices.get((base, c.name)) for c in self.cells)

    def device(self, variant: str) -> dict[str, Any]:
        """What the devices of a variant have in common over all cells."""
        found = [self.devices[variant, cell.name] for cell in self.cells if (variant, cell.name) in self.devices]
        return {k: v for k, v in found[0].items() if all(d.get(k) == v for d in found)} if found else {}

    @property
    def guest(self) -> dict[str, int]:
        """`cpus` and `memory_bytes` of the guest."""
        guest = self.keys.get("guest", {})
        return {"cpus": int(guest.get("cpus", 2)), "memory_bytes": parse_bytes(guest.get("memory", "3g"))}


@dataclass(frozen=True)
class Run:
    """One fio execution: variant + cell + sample."""

    name: str
    variant: str
    driver: str
    cell: Cell
    sample: int
    round: int
    block: int
    position: int
    planned_s: float
    spec_json: str

    @property
    def workload(self) -> str:
        """Name of the workload."""
        return self.cell.workload

    @property
    def axes(self) -> Mapping[str, Any]:
        """Plain values of the cell's axes."""
        return self.cell.axes


@dataclass(frozen=True)
class Plan:
    """All runs in the order of execution, and the variants that can not run, with reasons."""

    campaign: Campaign
    runs: list[Run]
    not_run: Mapping[str, str]
    host: str
    clock: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def by_name(self) -> dict[str, Run]:
        """Runs by name."""
        return {run.name: run for run in self.runs}

    def to_json(self) -> str:
        """plan.json, format 1 (docs/architecture.md)."""
        keys = self.campaign.keys
        head = {
            "format": 1,
            "campaign": self.campaign.name,
            "title": keys["title"],
            "question": keys.get("question", ""),
            "baseline": self.campaign.baseline,
            "seed": keys["seed"],
            "boots": keys["boots"],
            "host": self.host,
            "clock": self.clock,
            "repeats": keys["repeats"],
            "scale": self.campaign.document.scale,
            "oversubscribe": keys["oversubscribe"],
            "practical_band_percent": keys["practical_band_percent"],
            "variants": {
                n: {"driver": v.driver, "label": v.label, **({"aa": True} if self.campaign.is_twin(n) else {})}
                for n, v in self.campaign.variants.items()
            },
            "not_run": dict(self.not_run),
            "differences": self.campaign.differences,
            "axes": [*(self.campaign.cells[0].axes if self.campaign.cells else []), *keys.get("axes", [])],
            "workloads": {cell.name: cell.label for cell in self.campaign.cells},
            "options": {cell.name: dict(cell.options) for cell in self.campaign.cells},
            "devices": {n: self.campaign.device(n) for n in self.campaign.variants},
            "tables": keys.get("tables", {}),
            "plots": keys.get("plots"),
        }
        rows = [
            json.dumps(
                {
                    "run": r.name,
                    "variant": r.variant,
                    "cell": r.cell.name,
                    "axes": dict(r.axes),
                    "workload": r.workload,
                    "label": r.cell.label,
                    "sample": r.sample,
                    "round": r.round,
                    "block": r.block,
                    "position": r.position,
                }
            )
            for r in self.runs
        ]
        return json.dumps(head, indent=1)[:-2] + ',\n "runs": [\n  ' + ",\n  ".join(rows) + "\n ]\n}\n"


def load_campaign(directory: Path, options: Options) -> Campaign:
    """Read, check and expand a campaign.

    Args:
        directory: config/campaigns.
        options: checked `--config` pairs.

    Raises:
        CampaignError: everything wrong with the file, at once.
    """
    document = read_document(directory, options)
    keys = document.keys
    variants, problems = variants_of(document)
    for name in ("variants", "workloads"):
        if name not in keys:
            problems.append(checks.Problem(name, None, "missing"))
    problems.extend(checks.table_problems(keys))
    require(problems, document)
    require(matrix_problems(document, variants), document)
    cells = cells_of(document, variants)
    differences: list[str] = []
    devices, problems = device_problems(
        document, variants, cells, lambda text: differences.append(text) if text not in differences else None
    )
    cpus = checks.processors(keys)
    from scripts.drivers import registry

    checked: set[tuple[str, str]] = set()
    for cell in cells:
        where = f"workloads.{cell.workload}"
        problems.extend(checks.workload_problems(where, cell.options, cpus, bool(keys["oversubscribe"])))
        for variant in variants.values():
            device = devices.get((variant.name, cell.name))
            if device is None:
                continue
            problems.extend(checks.fit_problems(where, variant.name, device, cell.options))
            signature = (variant.driver, canonical(device))
            check: Callable[[Mapping[str, Any]], list[str]] | None = getattr(
                registry.driver(variant.driver), "check", None
            )
            if check and signature not in checked:
                problems.extend(checks.Problem(f"variants.{variant.name}.device", None, text) for text in check(device))
            checked.add(signature)
    names = [cell.name for cell in cells]
    problems.extend(
        checks.Problem("workloads", name, "two cells have this name; give one workload another name")
        for name in sorted({n for n in names if names.count(n) > 1})
    )
    require(problems, document)
    return Campaign(document, variants, narrowed(cells), devices, differences)


def planned_seconds(options: Mapping[str, Any]) -> float:
    """What the file says a run takes; 1 s where it says nothing."""
    return float(options.get("runtime_s", 1)) + float(options.get("ramp_time_s", 0))


def build_plan(
    campaign: Campaign,
    environments: Mapping[str, Mapping[str, Any]],
    not_run: Mapping[str, str],
    host: str,
    clock: str,
) -> Plan:
    """Name and order all runs.

    Args:
        campaign: the checked campaign.
        environments: identity of the environment by variant; part of a run's specification.
        not_run: variants that can not run here, with the reason.
        host: `guest` or `local`; clock: `hardware`, `emulated` or `instructions`.
    """
    keys = campaign.keys
    prep_wanted = resolve(keys.get("prep_fio", {}), fio_properties(), defaults=False)
    cells = {cell.name: cell for cell in campaign.cells}
    able = [name for name in campaign.variants if name not in not_run]
    fixed: dict[tuple[str, str], dict[str, Any]] = {}
    runs = []
    for position, (number, block, cell_name, variant_name) in enumerate(
        schedule(keys["seed"], keys["repeats"], list(cells), able), start=1
    ):
        cell, variant = cells[cell_name], campaign.variants[variant_name]
        if (variant_name, cell_name) not in fixed:
            device = campaign.devices[variant_name, cell_name]
            fixed[variant_name, cell_name] = {
                "protocol": PROTOCOL,
                "environment": dict(environments[variant_name]),
                "driver": variant.driver,
                "device": dict(device),
                "prep": prep_options(prep_wanted, device) if cell.prep else None,
                "workload": dict(cell.options),
                **({"replica": variant.replica} if variant.replica else {}),
            }
        specification = {**fixed[variant_name, cell_name], "sample": number}
        text = canonical(specification)
        name = run_name(specification, text)
        runs.append(
            Run(
                name, variant_name, variant.driver, cell, number, number, block, position,
                planned_seconds(cell.options), text,
            )
        )  # fmt: skip
    by_name: dict[str, Run] = {}
    for run in runs:
        if run.name in by_name:
            other = by_name[run.name]
            text = f"measures the same as {other.variant!r}; give one of them `replica: 1` for an A/A comparison"
            if run.variant == other.variant:
                text = (
                    f"is the same measurement in the cells {other.cell.name!r} and {run.cell.name!r}: two workloads "
                    f"that do the same, or a variant that sets what these cells vary; take one out"
                )
            require([checks.Problem(f"variants.{run.variant}", None, text)], campaign.document)
        by_name[run.name] = run
    return Plan(campaign, runs, not_run, host, clock)
