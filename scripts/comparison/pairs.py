"""From samples to log ratios: what ran in one block is divided, and what shares a boot stands in one cluster."""

import numpy as np
import pandas as pd

KEYS = ["cell", "hostname", "round", "turn"]
UNKNOWN = "unknown"


def prepared(samples: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The columns that pairing needs; `turn` tells apart samples of one variant, cell, host and round."""
    names = ["variant", "cell", "round", "boot_id", "hostname", metric]
    data = samples[names].rename(columns={metric: "value"})
    for name in ("boot_id", "hostname"):
        data[name] = data[name].astype(object).where(data[name].notna(), UNKNOWN)
    data["round"] = data["round"].fillna(0)
    data["turn"] = data.groupby(["variant", "cell", "hostname", "round"], sort=False).cumcount()
    return data


def log_ratios(samples: pd.DataFrame, baseline: str, metric: str) -> pd.DataFrame:
    """Log of variant / baseline for all pairs of one block.

    Variants that never shared a host with the baseline (two machines, two kernels) are paired by round alone.
    Values that are null or not positive have no logarithm and no pair.

    Returns:
        Columns variant, cell, log_ratio, hostname, cluster (boots that share a pair are one cluster), known (of boots),
        away (the halves ran on different hosts).
    """
    data = prepared(samples, metric)
    data = data[data["value"] > 0]
    left = data[data["variant"] == baseline].drop(columns="variant")
    right = data[data["variant"] != baseline]
    shared = set(left["hostname"])
    local = right["hostname"].isin(shared).groupby(right["variant"]).transform("any")
    parts = [right[local].merge(left, on=KEYS, suffixes=("", "_base")).assign(away=False)]
    if not local.all():
        away = right[~local].assign(turn=right.groupby(["variant", "cell", "round"], sort=False).cumcount())
        base = left.assign(turn=left.groupby(["cell", "round"], sort=False).cumcount()).drop(columns="hostname")
        parts.append(away.merge(base, on=["cell", "round", "turn"], suffixes=("", "_base")).assign(away=True))
    pairs = pd.concat(parts, ignore_index=True)
    pairs["log_ratio"] = np.log(pairs["value"].to_numpy(float) / pairs["value_base"].to_numpy(float))
    pairs["cluster"] = clusters(pairs)
    pairs["known"] = (pairs["boot_id"] != UNKNOWN) & (pairs["boot_id_base"] != UNKNOWN)
    return pairs[["variant", "cell", "log_ratio", "hostname", "cluster", "known", "away"]]


def clusters(pairs: pd.DataFrame) -> pd.Series:
    """Number of the cluster of each pair, within its host.

    A block normally lies in one boot. Where the two halves of a pair had boots of their own, all pairs that are linked
    through a boot are one cluster: five boots against one and the same boot are one observation.
    """
    own, other = pairs["hostname"] + "/" + pairs["boot_id"], pairs["hostname"] + "/" + pairs["boot_id_base"]
    if (own == other).all():
        return pd.Series(pd.factorize(own)[0], index=pairs.index)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    place = pairs["variant"] + "\0" + pairs["cell"] + "\0"
    codes, names = pd.factorize(pd.concat([place + own, place + other], ignore_index=True))
    first, second = codes[: len(pairs)], codes[len(pairs) :]
    graph = coo_array((np.ones(len(pairs)), (first, second)), shape=(len(names), len(names)))
    _, component = connected_components(graph, directed=False)
    return pd.Series(component[first], index=pairs.index)
