"""Is a variant faster than the baseline? Ratios from blocks, intervals over boots.

Samples of one boot cluster, so an interval is never computed as if they were independent: log ratios are averaged by
boot, and a t interval is taken over the boots (over hosts, where there are several). Simulated in
benchmarks/statistics.py.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from scripts.comparison.pairs import log_ratios

MIN_CLUSTERS = 3
ALPHA = 0.05
POWER = 0.8
SMALLEST_BAND_PERCENT = 0.05


@dataclass
class Comparison:
    """A variant against the baseline, in one cell and one metric.

    Attributes:
        ratio: geometric mean of variant / baseline. low, high: interval at 95 %, None below three boots (or hosts).
        smallest, largest: range of the blocks' ratios.
        n: pairs; boots, hosts: clusters behind them; boots is 0 where no boot is known.
        degrees, error: degrees of freedom and standard error of the log ratio.
        p: two-sided; adjusted: after Holm over the cells of the table.
        verdict: faster, slower, ~, A/A, or why there is none (`within one boot`).
        detectable_percent: the smallest difference that this design sees with 80 % power.
        seen: whether there is a difference, of whatever size; a verdict also needs it to be outside the band.
        away: the variant and the baseline ran on different hosts.
    """

    variant: str
    cell: str
    metric: str
    n: int
    boots: int
    hosts: int
    ratio: float
    smallest: float
    largest: float
    low: float | None = None
    high: float | None = None
    degrees: int = 0
    error: float | None = None
    p: float | None = None
    adjusted: float | None = None
    detectable_percent: float | None = None
    verdict: str = ""
    seen: bool = False
    away: bool = False


@cache
def t_quantile(probability: float, degrees: int) -> float:
    """Quantile of Student's t."""
    from scipy import special

    return float(special.stdtrit(degrees, probability))


def t_two_sided(statistic: float, degrees: int) -> float:
    """p of a t statistic."""
    from scipy import special

    return float(2 * special.stdtr(degrees, -abs(statistic)))


@cache
def detectable_errors(degrees: int, alpha: float) -> float:
    """The difference, in standard errors, that a t test at `alpha` finds with 80 % power (noncentral t)."""
    from scipy import special

    limit = t_quantile(1 - alpha / 2, degrees)
    low, high = 0.0, 4 * limit + 10
    for _ in range(50):
        middle = (low + high) / 2
        missed = float(special.nctdtr(degrees, middle, limit))
        low, high = (middle, high) if missed > 1 - POWER else (low, middle)
    return high


def compare_all(samples: pd.DataFrame, baseline: str, metric: str) -> list[Comparison]:
    """Every variant against the baseline in every cell that both have.

    Args:
        samples: columns variant, cell, round, boot_id, hostname and the metric; null or 0 have no ratio.
    """
    pairs = log_ratios(samples, baseline, metric)
    if pairs.empty:
        return []
    by_boot = pairs.groupby(["variant", "cell", "hostname", "cluster"], sort=False).agg(
        log=("log_ratio", "mean"), low=("log_ratio", "min"), high=("log_ratio", "max"), n=("log_ratio", "size"),
        known=("known", "all"), away=("away", "any"),
    )  # fmt: skip
    by_host = by_boot.groupby(["variant", "cell", "hostname"], sort=False).agg(
        log=("log", "mean"), deviation=("log", "std"), low=("low", "min"), high=("high", "max"), n=("n", "sum"),
        boots=("log", "size"), known=("known", "all"), away=("away", "any"),
    )  # fmt: skip
    found = by_host.groupby(["variant", "cell"], sort=False).agg(
        log=("log", "mean"), deviation=("log", "std"), within=("deviation", "first"), low=("low", "min"),
        high=("high", "max"), n=("n", "sum"), boots=("boots", "sum"), hosts=("log", "size"), known=("known", "all"),
        away=("away", "any"),
    )  # fmt: skip
    rows: Any = found.itertuples()
    return [comparison(str(row.Index[0]), str(row.Index[1]), metric, row) for row in rows]


def comparison(variant: str, cell: str, metric: str, row: Any) -> Comparison:
    """One cell's result from its means over boots and hosts."""
    hosts, boots = int(row.hosts), int(row.boots) if row.known else 0
    result = Comparison(
        variant, cell, metric, int(row.n), boots, hosts, math.exp(row.log), math.exp(row.low), math.exp(row.high)
    )
    result.away = bool(row.away)
    count, deviation = (boots, row.within) if hosts == 1 else (hosts, row.deviation)
    if count < MIN_CLUSTERS:
        return result
    result.degrees = count - 1
    result.error = error = float(deviation) / math.sqrt(count)
    half = t_quantile(1 - ALPHA / 2, result.degrees) * error
    result.low, result.high = math.exp(row.log - half), math.exp(row.log + half)
    # equal to the last bit in every boot: no error to divide by (the clock `instructions` does this)
    if error < 1e-12:
        result.p = 1.0 if abs(row.log) < 1e-12 else 0.0
    else:
        result.p = t_two_sided(row.log / error, result.degrees)
    return result


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjustment, in the order given."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, running = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


def decide(comparisons: Sequence[Comparison], more_is_better: bool | None, band_percent: float) -> None:
    """Fill in adjusted p, detectable differences and verdicts for the cells of one table.

    Args:
        more_is_better: None where nobody can say: the verdict is `more` or `less` then.
    """
    more, less = ("more", "less") if more_is_better is None else ("faster", "slower")
    tested = [c for c in comparisons if c.p is not None]
    for found, adjusted in zip(tested, holm([c.p or 0.0 for c in tested]), strict=True):
        found.adjusted = adjusted
    left = len(tested) - sum((c.adjusted or 0) < ALPHA for c in tested)
    for found in comparisons:
        if found.p is None or found.error is None:
            found.verdict = without_verdict(found)
            continue
        # what was not found was tested at the step at which Holm stopped
        found.detectable_percent = (
            math.exp(min(700.0, detectable_errors(found.degrees, ALPHA / max(left, 1)) * found.error)) - 1
        ) * 100
        found.seen = (found.adjusted or 0) < ALPHA
        if found.seen and outside(found.ratio, band_percent):
            found.verdict = more if (found.ratio > 1) == (more_is_better is not False) else less
        else:
            found.verdict = "~"


def outside(ratio: float, band_percent: float) -> bool:
    """Whether a difference is larger than the practical band."""
    return abs(ratio - 1) * 100 > band_percent


def without_verdict(found: Comparison) -> str:
    """Why there is no verdict: too few boots or hosts."""
    if found.hosts > 1:
        return f"within {found.hosts} hosts"
    if found.boots == 0:
        return "boots unknown"
    return "within one boot" if found.boots == 1 else f"within {found.boots} boots"


def measured_band(twins: Sequence[Comparison]) -> float | None:
    """Practical band in percent from A/A comparisons: the largest difference (from 20 cells on, 95th percentile).

    Never below what tables print: two kernels that count the same instructions differ by nothing, and a hundred
    thousandth is no news.
    """
    if not twins:
        return None
    sizes = [abs(c.ratio - 1) * 100 for c in twins]
    return max(SMALLEST_BAND_PERCENT, float(np.percentile(sizes, 95)) if len(sizes) >= 20 else max(sizes))


def geometric_mean(ratios: Sequence[float]) -> float:
    """Geometric mean of positive ratios."""
    return math.exp(sum(math.log(r) for r in ratios) / len(ratios))
