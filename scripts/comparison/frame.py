"""The comparison frame: one row for each counted run, with the metrics that tables and pictures show."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq


class Refusal(Exception):
    """These results must not be compared; the text says why."""


@dataclass(frozen=True)
class Metric:
    """A column of the frame: its unit, and whether more of it is better."""

    name: str
    label: str
    unit: str
    more_is_better: bool


METRICS = {
    m.name: m
    for m in (
        Metric("iops", "IOPS", "1/s", True),
        Metric("read_iops", "read IOPS", "1/s", True),
        Metric("write_iops", "write IOPS", "1/s", True),
        Metric("bw_bytes_per_s", "bandwidth", "bytes/s", True),
        Metric("clat_mean_ns", "mean latency", "ns", False),
        Metric("clat_p99_ns", "99th percentile of latency", "ns", False),
        Metric("cpu_percent", "CPU", "%", False),
        Metric("instructions_per_io", "instructions per I/O", "1", False),
    )
}
COLUMNS = [
    "run", "variant", "cell", "workload", "sample", "round", "block", "position", "boot_id", "hostname", "clock",
    "environment_id", "status", "reason", "direction", "iops", "bw_bytes_per_s", "total_ios", "clat_mean_ns",
    "clat_p99_ns", "usr_cpu_percent", "sys_cpu_percent", "instructions_per_io", "bs_bytes", "fio_version", "warnings",
]  # fmt: skip


@dataclass
class Frame:
    """What is compared.

    Attributes:
        plan: plan.json. samples: one row a counted run, with METRICS as columns.
        problems: {(variant, cell): reason} of planned cells without all their samples.
        environment: {name: sorted distinct values}.
    """

    plan: Mapping[str, Any]
    samples: pd.DataFrame
    problems: dict[tuple[str, str], str] = field(default_factory=dict)
    environment: dict[str, list[str]] = field(default_factory=dict)
    by_variant: dict[str, dict[str, list[str]]] = field(default_factory=dict)

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
        return str(self.plan["variants"][variant].get("label") or variant)

    @property
    def cells(self) -> dict[str, dict[str, Any]]:
        """Axes (with `workload` and `label`) by cell, in the order of the campaign file."""
        found: dict[str, dict[str, Any]] = {}
        for entry in self.plan["runs"]:
            found.setdefault(
                entry["cell"],
                {**entry["axes"], "workload": entry["workload"], "label": entry.get("label", entry["workload"])},
            )
        order = {name: place for place, name in enumerate(self.plan.get("workloads", {}))}
        return dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order))))

    def of(self, variant: str, cell: str) -> pd.DataFrame:
        """Samples of one variant in one cell."""
        return self.samples[(self.samples["variant"] == variant) & (self.samples["cell"] == cell)]


def load(directory: Path) -> Frame:
    """Read results/<campaign>/.

    Raises:
        Refusal: clocks or environments are mixed, or nothing was parsed yet.
    """
    try:
        plan = json.loads((directory / "plan.json").read_bytes())
        table = pq.read_table(directory / "runs.parquet")
    except FileNotFoundError as error:
        raise Refusal(f"{error.filename}: missing; run the campaign first") from error
    rows = table.select([c for c in COLUMNS if c in table.column_names]).to_pandas()
    ok = rows[rows["status"] == "ok"]
    samples = samples_of(ok)
    frame = Frame(plan, samples)
    refuse_mixtures(frame)
    lost = rows[rows["status"] != "ok"]
    for (variant, cell), group in lost.groupby(["variant", "cell"], sort=False):
        reasons = group["reason"].dropna().unique()
        status = group["status"].iloc[0]
        frame.problems[variant, cell] = f"{status}: {reasons[0] if len(reasons) else 'no reason known'}"
    path = directory / "environment.parquet"
    if path.is_file() and len(samples):
        read_environment(frame, path)
    return frame


def read_environment(frame: Frame, path: Path) -> None:
    """Distinct values of everything recorded, over all and by variant."""
    facts = pq.read_table(path).to_pandas()
    facts = facts.merge(frame.samples[["run", "variant"]], on="run")
    distinct = facts.drop_duplicates(["variant", "name", "value"])
    for (variant, name), group in distinct.groupby(["variant", "name"], sort=False):
        frame.by_variant.setdefault(variant, {})[name] = sorted(group["value"])
    for name, group in distinct.groupby("name", sort=False):
        frame.environment[name] = sorted(group["value"].unique())


def samples_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows by direction -> one row a run: rates add up, latencies are weighted by I/Os."""
    data = rows[rows["direction"].isin(["read", "write", "trim", "mixed"])]
    if data.empty:
        return pd.DataFrame(columns=list(dict.fromkeys([*COLUMNS, *METRICS])))
    data = data.assign(
        cpu_percent=data["usr_cpu_percent"] + data["sys_cpu_percent"],
        weighted=data["clat_mean_ns"] * data["total_ios"],
        read_iops=data["iops"].where(data["direction"] == "read", 0.0),
        write_iops=data["iops"].where(data["direction"] == "write", 0.0),
    )
    grouped = data.groupby("run", sort=False)
    first = grouped.first()
    for name in ("iops", "read_iops", "write_iops", "bw_bytes_per_s", "total_ios"):
        first[name] = grouped[name].sum()
    first["clat_mean_ns"] = grouped["weighted"].sum(min_count=1) / first["total_ios"]
    for name in ("clat_p99_ns", "cpu_percent"):
        first[name] = grouped[name].max()
    return first.reset_index()


def refuse_mixtures(frame: Frame) -> None:
    """One table has one clock, and a cell of one variant one environment.

    Raises:
        Refusal: names what is mixed.
    """
    clocks = sorted(frame.samples["clock"].dropna().unique())
    if len(clocks) > 1:
        raise Refusal(f"clocks are mixed: {', '.join(clocks)}; a second does not mean the same in them")
    for variant, group in frame.samples.groupby("variant", sort=False):
        identities = sorted(group["environment_id"].dropna().unique())
        if len(identities) > 1 and "environment" not in frame.plan.get("axes", []):
            raise Refusal(f"environments of {variant} are mixed: {', '.join(identities)}")
