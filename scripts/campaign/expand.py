"""From axes to cells: every combination of device, prep and workload, and every variant's device for it."""

import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scripts.campaign.errors import CampaignError, Problem, closest
from scripts.campaign.load import CAMPAIGN_SCHEMA, Document
from scripts.campaign.resolve import resolve, resolve_value, resolved_key
from scripts.campaign.units import short_bytes
from scripts.campaign.validate import schema_problems

SHORT = {
    "queues": "q",
    "queue_depth": "depth",
    "iodepth": "qd",
    "numjobs": "j",
    "block_size": "block",
    "zone_size": "zone",
}
MOST_RUNS = 1_000_000
"""More is a slip of the keyboard; the largest campaign known has 9,600."""
ALWAYS = ("rw", "bs", "iodepth", "numjobs")


@dataclass(frozen=True)
class Variant:
    """One thing being compared; `device` as written, with units."""

    name: str
    driver: str
    label: str
    device: Mapping[str, Any] = field(default_factory=dict)
    replica: int | None = None


@dataclass(frozen=True)
class Cell:
    """One configuration, the same for every variant.

    Attributes:
        name: `q1-prep-qd1-4k-randwrite`.
        workload: name of the workload as in the campaign file, label: how tables name the row.
        device: the device axes' values as written; options: resolved fio options.
        axes: plain values of all that may differ between cells, without unit suffixes.
    """

    name: str
    workload: str
    label: str
    prep: bool
    device: Mapping[str, Any]
    options: Mapping[str, Any]
    axes: Mapping[str, Any]


def schema_of(name: str) -> dict[str, Any]:
    """A driver's schema, found late so that tests may bring drivers of their own."""
    from scripts.drivers import registry

    return registry.schema(name)


def fio_properties() -> dict[str, dict[str, Any]]:
    """fio's options: name -> the schema of one value."""
    definitions = json.loads(CAMPAIGN_SCHEMA.read_text())["$defs"]
    return {name: definition["anyOf"][0] for name, definition in definitions.items()}


def variants_of(document: Document) -> tuple[dict[str, Variant], list[Problem]]:
    """The variants, and what is wrong with their drivers."""
    from scripts.drivers import registry

    variants, problems = {}, []
    for name, raw in document.keys.get("variants", {}).items():
        if raw["driver"] not in registry.names():
            known = registry.names()
            problems.append(
                Problem(
                    f"variants.{name}.driver",
                    raw["driver"],
                    "one of " + ", ".join(known),
                    closest(raw["driver"], known),
                )
            )
            continue
        label = raw.get("label", name)
        variants[name] = Variant(name, raw["driver"], label, raw.get("device", {}), raw.get("replica"))
    baseline = document.keys.get("baseline")
    if baseline is not None and baseline not in document.keys.get("variants", {}):
        names = list(document.keys.get("variants", {}))
        problems.append(Problem("baseline", baseline, "one of " + ", ".join(names), closest(baseline, names)))
    return variants, problems


def is_axis(value: Any, schema: Mapping[str, Any]) -> bool:
    """A list is an axis, unless the parameter itself is a list."""
    return isinstance(value, list) and schema.get("type") != "array"


