"""Histograms: fio's buckets, exact sums, percentiles within the stated error."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scripts.dataset.latency import Latencies, histograms_in
from scripts.dataset.schema import LATENCY
from scripts.dataset.write import write_tables
from scripts.fio.bins import Histogram, edges, merged, percentile_ns, value_of_number
from scripts.fio.decode import decode
from scripts.fio.histograms import MAX_VALUE, Bins, histograms_of, read_bins
from scripts.fio.limits import MAX_TIME
from tests.fio_output import direction, job, output


def fio_index(value):
    """fio's plat_val_to_idx: the number of the bucket that counts a value."""
    bits = max(value.bit_length() - 1, 0)
    if bits <= 6:
        return value
    error_bits = bits - 6
    return ((error_bits + 1) << 6) + ((value >> error_bits) & 63)


def fio_middle(index):
    """fio's plat_idx_to_val: what it writes as the bucket's name."""
    if index < 128:
        return index
    error_bits = (index >> 6) - 1
    return int((1 << (error_bits + 6)) + ((index % 64) + 0.5) * (1 << error_bits))


def histogram(values):
    counts = {}
    for value in values:
        middle = fio_middle(fio_index(value))
        counts[middle] = counts.get(middle, 0) + 1
    keys = np.array(sorted(counts), np.int64)
    low, high = edges(keys)
    return Histogram(0, "read", "clat", low, high, np.array([counts[k] for k in sorted(counts)], np.int64))


values = st.lists(st.integers(0, 17_000_000_000), min_size=1, max_size=60)


@given(st.integers(0, 17_000_000_000))
def test_a_value_lies_in_the_bucket_that_fio_names(value):
    low, high = edges(np.array([fio_middle(fio_index(value))], np.int64))
    assert low[0] <= value < high[0]
    assert high[0] - low[0] <= max(value / 64, 1)


@given(st.integers(0, 1800))
def test_numbers_of_old_versions_are_the_same_buckets(index):
    numbered = edges(value_of_number(np.array([index], np.int64)))
    named = edges(np.array([fio_middle(index)], np.int64))
    assert [part[0] for part in numbered] == [part[0] for part in named]


@settings(max_examples=60, deadline=None)
@given(values, values, values)
def test_merging_is_exact_and_in_any_order(a, b, c):
    together = merged([histogram(a + b + c)])
    parts = [histogram(x) for x in (c, a, b)]
    for other in (merged(parts), merged([histogram(a), histogram(b + c)])):
        assert all(np.array_equal(x, y) for x, y in zip(together, other, strict=True))
    assert together[2].sum() == len(a + b + c)


@settings(max_examples=60, deadline=None)
@given(values, st.sampled_from([1, 50, 90, 99, 99.9, 100]))
def test_percentiles_are_within_the_stated_error(sample, percent):
    value, error = percentile_ns(*merged([histogram(sample)]), percent)
    exact = sorted(sample)[max(int(np.ceil(percent / 100 * len(sample))), 1) - 1]
    assert abs(value - exact) <= error <= max(exact / 128, 0.5)


def document(version, bins, unit="clat_ns", options=None):
    part = {k: v for k, v in direction().items() if k != "clat_ns"}
    return output(
        {**job(options=options), "read": {**part, unit: {"N": 3, "mean": 1.0, "bins": bins}}}, version=version
    )


@pytest.mark.parametrize(
    ("version", "bins", "unit", "low", "high", "count"),
    [
        ("fio-3.39", {"322": 2, "27": 1, "9": 0}, "clat_ns", [27, 320], [28, 324], [1, 2]),
        ("fio-2.21", {"1": 5}, "clat", [1000], [2000], [5]),
        ("fio-2.14", {"FIO_IO_U_PLAT_BITS": 6, "130": 4}, "clat", [132000], [134000], [4]),
    ],
)
def test_units_by_version(version, bins, unit, low, high, count):
    (found,) = histograms_of(decode(document(version, bins, unit)))
    order = np.argsort(found.low_ns)
    assert found.low_ns[order].tolist() == low and found.high_ns[order].tolist() == high
    assert found.count[order].tolist() == count


def test_total_latency_under_the_name_of_completion_latency():
    data = document("fio-3.7", {"27": 1}, options={"lat_percentiles": "1"})
    assert [h.latency for h in histograms_of(decode(data))] == ["lat"]
    data = document("fio-3.39", {"27": 1}, options={"lat_percentiles": "1"})
    assert [h.latency for h in histograms_of(decode(data))] == ["clat"]


@pytest.mark.parametrize("bins", [{}, [], "text", {"a": 1}, {"1": "x"}, {"1": -5}, {"99999999999999999999": 1}, None])
def test_bins_that_are_none_give_no_histogram(bins):
    decoded = decode(document("fio-3.39", bins))
    assert list(histograms_of(decoded)) == []
    if bins in ("text", {"1": "x"}):
        assert any("bins can not be read" in warning for warning in decoded.warnings)


def test_ns_and_us_are_never_added():
    old = Histogram(0, "read", "clat", np.array([1000]), np.array([2000]), np.array([1]))
    new = Histogram(0, "read", "clat", np.array([1024]), np.array([1040]), np.array([1]))
    with pytest.raises(ValueError, match="can not be added"):
        merged([old, new])


