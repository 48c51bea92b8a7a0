"""Rows of runs.parquet (run x job x direction) -> one row a run."""

from collections.abc import Sequence

import pandas as pd

from scripts.comparison.metrics import METRICS, metric

DIRECTIONS = ("read", "write", "trim")
PLAIN = [
    "run", "variant", "cell", "workload", "sample", "round", "block", "position", "boot_id", "hostname", "clock",
    "environment_id", "direction", "bs_bytes", "fio_version",
]  # fmt: skip
COLUMNS = [
    *PLAIN, "status", "reason", "iops", "bw_bytes_per_s", "total_ios", "clat_mean_ns", "clat_p99_ns",
    "usr_cpu_percent", "sys_cpu_percent", "instructions_per_io",
]  # fmt: skip


def samples_of(rows: pd.DataFrame, more: Sequence[str] = ()) -> pd.DataFrame:
    """Rates add up over directions and jobs, latencies are weighted by I/Os, of the rest the largest counts.

    A rate is null as soon as one of its parts is. Where fio wrote a `mixed` row beside those of the directions
    (unified_rw_reporting=both), it is left out: it would count everything twice.
    """
    data = rows[rows["direction"].isin([*DIRECTIONS, "mixed"])]
    if data.empty:
        empty = pd.DataFrame(columns=list(dict.fromkeys([*COLUMNS, *METRICS, *more])))
        return empty.astype(dict.fromkeys([*METRICS, *more, "position"], float))
    mixed = data["direction"] == "mixed"
    if mixed.any():
        data = data[~(mixed & data["run"].isin(data.loc[~mixed, "run"]))]
    derived = {"cpu_percent": data["usr_cpu_percent"] + data["sys_cpu_percent"]}
    for rate in ("iops", "bw_bytes_per_s"):
        for direction in ("read", "write"):
            own = data[rate].where(data["direction"] == direction, 0.0)
            derived[f"{direction}_{rate}"] = own.where(data["direction"] != "mixed")
    data = data.assign(**derived)
    if not data["run"].duplicated().any():
        return data.reset_index(drop=True)
    return added_up(data, [*METRICS, *more])


def added_up(data: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Runs that have several rows."""
    data = data.assign(weighted=data["clat_mean_ns"] * data["total_ios"], counted=data["total_ios"])
    data["counted"] = data["counted"].where(data["clat_mean_ns"].notna(), 0)
    grouped = data.groupby("run", sort=False)
    first = data.drop_duplicates("run").set_index("run")
    for name in ["total_ios", *(m for m in metrics if m in data and metric(m).adds_up)]:
        first[name] = grouped[name].sum().where(grouped[name].count() == grouped.size())
    first["clat_mean_ns"] = grouped["weighted"].sum(min_count=1) / grouped["counted"].sum().replace(0, float("nan"))
    for name in metrics:
        if name in data and not metric(name).adds_up and name != "clat_mean_ns":
            first[name] = grouped[name].max()
    return first.reset_index()
