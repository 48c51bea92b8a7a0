"""Is a variant faster than the baseline? Ratios from blocks, intervals over boots.

Samples of one boot cluster, so an interval is never computed as if they were independent: log ratios are averaged by
boot, and a t interval is taken over the boots (hosts, where there are several). Simulated in benchmarks/statistics.py.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

MIN_BOOTS = 3
ALPHA = 0.05


@dataclass
class Comparison:
    """A variant against the baseline, in one cell and one metric.

    Attributes:
        ratio: geometric mean of variant / baseline; low, high: interval at 95 %, None within one or two boots.
        smallest, largest: range of the blocks' ratios.
        n: pairs; boots, hosts: clusters behind them. p: two-sided; adjusted: after Holm.
        verdict: faster, slower, ~ or `within one boot`.
        detectable_percent: the smallest difference this design sees with 80 % power.
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
    p: float | None = None
    adjusted: float | None = None
    detectable_percent: float | None = None
    verdict: str = ""


@cache
def t_quantile(probability: float, degrees: int) -> float:
    """Quantile of Student's t."""
    from scipy import stats

    return float(stats.t.ppf(probability, degrees))


def t_two_sided(statistic: float, degrees: int) -> float:
    """p of a t statistic."""
    from scipy import stats

    return float(2 * stats.t.sf(abs(statistic), degrees))


def pair_ratios(baseline: pd.DataFrame, variant: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Log ratios of the pairs that ran in the same block (round), with the boot and host of the variant's run."""
    left = baseline[["round", metric]].rename(columns={metric: "base"})
    right = variant[["round", metric, "boot_id", "hostname"]]
    pairs = left.merge(right, on="round").dropna(subset=["base", metric])
    pairs = pairs[(pairs["base"] > 0) & (pairs[metric] > 0)]
    return pairs.assign(log_ratio=np.log(pairs[metric].to_numpy(float) / pairs["base"].to_numpy(float)))


def cluster_means(pairs: pd.DataFrame) -> np.ndarray:
    """Means by host where there are at least three, else by boot."""
    by = "hostname" if pairs["hostname"].nunique() >= MIN_BOOTS else "boot_id"
    boots = pairs.groupby(["hostname", "boot_id"], dropna=False)["log_ratio"].mean()
    means = boots.groupby("hostname").mean() if by == "hostname" else boots
    return np.asarray(means, dtype=float)


def compare(baseline: pd.DataFrame, variant: pd.DataFrame, name: str, cell: str, metric: str) -> Comparison | None:
    """Compare two sets of samples; None when there is no pair."""
    pairs = pair_ratios(baseline, variant, metric)
    if pairs.empty:
        return None
    logs = pairs["log_ratio"].to_numpy(float)
    means = cluster_means(pairs)
    result = Comparison(
        name,
        cell,
        metric,
        n=len(logs),
        boots=int(pairs["boot_id"].nunique(dropna=False)),
        hosts=int(pairs["hostname"].nunique(dropna=False)),
        ratio=math.exp(float(means.mean())),
        smallest=math.exp(float(logs.min())),
        largest=math.exp(float(logs.max())),
    )
    if len(means) < MIN_BOOTS:
        return result
    degrees = len(means) - 1
    error = float(means.std(ddof=1)) / math.sqrt(len(means))
    half = t_quantile(1 - ALPHA / 2, degrees) * error
    centre = float(means.mean())
    result.low, result.high = math.exp(centre - half), math.exp(centre + half)
    result.p = t_two_sided(centre / error, degrees) if error > 0 else (1.0 if centre == 0 else 0.0)
    smallest = (t_quantile(1 - ALPHA / 2, degrees) + t_quantile(0.8, degrees)) * error
    result.detectable_percent = (math.exp(smallest) - 1) * 100
    return result


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjustment, in the order given."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, running = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


def decide(comparisons: Sequence[Comparison], more_is_better: bool, band_percent: float) -> None:
    """Fill in adjusted p and verdicts for the cells of one table."""
    tested = [c for c in comparisons if c.p is not None]
    for comparison, adjusted in zip(tested, holm([c.p or 0.0 for c in tested]), strict=True):
        comparison.adjusted = adjusted
    for comparison in comparisons:
        if comparison.low is None or comparison.high is None:
            boots = "one boot" if comparison.boots == 1 else f"{comparison.boots} boots"
            comparison.verdict = f"within {boots}"
        elif (comparison.adjusted or 0) < ALPHA and abs(comparison.ratio - 1) * 100 > band_percent:
            better = (comparison.ratio > 1) == more_is_better
            comparison.verdict = "faster" if better else "slower"
        else:
            comparison.verdict = "~"


def spread_percent(values: pd.Series) -> float:
    """Half the range in percent of the mean; 0 for one sample."""
    numbers = values.to_numpy(float)
    return float((numbers.max() - numbers.min()) / 2 / numbers.mean() * 100) if len(numbers) > 1 else 0.0


def geometric_mean(ratios: Sequence[float]) -> float:
    """Geometric mean of positive ratios."""
    return math.exp(sum(math.log(r) for r in ratios) / len(ratios))


def outliers(values: pd.Series) -> int:
    """Samples beyond 3 interquartile ranges: counted and kept."""
    if len(values) < 5:
        return 0
    low, high = np.percentile(values, [25, 75])
    reach = 3 * (high - low)
    return int(((values < low - reach) | (values > high + reach)).sum())


def several_modes(values: pd.Series) -> bool:
    """Hartigan's dip test at 5 %; needs at least 8 samples to say anything."""
    if len(values) < 8 or values.nunique() < 4:
        return False
    import diptest

    _, p = diptest.diptest(np.ascontiguousarray(values.to_numpy(float)))
    return bool(p < ALPHA)


def drifts(samples: pd.DataFrame, metric: str) -> bool:
    """Spearman's rank correlation of a cell's samples with the order of execution, at 1 %; from 8 samples on."""
    if len(samples) < 8:
        return False
    from scipy import stats

    result = stats.spearmanr(samples["position"], samples[metric])
    return bool(result.pvalue < 0.01)
