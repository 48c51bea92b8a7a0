"""What the samples of a cell look like: spread, outliers, several modes, drift. All is said, nothing is dropped."""

from typing import Any

import numpy as np
import pandas as pd

RATE = 0.05
"""False discovery rate of the dip and drift tests over one table."""
LEAST = 8
"""Samples without which these tests say nothing."""
GROUP = ["variant", "cell"]
LOOKS = ["mean", "low", "high", "n", "boots", "spread_percent", "outliers", "modes", "drift"]


def described(samples: pd.DataFrame, metric: str) -> pd.DataFrame:
    """One row for each variant and cell.

    Columns: mean, spread_percent (half the range, 0 for one sample), n, boots, outliers (number), modes and drift
    (whether the tests, over all cells together, say so). Samples without the metric do not count.
    """
    data = samples[[*GROUP, "boot_id", "position", metric]].rename(columns={metric: "value"})
    data = data[data["value"].notna()]
    if data.empty:
        return pd.DataFrame(columns=LOOKS, index=pd.MultiIndex.from_arrays([[], []], names=GROUP))
    grouped = data.groupby(GROUP, sort=False)
    found = grouped.agg(mean=("value", "mean"), low=("value", "min"), high=("value", "max"), n=("value", "size"))
    found["boots"] = grouped["boot_id"].nunique()
    found["spread_percent"] = ((found["high"] - found["low"]) / 2 / found["mean"] * 100).fillna(0.0)
    found["outliers"] = outliers(data, grouped)
    found["modes"] = discovered(dip_p(grouped).reindex(found.index))
    found["drift"] = discovered(drift_p(data).reindex(found.index))
    return found


def outliers(data: pd.DataFrame, grouped: Any) -> pd.Series:
    """Number of samples beyond three interquartile ranges (at least 0.1 %, for samples that are nearly all equal)."""
    quartiles = grouped["value"].quantile([0.25, 0.5, 0.75]).unstack()
    places = pd.MultiIndex.from_frame(data[GROUP])
    low, middle, high = (quartiles[q].reindex(places).to_numpy() for q in (0.25, 0.5, 0.75))
    reach = np.maximum(3 * (high - low), 0.001 * np.abs(middle))
    value = data["value"].to_numpy(float)
    far = pd.Series((value < low - reach) | (value > high + reach), index=data.index)
    counts = far.groupby([data[name] for name in GROUP], sort=False).sum()
    return counts.where(grouped.size() >= 5, 0).astype(int)


def dip_p(grouped: Any) -> pd.Series:
    """p of Hartigan's dip test; null below eight samples, or where all are nearly equal."""
    import diptest

    found = {}
    for place, values in grouped["value"]:
        numbers = np.ascontiguousarray(values.to_numpy(float))
        if len(numbers) >= LEAST and len(np.unique(numbers)) >= 4:
            found[place] = float(diptest.diptest(numbers)[1])
    return pd.Series(found, dtype=float)


def drift_p(data: pd.DataFrame) -> pd.Series:
    """p of Spearman's rank correlation between samples and the order of execution; null below eight samples."""
    from scipy import special

    data = data[data["position"].notna()]
    grouped = data.groupby(GROUP, sort=False)
    ranks = pd.DataFrame({"x": grouped["position"].rank(), "y": grouped["value"].rank()})
    by = [data[name] for name in GROUP]
    ranks = ranks - ranks.groupby(by, sort=False).transform("mean")
    sums = pd.DataFrame({"xy": ranks.x * ranks.y, "xx": ranks.x**2, "yy": ranks.y**2}).groupby(by, sort=False).sum()
    count = grouped.size().reindex(sums.index)
    product = sums.xx * sums.yy
    r: pd.Series = (sums.xy / np.sqrt(product.where(product > 0))).clip(-1, 1)
    degrees = count - 2
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = r.abs() * np.sqrt(degrees / (1 - r**2))
        p = pd.Series(2 * special.stdtr(degrees, -statistic), index=sums.index)
    return p.where((count >= LEAST) & r.notna())


def discovered(p_values: pd.Series) -> pd.Series:
    """Which tests are positive when at most 5 % of the positive ones may be false (Benjamini and Hochberg)."""
    known = p_values.dropna().sort_values()
    limits = RATE * np.arange(1, len(known) + 1) / max(len(known), 1)
    below = np.flatnonzero(known.to_numpy() <= limits)
    chosen = known.index[: below[-1] + 1] if len(below) else known.index[:0]
    return pd.Series(p_values.index.isin(chosen), index=p_values.index)


def remarks(row: Any) -> list[str]:
    """The flags of one row of `described` in words."""
    found = []
    if row.outliers:
        found.append(f"{row.outliers} outlier(s), kept")
    if row.modes:
        found.append("samples have several modes (dip test)")
    if row.drift:
        found.append("samples drift with the order of runs")
    return found