def test_sums_are_exact_beyond_what_a_float_holds():
    one = Histogram(0, "read", "clat", np.array([5]), np.array([6]), np.array([2**53]))
    two = Histogram(1, "read", "clat", np.array([5]), np.array([6]), np.array([1]))
    assert merged([one, two])[2].tolist() == [2**53 + 1]


def test_no_samples_have_no_percentile():
    with pytest.raises(ValueError, match="no samples"):
        percentile_ns(*merged([]), 50)


def bins(values, job_index=0):
    counts = {}
    for value in values:
        middle = fio_middle(fio_index(value))
        counts[middle] = counts.get(middle, 0) + 1
    return Bins(job_index, "read", "clat", json.dumps({str(k): v for k, v in counts.items()}).encode(), 1, False)


def unheard(text):
    raise AssertionError(text)


def test_the_parquet_file_gives_back_what_went_in(tmp_path):
    latencies = Latencies()
    for run, sample in (("a", [5, 500]), ("b", [7, 700_000, 700_001])):
        latencies.add(run, f"{run}/fio.json", bins(sample), unheard)
    write_tables(latencies.tables(), LATENCY, tmp_path / "latency.parquet")
    found = dict(histograms_in(tmp_path / "latency.parquet", "clat"))
    assert found["b"].count.tolist() == [1, 2] and found["b"].low_ns[0] == 7
    assert found["a"].count.sum() == 2 and found["a"].direction == "read"
    assert list(histograms_in(tmp_path / "latency.parquet", "slat")) == []
    write_tables(Latencies().tables(), LATENCY, tmp_path / "none.parquet")
    assert list(histograms_in(tmp_path / "none.parquet", "clat")) == []


def test_neighbours_in_the_parquet_file_stay_apart(tmp_path, monkeypatch):
    monkeypatch.setattr("scripts.dataset.latency.PART_BYTES", 40)
    latencies = Latencies()
    for number in range(20):
        latencies.add(f"r{number // 2}", "f", bins([number, 1000 + number, 10**6], number % 2), unheard)
    write_tables(latencies.tables(), LATENCY, tmp_path / "l.parquet")
    found = list(histograms_in(tmp_path / "l.parquet", "clat"))
    assert [(run, h.job_index, int(h.low_ns[0])) for run, h in found] == [(f"r{n // 2}", n % 2, n) for n in range(20)]


RAW = st.one_of(
    st.dictionaries(st.integers(0, 2 * MAX_VALUE).map(str), st.integers(0, MAX_TIME), max_size=9).map(json.dumps),
    st.dictionaries(st.integers(-9, 2000).map(str), st.integers(-9, 9), max_size=4).map(lambda d: json.dumps(d, indent=1)),
    st.dictionaries(st.text(max_size=3), st.one_of(st.none(), st.floats(), st.text(max_size=2), st.integers())).map(json.dumps),
    st.sampled_from(["[]", "{ }", "null", '{"1":{"2":3}}', '{"":5}', '{"1":null}', '{"FIO_IO_U_PLAT_BITS":6,"9":1}', "12"]),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(RAW, st.booleans(), st.sampled_from([1, 1000])), max_size=5))
@example([(f'{{"{MAX_VALUE}": 1}}', False, 1000)])
def test_reading_many_at_once_is_reading_each(listed):
    many = [Bins(0, "read", "clat", raw.encode(), scale, numbered) for raw, numbered, scale in listed]
    together = read_bins(many)
    starts = np.cumsum(together.lengths) - together.lengths
    for place, (one, start, length) in enumerate(zip(many, starts, together.lengths, strict=True)):
        alone = read_bins([one])
        assert alone.problems.get(0) == together.problems.get(place)
        for name in ("low_ns", "high_ns", "count"):
            assert getattr(alone, name).tolist() == getattr(together, name)[start : start + length].tolist()
        if place not in together.problems:
            expected = {k: v for k, v in json.loads(one.raw).items() if v and k.isascii() and k.isdigit()}
            assert alone.count.tolist() == list(expected.values())
            assert (alone.low_ns < alone.high_ns).all() and (alone.low_ns >= 0).all()


def test_a_histogram_that_can_not_be_read_is_said_and_harms_no_other():
    said = []
    latencies = Latencies()
    latencies.add("a", "a", bins([5, 500]), unheard)
    latencies.add("b", "b", replace(bins([5]), raw=b'{"1": "x"}'), said.append)
    latencies.add("c", "c", replace(bins([5]), raw=b'{"5000": 1}', numbered=True), said.append)
    (table,) = latencies.tables()
    assert table["run"].to_pylist() == ["a", "a"]
    assert [text.partition(":")[0] for text in said] == ["read clat", "read clat"]
    assert "5000: 1 is out of range" in said[1]


def test_bins_survive_the_tolerant_reader():
    decoded = decode(b"fio: a line\n" + json.dumps(json.loads(document("fio-3.39", {"27": 3}))).encode())
    assert [h.count.tolist() for h in histograms_of(decoded)] == [[3]]
