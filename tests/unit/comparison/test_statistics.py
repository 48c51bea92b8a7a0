import numpy as np
import pandas as pd
import pytest

from scripts.comparison.numbers import bandwidth_text, iops_text, miops_text, percent_text
from scripts.comparison.statistics import compare, decide, holm, several_modes, spread_percent


def samples(values, boots):
    rounds = list(range(1, len(values) + 1))
    return pd.DataFrame({"round": rounds, "iops": values, "boot_id": boots, "hostname": "h", "position": rounds})


def test_one_boot_gives_no_verdict():
    base, other = samples([100.0] * 5, ["b"] * 5), samples([150.0] * 5, ["b"] * 5)
    result = compare(base, other, "v", "c", "iops")
    decide([result], True, 1)
    assert result.ratio == pytest.approx(1.5)
    assert (result.low, result.verdict) == (None, "within one boot")


def test_interval_over_boots():
    base = samples([100.0, 101.0, 99.0, 100.0], list("abcd"))
    other = samples([110.0, 111.0, 109.0, 110.5], list("abcd"))
    result = compare(base, other, "v", "c", "iops")
    decide([result], True, 1)
    assert result.boots == 4 and result.low > 1.05 and result.high < 1.15
    assert result.verdict == "faster"
    decide([result], False, 1)
    assert result.verdict == "slower"
    decide([result], True, 20)
    assert result.verdict == "~" and result.detectable_percent > 0


def test_samples_of_a_boot_count_once():
    spread = [100, 100, 100, 130, 130, 130, 90, 90, 90]
    boots = list("aaabbbccc")
    many = compare(samples([100.0] * 9, boots), samples(np.array(spread, float), boots), "v", "c", "iops")
    few = compare(
        samples([100.0] * 3, list("abc")), samples(np.array([100.0, 130.0, 90.0]), list("abc")), "v", "c", "iops"
    )
    assert many.low == pytest.approx(few.low) and many.boots == 3 and many.n == 9


def test_holm():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_modes_and_spread():
    rng = np.random.default_rng(1)
    two = pd.Series(np.concatenate([rng.normal(100, 1, 20), rng.normal(130, 1, 20)]))
    one = pd.Series(rng.normal(100, 1, 40))
    assert several_modes(two) and not several_modes(one)
    assert spread_percent(pd.Series([90.0, 110.0])) == pytest.approx(10)


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
