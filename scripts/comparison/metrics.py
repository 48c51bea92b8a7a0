"""What can be compared: columns of runs.parquet, their units, and whether more of them is better."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A column of the frame: its unit, and whether more of it is better."""

    name: str
    label: str
    unit: str
    more_is_better: bool | None

    @property
    def adds_up(self) -> bool:
        """Whether the directions of a run add up (rates), or the largest counts (latencies, CPU)."""
        return self.unit in ("1/s", "bytes/s")


METRICS = {
    m.name: m
    for m in (
        Metric("iops", "IOPS", "1/s", True),
        Metric("read_iops", "read IOPS", "1/s", True),
        Metric("write_iops", "write IOPS", "1/s", True),
        Metric("bw_bytes_per_s", "bandwidth", "bytes/s", True),
        Metric("read_bw_bytes_per_s", "read bandwidth", "bytes/s", True),
        Metric("write_bw_bytes_per_s", "write bandwidth", "bytes/s", True),
        Metric("clat_mean_ns", "mean latency", "ns", False),
        Metric("clat_p99_ns", "99th percentile of latency", "ns", False),
        Metric("cpu_percent", "CPU", "%", False),
        Metric("instructions_per_io", "instructions per I/O", "1", False),
    )
}
UNITS = {"_bytes_per_s": "bytes/s", "_ns": "ns", "_percent": "%", "_ms": "ms", "iops": "1/s"}


def metric(name: str) -> Metric:
    """A metric by name; for other columns of runs.parquet the unit is that of the name.

    More of a rate is better, more of a latency, of CPU time, of faults and switches is worse; of others nobody can say.
    """
    if name in METRICS:
        return METRICS[name]
    unit = next((unit for suffix, unit in UNITS.items() if name.endswith(suffix)), "1")
    label = name.removesuffix("_ns").removesuffix("_percent").removesuffix("_bytes_per_s").replace("_", " ")
    rate = unit == "bytes/s" or name.startswith("iops")
    cost = unit in ("ns", "%") or name.endswith(("_faults", "_switches")) or "stddev" in name
    better = False if cost else True if rate else None
    return Metric(name, label, "1/s" if rate and unit == "1" else unit, better)


def wanted(options: Iterable[object]) -> list[str]:
    """Metrics that tables and pictures ask for, beyond METRICS."""
    names = [o["metric"] for o in options if isinstance(o, dict) and o.get("metric")]
    return [name for name in dict.fromkeys(map(str, names)) if name not in METRICS]
