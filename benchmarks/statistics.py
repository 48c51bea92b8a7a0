"""False alarms and power of the verdicts, on data whose truth is known.

python benchmarks/statistics.py [DRAWS]     default 2000 a row; exit 1 when a bound is broken

Each draw is one cell: baseline and variant, in blocks, in random order within a block; log values have a standard
deviation of 1 % between samples. False alarms: the variant is the baseline, so every difference seen is wrong; the
practical band is left out, since it could only hide alarms. Bounds: 5 % plus two Monte Carlo standard errors over all,
plus four in a single row (there are many). Power: Welch's test on the same samples, for a difference that it finds in
about 80 %; bound: at least 90 % of Welch's, on clean data where each round has its own boot. With few boots a boot
counts once, which costs power on data that would not have needed it: such rows are shown and have no bound.
"""

import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.comparison.statistics import compare_all, decide

SIGMA = 0.01
NULLS = [
    (kind, boots, blocks)
    for kind in ("iid", "drift", "boots", "bimodal boots", "bimodal samples", "hosts")
    for boots, blocks in ((3, 5), (5, 8), (10, 1), (10, 4), (40, 1))
]
CELLS = 20
POWERS = [(10, 1), (20, 1), (40, 1), (5, 1), (5, 8)]


def logs(kind: str, boots: int, blocks: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Log values, as draw x side (baseline, variant) x boot x block."""
    noise = rng.normal(0, SIGMA, (draws, 2, boots, blocks))
    one = (draws, 2, boots, 1)
    if kind == "boots":  # each side has an effect of its own in each boot, twice the noise
        noise += rng.normal(0, 2 * SIGMA, one)
    elif kind == "hosts":  # the same, one level up: five hosts, or as many as there are boots
        effects = rng.normal(0, 2 * SIGMA, (draws, 2, hosts_of(kind, boots), 1))
        noise += effects[:, :, np.arange(boots) % hosts_of(kind, boots)]
    elif kind == "bimodal boots":  # each side settles in one of two modes in each boot
        noise += 3 * SIGMA * rng.integers(0, 2, one)
    elif kind == "bimodal samples":
        noise += 3 * SIGMA * rng.integers(0, 2, noise.shape)
    elif kind == "drift":  # 1.5 % from the first to the last run; who is first in a block is drawn
        order = rng.integers(0, 2, (draws, 1, boots, blocks))
        order = np.concatenate([order, 1 - order], axis=1)
        block = np.arange(boots * blocks).reshape(1, 1, boots, blocks)
        noise += 1.5 * SIGMA * (2 * block + order) / (2 * boots * blocks)
    return noise


def hosts_of(kind: str, boots: int) -> int:
    """Number of hosts."""
    return min(5, boots) if kind == "hosts" else 1


def samples(values: np.ndarray, kind: str) -> pd.DataFrame:
    """All draws as one frame, a cell each."""
    _, _, boots, blocks = values.shape
    draw, side, boot, block = (index.ravel() for index in np.indices(values.shape))
    host = boot % hosts_of(kind, boots)
    return pd.DataFrame(
        {
            "variant": np.array(["a", "b"], dtype=object)[side],
            "cell": pd.array(np.char.add("c", draw.astype(str)), dtype=object),
            "round": boot * blocks + block,
            "boot_id": np.char.add("b", boot.astype(str)).astype(object),
            "hostname": np.char.add("h", host.astype(str)).astype(object),
            "iops": np.exp(values.ravel()) * 1e5,
        }
    )


def found(values: np.ndarray, kind: str) -> float:
    """Share of draws in which we see a difference."""
    comparisons = compare_all(samples(values, kind), "a", "iops")
    return sum(c.p is not None and c.p < 0.05 for c in comparisons) / values.shape[0]


def alarmed(kind: str, boots: int, blocks: int, tables: int, rng: np.random.Generator) -> float:
    """Share of tables of CELLS cells in which any cell has a verdict."""
    comparisons = compare_all(samples(logs(kind, boots, blocks, tables * CELLS, rng), kind), "a", "iops")
    wrong = 0
    for start in range(0, len(comparisons), CELLS):
        table = comparisons[start : start + CELLS]
        decide(table, True, 0.0)
        wrong += any(c.verdict in ("faster", "slower") for c in table)
    return wrong / tables


def welch(values: np.ndarray) -> float:
    """Share of draws in which Welch's test sees one, every sample as if it were independent."""
    flat = values.reshape(values.shape[0], 2, -1)
    return float((stats.ttest_ind(flat[:, 0], flat[:, 1], axis=1, equal_var=False).pvalue < 0.05).mean())


def main() -> int:
    draws, broken = int(sys.argv[1]) if len(sys.argv) > 1 else 2000, 0
    rng = np.random.default_rng(20261201)
    error = math.sqrt(0.05 * 0.95 / draws)
    print(f"False alarms with no change, {draws} draws a row, standard error {error * 100:.1f} %")
    print(f"{'data':<16} {'boots x blocks':>14} {'ours':>7} {'Welch':>7}")
    total: list[float] = []
    for kind, boots, blocks in NULLS:
        values = logs(kind, boots, blocks, draws, rng)
        ours = found(values, kind)
        total.append(ours)
        broken += ours > 0.05 + 4 * error
        print(f"{kind:<16} {f'{boots} x {blocks}':>14} {ours * 100:>6.1f}% {welch(values) * 100:>6.1f}%", flush=True)
    mean, mean_error = float(np.mean(total)), error / math.sqrt(len(total))
    broken += mean > 0.05 + 2 * mean_error
    print(f"{'all':<16} {'':>14} {mean * 100:>6.2f}% +- {mean_error * 100:.2f} %")
    tables = max(draws // 4, 50)
    table_error = math.sqrt(0.05 * 0.95 / tables)
    print(f"Tables of {CELLS} cells with any verdict at all, {tables} a row, standard error {table_error * 100:.1f} %")
    for kind in ("iid", "drift", "boots", "bimodal boots"):
        share = alarmed(kind, 5, 4, tables, rng)
        broken += share > 0.05 + 4 * table_error
        print(f"{kind:<16} {'5 x 4':>14} {share * 100:>6.1f}%", flush=True)
    print("Power on clean data")
    print(f"{'boots x blocks':<14} {'change':>7} {'ours':>7} {'Welch':>7} {'of Welch':>9}")
    for boots, blocks in POWERS:
        count = boots * blocks
        change = SIGMA * math.sqrt(2 / count) * (stats.t.ppf(0.975, 2 * count - 2) + stats.t.ppf(0.8, 2 * count - 2))
        values = logs("iid", boots, blocks, draws, rng)
        values[:, 1] += change
        ours, theirs = found(values, "iid"), welch(values)
        bound = blocks == 1 and boots >= 10
        broken += bound and ours < 0.9 * theirs
        share = f"{ours / theirs * 100:>8.0f}%" + ("" if bound else "  (no bound)")
        print(f"{f'{boots} x {blocks}':<14} {change * 100:>6.2f}% {ours * 100:>6.1f}% {theirs * 100:>6.1f}% {share}")
    print("bounds hold" if not broken else f"{broken} bound(s) broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
