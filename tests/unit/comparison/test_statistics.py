import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.comparison.flags import described, discovered
from scripts.comparison.metrics import metric
from scripts.comparison.numbers import bandwidth_text, iops_text, miops_text, percent_text
from scripts.comparison.statistics import (
    compare_all,
    decide,
    detectable_errors,
    geometric_mean,
    holm,
    measured_band,
)


def frame(base, other, boots, hosts=None, cell="c"):
    """Two variants, one sample of each in every round."""
    parts = []
    for variant, values in (("a", base), ("b", other)):
        rounds = list(range(1, len(values) + 1))
        parts.append(
            pd.DataFrame(
                {
                    "variant": variant,
                    "cell": cell,
                    "round": rounds,
                    "position": rounds,
                    "iops": np.array(values, float),
                    "boot_id": list(boots),
                    "hostname": list(hosts) if hosts else "h",
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def compared(*arguments, more=True, band=1.0, **named):
    (found,) = compare_all(frame(*arguments, **named), "a", "iops")
    decide([found], more, band)
    return found


@pytest.mark.parametrize(("boots", "said"), [("aaaaa", "within one boot"), ("aaabb", "within 2 boots")])
def test_few_boots_give_ratio_and_range_and_no_verdict(boots, said):
    found = compared([100.0] * 5, [140, 150, 150, 150, 160], boots)
    assert (found.low, found.p, found.detectable_percent, found.verdict) == (None, None, None, said)
    assert (found.smallest, found.largest) == pytest.approx((1.4, 1.6)) and found.n == 5


def test_unknown_boots_are_no_boots():
    found = compared([100.0] * 5, [150.0] * 5, [None] * 5)
    assert (found.boots, found.verdict, found.low) == (0, "boots unknown", None)


def test_interval_is_students_over_the_log_ratios():
    base, other = [100.0, 101.0, 99.0, 100.0], [110.0, 111.0, 109.0, 110.5]
    found = compared(base, other, "wxyz")
    logs = np.log(np.array(other) / np.array(base))
    expected = stats.ttest_1samp(logs, 0)
    low, high = expected.confidence_interval(0.95)
    assert (found.ratio, found.low, found.high) == pytest.approx((math.exp(logs.mean()), math.exp(low), math.exp(high)))
    assert found.p == pytest.approx(expected.pvalue) and found.degrees == 3 and found.boots == 4


@pytest.mark.parametrize(
    ("factor", "more", "band", "verdict"),
    [
        (1.1, True, 1, "faster"),
        (0.9, True, 1, "slower"),
        (1.1, False, 1, "slower"),
        (0.9, False, 1, "faster"),
        (1.1, True, 20, "~"),
    ],
)
def test_verdicts_know_the_direction_and_the_band(factor, more, band, verdict):
    noise = np.array([1, 1.001, 0.999, 1.0005])
    assert compared([100.0] * 4, 100 * factor * noise, "wxyz", more=more, band=band).verdict == verdict


@pytest.mark.parametrize(
    ("name", "more"),
    [("iops", True), ("bw_bytes_per_s", True), ("clat_p99_ns", False), ("lat_p99_9_ns", False), ("cpu_percent", False),
     ("instructions_per_io", False), ("context_switches", False), ("iops_min", True), ("iops_stddev", False)],
)  # fmt: skip
def test_direction_of_metrics(name, more):
    assert metric(name).more_is_better == more


def test_samples_of_a_boot_count_once():
    many = compared([100.0] * 9, [100, 100, 100, 130, 130, 130, 90, 90, 90], "aaabbbccc")
    few = compared([100.0] * 3, [100, 130, 90], "abc")
    assert many.low == pytest.approx(few.low) and (many.boots, many.n) == (3, 9)


def test_hosts_are_clusters_one_level_up():
    hosts = ["x"] * 4 + ["y"] * 4 + ["z"] * 4
    values = [110] * 4 + [100] * 4 + [120] * 4
    found = compared([100.0] * 12, values, "abcdefghijkl", hosts)
    few = compared([100.0] * 3, [110, 100, 120], "abc")
    assert (found.hosts, found.boots, found.low) == (3, 12, pytest.approx(few.low))
    two = compared([100.0] * 8, values[:8], "abcdefgh", hosts[:8])
    assert (two.verdict, two.low) == ("within 2 hosts", None)


def test_the_same_boot_on_one_side_is_one_observation():
    samples = frame([100.0] * 5, [110, 111, 112, 110, 111], "abcde")
    samples.loc[samples["variant"] == "a", "boot_id"] = "one"
    (found,) = compare_all(samples, "a", "iops")
    assert (found.boots, found.n, found.p) == (1, 5, None)


def test_rounds_of_two_hosts_do_not_multiply():
    parts = [frame([100.0] * 3, [110.0] * 3, "abc", [h] * 3) for h in "xyz"]
    (found,) = compare_all(pd.concat(parts, ignore_index=True), "a", "iops")
    assert (found.n, found.hosts, found.boots) == (9, 3, 9)


def test_variants_on_machines_of_their_own_are_paired_by_round():
    samples = frame([100.0] * 4, [110, 111, 109, 110], "abcd")
    samples.loc[samples["variant"] == "b", ["hostname", "boot_id"]] = [["k", boot] for boot in "efgh"]
    (found,) = compare_all(samples, "a", "iops")
    assert (found.n, found.boots) == (4, 4) and found.low > 1.05


def test_nothing_measured_is_no_ratio():
    found = compared([100.0, np.nan, 100, 0, 100], [110, 110, np.nan, 110, 110], "abcde")
    assert (found.n, found.boots) == (2, 2)
    assert compare_all(frame([0.0] * 3, [1.0] * 3, "abc"), "a", "iops") == []


def test_equal_in_every_boot_is_exact():
    same, other = compared([100.0] * 3, [100.0] * 3, "abc"), compared([100.0] * 3, [105.0] * 3, "abc")
    assert (same.p, same.verdict) == (1.0, "~") and (other.p, other.verdict) == (0.0, "faster")


def test_holm():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


def test_many_cells_need_more_than_one():
    noise = [0.94, 1.12, 1.02, 1.13, 1.09]
    one = frame([100.0] * 5, 101 * np.array(noise), "abcde")
    (alone,) = compare_all(one, "a", "iops")
    decide([alone], True, 1)
    others = [
        frame([100.0] * 5, 100 * np.array(p), "abcde", cell=f"c{i}")
        for i, p in enumerate(itertools.islice(itertools.permutations([0.9, 1.1, 1, 1.05, 0.95]), 20))
    ]
    found = compare_all(pd.concat([one, *others], ignore_index=True), "a", "iops")
    decide(found, True, 1)
    mine = next(c for c in found if c.cell == "c")
    assert mine.adjusted == pytest.approx(min(1, 21 * mine.p))
    assert mine.detectable_percent > alone.detectable_percent


@pytest.mark.parametrize("degrees", [2, 4, 9, 39])
def test_detectable_difference_is_found_in_four_of_five(degrees):
    effect = detectable_errors(degrees, 0.05)
    limit = stats.t.ppf(0.975, degrees)
    assert stats.nct.sf(limit, degrees, effect) == pytest.approx(0.8, abs=0.001)


def test_band_from_an_equal_pair():
    found = compare_all(frame([100.0] * 3, [103.0, 103.1, 102.9], "abc"), "a", "iops")
    assert measured_band(found) == pytest.approx(3, abs=0.01)
    assert measured_band([]) is None


def test_geometric_mean():
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1)


def look(values, cell="c"):
    count = len(values)
    return pd.DataFrame(
        {"variant": "v", "cell": cell, "boot_id": "b", "position": range(1, count + 1), "iops": np.array(values, float)}
    )


def test_modes_outliers_drift_and_spread():
    rng = np.random.default_rng(1)
    samples = pd.concat(
        [
            look(rng.permutation(np.concatenate([rng.normal(100, 1, 20), rng.normal(130, 1, 20)])), "two"),
            look(rng.normal(100, 1, 40), "one"),
            look([*rng.normal(100, 1, 39), 200], "far"),
            look(np.linspace(100, 110, 40) + rng.normal(0, 1, 40), "drift"),
            look([90.0, 110.0], "few"),
            look([100.0] * 11 + [100.001], "equal"),
            look([np.nan] * 3, "null"),
        ],
        ignore_index=True,
    )
    found = described(samples, "iops").droplevel("variant")
    assert list(found.index[found["modes"]]) == ["two"]
    assert found["outliers"].to_dict() == {"two": 0, "one": 0, "far": 1, "drift": 0, "few": 0, "equal": 0}
    assert list(found.index[found["drift"]]) == ["drift"]
    assert found.loc["few", "spread_percent"] == pytest.approx(10) and found.loc["far", "n"] == 40


def test_drift_is_spearmans():
    from scripts.comparison.flags import drift_p

    values = [3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3]
    data = look(values).rename(columns={"iops": "value"})
    assert drift_p(data).iloc[0] == pytest.approx(stats.spearmanr(range(10), values).pvalue)


def test_false_discoveries_are_counted_over_the_table():
    p = pd.Series([0.001, 0.04, 0.2, 0.5, np.nan])
    assert discovered(p).tolist() == [True, False, False, False, False]
    expected = stats.false_discovery_control([0.001, 0.02, 0.03, 0.5]) <= 0.05
    assert discovered(pd.Series([0.001, 0.02, 0.03, 0.5])).tolist() == expected.tolist()


def test_numbers_as_published():
    assert [iops_text(x) for x in (2859, 24500, 1516, 10600, 14900, 101000)] == [
        "2859",
        "24.5k",
        "1516",
        "10.6k",
        "14.9k",
        "101k",
    ]
    assert [bandwidth_text(x * 1e6) for x in (11.7, 100, 1954, 67.0)] == [
        "11.7 MB/s",
        "100 MB/s",
        "1954 MB/s",
        "67.0 MB/s",
    ]
    assert [miops_text(x) for x in (1.7e6, 0, 6.8e6, 73000)] == ["1.7", "0.0", "6.8", "0.073"]
    assert percent_text(1.0575, 2) == "+5.75%"