def combinations(axes: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Every combination of the axes' values, the last axis fastest."""
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def text_of(key: str, value: Any, unit: str | None) -> str:
    """An axis value as part of a cell's name."""
    if isinstance(value, bool):
        return key if value else f"no{key}"
    if unit == "bytes":
        value = short_bytes(value)
    if key in ("rw", "bs", "ioengine", "driver"):
        return str(value)
    return f"{SHORT.get(key, key)}{value}"


def known_parameters(variants: Mapping[str, Variant]) -> dict[str, dict[str, Any]]:
    """Schemas of all device parameters that some variant's driver has."""
    known: dict[str, dict[str, Any]] = {}
    for variant in variants.values():
        known.update({k: v for k, v in schema_of(variant.driver)["properties"].items() if k not in known})
    return known


def device_axes_of(document: Document, variants: Mapping[str, Variant]) -> dict[str, list[Any]]:
    """Device parameters that are lists."""
    known = known_parameters(variants)
    return {k: v for k, v in document.keys.get("device", {}).items() if is_axis(v, known.get(k, {}))}


def matrix_problems(document: Document, variants: Mapping[str, Variant]) -> list[Problem]:
    """What would stop the matrix from being made: values of an axis that are none, and more runs than anybody means."""
    keys, known, axes = document.keys, known_parameters(variants), device_axes_of(document, variants)
    found = []
    for key, values in axes.items():
        for value in values:
            try:
                resolve_value(value, known.get(key, {}))
            except (ValueError, TypeError) as error:
                found.append(Problem(f"device.{key}", value, str(error)))
    devices = math.prod(map(len, axes.values())) * (len(keys["prep"]) if isinstance(keys["prep"], list) else 1)
    points = 0
    for raw in keys["workloads"].values():
        options = {**keys.get("fio", {}), **(raw if isinstance(raw, dict) else {})}
        points += math.prod(len(v) for v in options.values() if isinstance(v, list))
    runs = devices * points * len(variants) * int(keys["repeats"])
    if runs > MOST_RUNS:
        found.append(Problem("repeats", keys["repeats"], f"the matrix would have {runs} runs; at most {MOST_RUNS}"))
    return found


def cells_of(document: Document, variants: Mapping[str, Variant]) -> list[Cell]:
    """All cells, in the order of the file."""
    keys = document.keys
    fio = fio_properties()
    known = known_parameters(variants)
    device_axes = device_axes_of(document, variants)
    preps = keys["prep"] if isinstance(keys["prep"], list) else [keys["prep"]]
    cells = []
    for device in combinations(device_axes):
        for prep in preps:
            for workload, raw in keys["workloads"].items():
                options = {**keys.get("fio", {}), **{k: v for k, v in raw.items() if k != "label"}}
                axes = {k: v for k, v in options.items() if isinstance(v, list)}
                for point in combinations(axes):
                    resolved = resolve({**options, **point}, fio, defaults=False)
                    plain_device = {k: resolve_value(v, known.get(k, {})) for k, v in device.items()}
                    parts = [text_of(k, v, known.get(k, {}).get("unit")) for k, v in plain_device.items()]
                    parts += [text_of("prep", prep, None)] if len(preps) > 1 else []
                    parts += [workload]
                    parts += [text_of(k, resolve_value(v, fio[k]), fio[k].get("unit")) for k, v in point.items()]
                    plain = {k: resolved.get(resolved_key(k, fio[k])) for k in {*options, *ALWAYS}}
                    plain = {"numjobs": 1, "iodepth": 1, **{k: v for k, v in plain.items() if v is not None}}
                    label = raw.get("label", workload)
                    if point and "label" in raw:
                        label += " " + " ".join(parts[-len(point) :])
                    elif point:
                        label = " ".join(parts[-len(point) - 1 :])
                    cells.append(
                        Cell(
                            "-".join(parts),
                            workload,
                            label,
                            prep,
                            device,
                            resolved,
                            {**plain_device, "prep": prep, **plain},
                        )
                    )
    return cells


def narrowed(cells: list[Cell]) -> list[Cell]:
    """Keep of each cell's axes what differs between cells, and the four every reader asks for."""
    from dataclasses import replace

    names = {name for cell in cells for name in cell.axes}
    differ = {n for n in names if len({json.dumps(cell.axes.get(n)) for cell in cells}) > 1} | {*ALWAYS, "prep"}
    device = [n for n in cells[0].device] if cells else []
    order = [*device, "prep", *ALWAYS, *sorted(differ - {*device, "prep", *ALWAYS})]
    return [
        replace(c, axes={n: c.axes[n] for n in order if n in c.axes and (n in differ or n in device)}) for c in cells
    ]


def device_for(variant: Variant, cell: Cell, common: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A variant's device as written for one cell, and the common parameters its driver does not know."""
    properties = schema_of(variant.driver)["properties"]
    scalars = {k: v for k, v in common.items() if k not in cell.device}
    wanted = {**scalars, **cell.device}
    dropped = [key for key in wanted if key not in properties]
    return {**{k: v for k, v in wanted.items() if k in properties}, **variant.device}, dropped


def device_problems(
    document: Document, variants: Mapping[str, Variant], cells: list[Cell], report: Callable[[str], None]
) -> tuple[dict[tuple[str, str], dict[str, Any]], list[Problem]]:
    """Resolved devices by (variant, cell name), and everything wrong with them; `report` takes the differences."""
    common = document.keys.get("device", {})
    problems: list[Problem] = []
    all_known = {key for v in variants.values() for key in schema_of(v.driver)["properties"]}
    for key, value in common.items():
        if key not in all_known:
            problems.append(
                Problem(f"device.{key}", value, "unknown to the drivers of all variants", closest(key, all_known))
            )
    for variant in variants.values():
        for key, value in variant.device.items():
            for other in variants.values():
                if key not in schema_of(other.driver)["properties"]:
                    report(f"{other.label} has no {key}; {variant.label} has {key}={plain(value)}")
    devices: dict[tuple[str, str], dict[str, Any]] = {}
    seen: dict[tuple[str, str], dict[str, Any] | None] = {}
    for variant in variants.values():
        schema = schema_of(variant.driver)
        for cell in cells:
            written, dropped = device_for(variant, cell, common)
            for key in dropped:
                if key in cell.device and key in all_known:
                    allowed = f"an axis that driver {variant.driver!r} of variant {variant.name!r} does not have"
                    problems.append(Problem(f"device.{key}", common[key], allowed))
                elif key in all_known:
                    report(f"{variant.label} has no {key}; the others have {key}={plain(common[key])}")
            signature = (variant.name, json.dumps(written, sort_keys=True, default=str))
            if signature not in seen:
                found = []
                for problem in schema_problems(written, schema):
                    top = problem.key.split(".")[0].split("[")[0]
                    where = f"variants.{variant.name}.device" if top in variant.device else "device"
                    found.append(Problem(f"{where}.{problem.key}", problem.value, problem.allowed, problem.closest))
                problems.extend(found)
                seen[signature] = None if found else resolve(written, schema["properties"], defaults=True)
            device = seen[signature]
            if device is not None:
                devices[variant.name, cell.name] = device
    return devices, problems


def plain(value: Any) -> str:
    """A value as the campaign file has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def require(problems: list[Problem], document: Document) -> None:
    """Raise when there are problems, each said once."""
    unique = list({str(problem): problem for problem in problems}.values())
    if unique:
        raise CampaignError(document.path, unique)
