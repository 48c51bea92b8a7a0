"""The comparison frame: one row for each counted run, with the metrics that tables and pictures show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from scripts.comparison.environment import over_all, read_environment
from scripts.comparison.metrics import METRICS, Metric, wanted
from scripts.comparison.refusals import Refusal, refuse_mixtures, separated
from scripts.comparison.samples import COLUMNS, samples_of
from scripts.dataset.read import SchemaError, read_runs
from scripts.dataset.schema import NAMES

__all__ = ["COLUMNS", "METRICS", "Frame", "Metric", "Refusal", "load"]


@dataclass
class Frame:
    """What is compared.

    Attributes:
        plan: plan.json. samples: one row a counted run, with METRICS as columns.
        problems: {(variant, cell): reason} of planned cells without all their samples.
        environment: {name: sorted distinct values}; by_variant: the same for each variant.
        directory: where it was read from.
        published: {(variant, cell): (lowest, highest)}: differences in percent that somebody published without figures.
    """

    plan: Mapping[str, Any]
    samples: pd.DataFrame
    problems: dict[tuple[str, str], str] = field(default_factory=dict)
    environment: dict[str, list[str]] = field(default_factory=dict)
    by_variant: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    published: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    cache: dict[object, Any] = field(default_factory=dict, repr=False)
    directory: Path | None = None

    @property
    def baseline(self) -> str:
        """Name of the variant the others are compared with."""
        return str(self.plan["baseline"])

    @property
    def variants(self) -> list[str]:
        """Variants in the order of the campaign file, those not run included."""
        return list(self.plan["variants"])

    def label(self, variant: str) -> str:
        """How tables name a variant."""
        text = str(self.plan["variants"][variant].get("label") or variant)
        return " ".join("".join(c if c.isprintable() else " " for c in text).split()) or variant

    @property
    def blank(self) -> str:
        """What stands for a figure that a measured cell does not have."""
        return str(self.plan.get("blank", "unknown"))

    def is_twin(self, variant: str) -> bool:
        """Whether a variant has the baseline's own recipe: an A/A comparison."""
        return bool(self.plan["variants"][variant].get("aa"))

    @cached_property
    def cells(self) -> dict[str, dict[str, Any]]:
        """Axes (with `workload` and `label`) by cell, in the order of the campaign file."""
        found: dict[str, dict[str, Any]] = {}
        for entry in self.plan["runs"]:
            if entry["cell"] not in found:
                label = entry.get("label", entry["workload"])
                found[entry["cell"]] = {**entry["axes"], "workload": entry["workload"], "label": label}
        order = {name: place for place, name in enumerate(self.plan.get("workloads", {}))}
        return dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order))))

    @cached_property
    def places(self) -> dict[Any, Any]:
        """Row numbers of `samples` by (variant, cell)."""
        return dict(self.samples.groupby(["variant", "cell"], sort=False).indices)

    def of(self, variant: str, cell: str) -> pd.DataFrame:
        """Samples of one variant in one cell."""
        return self.samples.iloc[self.places.get((variant, cell), [])]

    def means(self, metric: str) -> dict[Any, float]:
        """Mean over the samples by (variant, cell); none without a sample."""
        if ("means", metric) not in self.cache:
            values = self.samples.groupby(["variant", "cell"], sort=False)[metric].mean().dropna()
            self.cache["means", metric] = values.to_dict()
        found: dict[Any, float] = self.cache["means", metric]
        return found


def load(directory: Path, axes: Sequence[str] = ()) -> Frame:
    """Read results/<campaign>/.

    Args:
        axes: `environment` lets the runs of a variant have several environments, each a variant of its own.

    Raises:
        Refusal: clocks or environments are mixed, a column is unknown, or nothing was parsed yet.
    """
    try:
        plan = msgspec.json.decode((directory / "plan.json").read_bytes())
        if not plan["variants"]:
            text = "no result could be read, so there is nothing to compare; runs.parquet has a reason for each file"
            raise Refusal(f"{directory}: {text}")
        more = wanted([*(plan.get("tables") or {}).values(), *(plan.get("plots") or {}).values()])
        if missing := [name for name in more if name not in NAMES]:
            raise Refusal(f"metric {missing[0]!r}: one of {', '.join([*METRICS, 'a column of runs.parquet'])}")
        columns = [name for name in dict.fromkeys([*COLUMNS, *more]) if name in NAMES]
        rows = read_runs(directory / "runs.parquet", columns).to_pandas()
    except FileNotFoundError as error:
        raise Refusal(f"{error.filename or directory}: missing; run the campaign first") from error
    except SchemaError as error:
        raise Refusal(str(error)) from error
    except msgspec.DecodeError as error:
        raise Refusal(f"{directory / 'plan.json'}: damaged ({error}); run the same command again") from error
    ok = rows["status"] == "ok"
    frame = Frame(plan, samples_of(rows[ok], more), directory=directory)
    path = directory / "environment.parquet"
    if path.is_file() and len(frame.samples):
        frame.by_variant = read_environment(path, frame.samples)
        frame.environment = over_all(frame.by_variant)
    if "environment" in (*axes, *plan.get("axes", [])):
        frame.plan, frame.samples, again = separated(plan, frame.samples)
        if again and path.is_file():
            frame.by_variant = read_environment(path, frame.samples)
    else:
        refuse_mixtures(frame.plan, frame.samples, frame.by_variant)
    lost = rows[~ok].dropna(subset=["cell"]).drop_duplicates(["variant", "cell", "run"])  # a refused import has no cell
    failed = lost.groupby(["variant", "cell"]).size()
    whole = rows.dropna(subset=["cell"]).drop_duplicates(["variant", "cell", "run"]).groupby(["variant", "cell"]).size()
    for row in lost.drop_duplicates(["variant", "cell"]).itertuples():
        place = (row.variant, row.cell)
        of = f" ({failed[place]} of {whole[place]} runs)" if whole[place] > 1 else ""
        frame.problems[place] = f"{row.status}: {row.reason or 'no reason known'}{of}"
    return frame
