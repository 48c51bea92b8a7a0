"""What holds for every document: nothing is lost or made up; and for every damage: refused, never a crash."""

import json
import random
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scripts.dataset.schema import SCHEMA
from scripts.dataset.write import table_of
from scripts.fio.decode import Refused, decode
from scripts.fio.rows import DIRECTIONS, rows_of
from tests.fio_output import direction, job, output
from tests.unit.fio.documents import WRAPPINGS, documents, written

NUMBERS = [field.name for field in SCHEMA if str(field.type) in ("int64", "double")]


PIECES = (b"", b"\0", b"{", b"}", b"[", b"]", b'"', b"\\", b"\\u", b"\\ud800", b",", b":", b"nan", b"-inf", b"null",
          b"1e999", b"-1", b"9" * 30, b"9" * 400, b"9" * 5000, b"0.5", b"true", b"\xff", b"[" * 3000, b'{"a":' * 3000,
          b"\n", b"1e300")  # fmt: skip


def mutated(data, rng, count):
    """Some places replaced by what a parser does not like."""
    raw = bytearray(data)
    for _ in range(count):
        at = rng.randrange(len(raw) + 1)
        raw[at : at + rng.choice([0, 0, 1, 4, 40])] = rng.choice(PIECES)
    return bytes(raw)


def entries_of(document):
    entries = document.get("jobs") or document.get("client_stats")
    return [e for e in entries if not (e.get("jobname") == "All clients" and not e.get("job options"))]


def parts_of(document):
    """(entry, direction, its values) of everything that did something, in order."""
    for entry in entries_of(document):
        for name in DIRECTIONS:
            part = entry.get(name)
            if (part and "total_ios" not in part and (part.get("iops") or part.get("bw"))) or (
                part and (part.get("total_ios") or part.get("io_bytes") or (name == "sync" and part["lat_ns"]["N"]))
            ):
                yield entry, name, part


def without_zeros_made_up(row, part):
    """A zero of a row is a zero of its part of the document."""
    sources = {"io_bytes": "io_bytes", "total_ios": "total_ios", "runtime_ms": "runtime", "iops": "iops"}
    for column, key in sources.items():
        if row.get(column) is not None and part.get(key) is None:
            raise AssertionError(f"{column} = {row[column]}, but {key} is not in {part}")
    if row.get("bw_bytes_per_s") is not None:
        assert "bw_bytes" in part or "bw" in part
    for name in ("slat", "clat", "lat"):
        found = part.get(f"{name}_ns") or part.get(name)
        measured = bool(found and (found.get("N") or found["max"]))
        assert (row.get(f"{name}_mean_ns") is not None) == measured
        assert not any(row.get(f"{name}_{key}_ns") == 0 for key in ("min", "max", "mean", "p50", "p99"))


@settings(max_examples=150, deadline=None)
@given(documents())
def test_every_figure_is_the_files(document):
    rows = list(rows_of(decode(written(document))))
    moved = [row for row in rows if row["direction"]]
    parts = list(parts_of(document))
    assert [(row["jobname"], row["direction"]) for row in moved] == [(e["jobname"], n) for e, n, _ in parts]
    assert len({row["job_index"] for row in rows}) == len(entries_of(document))
    in_kib = document.get("fio version") in ("fio-2.1.4", "fio-2.20")
    for row, (_, name, part) in zip(moved, parts, strict=True):
        without_zeros_made_up(row, part) if name != "sync" else None
        assert row.get("iops") == part.get("iops") and row["runtime_ms"] == part.get("runtime")
        if document.get("fio version") and "io_bytes" in part:
            scale = 1024 if in_kib and "io_kbytes" not in part else 1
            assert row["io_bytes"] == part["io_bytes"] * scale
    table_of(rows, SCHEMA).validate(full=True)


@settings(max_examples=100, deadline=None)
@given(documents(), st.sampled_from(sorted(WRAPPINGS)))
def test_what_surrounds_a_document_changes_no_figure(document, wrapping):
    data = written(document)
    plain, wrapped = decode(data), decode(WRAPPINGS[wrapping](data))
    figures = [[{k: v for k, v in row.items() if k not in ("warnings", "bins")} for row in rows_of(d)]
               for d in (plain, wrapped)]  # fmt: skip
    assert figures[0] == figures[1]
    assert wrapping == "plain" or wrapped.warnings


@settings(max_examples=150, deadline=None)
@given(documents(), st.data())
def test_every_cut_is_refused(document, data):
    raw = written(document)
    cut = data.draw(st.integers(0, len(raw) - 1))
    with pytest.raises(Refused):
        decode(raw[:cut])


@settings(max_examples=300, deadline=None)
@given(documents(), st.randoms(use_true_random=False), st.integers(1, 6))
@example({"jobs": [{"jobname": "a", "read": {"total_ios": 2**70}}]}, random.Random(1), 1)
def test_no_mutation_is_more_than_a_refusal(document, rng, count):
    try:
        rows = list(rows_of(decode(mutated(written(document, None), rng, count))))
    except Refused:
        return
    table_of(rows, SCHEMA).validate(full=True)
    assert all(row.get(name) is None or row[name] == row[name] for row in rows for name in NUMBERS)


def one(**changes):
    decoded = decode(output(job(read={**direction(), **changes})))
    (row,) = rows_of(decoded)
    return row, " ".join(decoded.warnings)


@pytest.mark.parametrize(
    ("change", "column", "value", "warning"),
    [
        ({"total_ios": "1000"}, "total_ios", 1000, ""),
        ({"total_ios": 1000.0}, "total_ios", 1000, ""),
        ({"total_ios": -5}, "total_ios", None, "negative"),
        ({"total_ios": 2**63}, "total_ios", None, "64 bits"),
        ({"iops": float("inf")}, "iops", None, "nan or inf"),
        ({"iops": float("nan")}, "iops", None, "nan or inf"),
        ({"bw_bytes": None}, "bw_bytes_per_s", 4000 * 1024.0, ""),
        ({"clat_ns": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}}, "clat_mean_ns", None, ""),
        ({"clat_ns": {"N": 9, "mean": 5.0, "percentile": {"99.00": 7, "0.00": 0}}}, "clat_p99_ns", 7, ""),
        ({"clat_ns": {"N": 9, "percentile": {"99.000000": 17112760320}}}, "latency_censored", True, ""),
        ({"slat_ns": {"N": 9, "mean": 5.0, "percentile": {"99.000000": 7}}}, "slat_p99_ns", 7, ""),
        (
            {"lat_ns": {"N": 9, "percentile": {"50.000000": 6, "97.5": 7, "0.00": 0}}},
            "other_percentiles",
            '{"lat_ns":{"97.5":7}}',
            "",
        ),
        ({"clat_ns": {"N": 9, "mean": 5.0, "max": 10**16}}, "clat_max_ns", None, "max is longer than 64 bits"),
        ({"clat_ns": {"N": 9, "mean": 5.0, "max": 10**16}}, "clat_mean_ns", 5.0, ""),
        ({"clat_ns": {"N": 9, "percentile": {"99.000000": 10**16}}}, "clat_p99_ns", None, "percentile is longer"),
        ({"total_ios": 2**64, "io_bytes": 2**64}, "iops", 1000.0, "64 bits"),
        ({"total_ios": -1, "io_bytes": -1}, "total_ios", None, "negative"),
        ({"total_ios": "1000"}, "total_ios", 1000, "total_ios is in quotes"),
        ({"clat_ns": {"N": 9, "percentile": {"x": 7}}}, "other_percentiles", '{"clat_ns":{"x":7}}', ""),
        ({"bw_min": 0, "bw_max": 0, "bw_mean": 0.0, "bw_samples": 0}, "bw_mean_bytes_per_s", None, ""),
        ({"bw_min": 1, "bw_max": 3, "bw_mean": 2.0, "bw_samples": 4}, "bw_mean_bytes_per_s", 2048.0, ""),
        ({"bw_max": 3, "bw_mean": 2.0, "bw_samples": 4.5}, "bw_mean_bytes_per_s", 2048.0, ""),
        ({"prios": [{"prioclass": "2"}]}, "prios", '[{"prioclass": "2"}]', ""),
        ({"clat_high_prio": {"N": 1}}, "prios", '{"clat_high_prio": {"N": 1}}', ""),
    ],
)
def test_odd_values(change, column, value, warning):
    row, warnings = one(**change)
    assert row.get(column) == value and warning in warnings


@pytest.mark.parametrize(
    ("version", "unit", "value", "censored"),
    [("fio-2.21", "clat", 16711680, True), ("fio-2.21", "clat", 16580608, None), ("fio-3.39", "clat_ns", 16711680000, None)],
)  # fmt: skip
def test_the_end_of_the_histogram_is_that_of_the_version(version, unit, value, censored):
    part = {k: v for k, v in direction().items() if k != "clat_ns"}
    part[unit] = {"N": 9, "mean": 5.0, "max": 9, "percentile": {"99.000000": value}}
    (row,) = rows_of(decode(output(job(read=part), version=version)))
    assert row.get("latency_censored") is censored


def test_percentiles_of_lat_stand_under_clat_only_where_lat_has_none():
    under = {"N": 9, "mean": 5.0, "percentile": {"99.000000": 111}}
    options = {"lat_percentiles": "1"}
    for lat, found in (
        ({"N": 9, "mean": 6.0}, (None, 111)),
        ({"N": 9, "mean": 6.0, "percentile": {"99.000000": 222}}, (111, 222)),
    ):
        part = direction(clat_ns=under, lat_ns=lat)
        (row,) = rows_of(decode(output(job(read=part, options=options), version="fio-3.12-87-gabc")))
        assert (row.get("clat_p99_ns"), row.get("lat_p99_ns")) == found


def test_latency_target_of_an_unknown_version_is_unknown():
    found = {"jobs": [{**job(), "latency_target": 500}]}
    (row,) = rows_of(decode(json.dumps(found).encode()))
    assert row["latency_target_ns"] is None


@pytest.mark.parametrize("error", ["0", 0.0, "28"])
def test_errors_in_other_spellings(error):
    (row,) = rows_of(decode(output({**job(), "error": error})))
    assert row["error"] == int(error)


def test_bare_nan_is_unknown_and_a_text_with_nan_stays():
    data = output({**job(), "usr_cpu": 12.5, "desc": "x"}).replace(b"12.5", b"-nan")
    data = data.replace(b'"name": "j"', b'"name": "j", "description": "a, nan, \\q b"')
    decoded = decode(data)
    (row,) = rows_of(decoded)
    assert row["usr_cpu_percent"] is None
    assert row["options"]["description"] == "a, nan, \\q b"
    assert any("nan" in w for w in decoded.warnings) and any("backslash" in w for w in decoded.warnings)


def test_half_a_character_is_shown():
    (row,) = rows_of(decode(output(job("NAME")).replace(b"NAME", b"a\\ud800b")))
    assert row["jobname"] == "a\\ud800b"
    table_of([row], SCHEMA)


def test_a_document_without_a_version_has_the_units_of_its_keys():
    old = {"total_ios": 10, "io_bytes": 40, "bw": 40, "iops": 10.0, "clat": {"min": 1, "max": 3, "mean": 2.0}}
    for part, moved, mean in ((old, 40960, 2000.0), ({**old, "io_kbytes": 40, "io_bytes": 40960}, 40960, 2000.0),
                              (direction(), 4096000, 500.5)):  # fmt: skip
        document = json.loads(output(job(read=part)))
        del document["fio version"]
        (row,) = rows_of(decode(json.dumps(document).encode()))
        assert (row["io_bytes"], row["clat_mean_ns"], row["fio_version"]) == (moved, mean, None)
        assert any("no version" in warning for warning in row["warnings"])


def test_options_of_a_mixed_group_are_those_of_no_single_job():
    common = {"group_reporting": "", "bs": "8k"}
    mixed = output(job("a", options={"name": "b", "rw": "randwrite"}), **{"global options": common})
    (row,) = rows_of(decode(mixed))
    assert row["options"] == {} and row["options_unknown"] and "group of several jobs" in row["warnings"][0]
    (row,) = rows_of(decode(output(job("a"), **{"global options": common})))
    assert row["options"]["rw"] == "randread" and not row["options_unknown"]


def test_global_options_that_differ_between_hosts_are_unknown():
    hosts = [{"bs": "4k", "iodepth": "1"}, {"bs": "4k", "iodepth": "8"}]
    bare = {"jobname": "j", "groupid": 0, "error": 0, "read": direction(), "hostname": "h"}
    document = {"fio version": "fio-3.39", "global options": hosts, "client_stats": [bare]}
    (row,) = rows_of(decode(json.dumps(document).encode()))
    assert row["options"] == {"bs": "4k"} and "iodepth" in row["warnings"][0]


@pytest.mark.parametrize("number", [b"1e999", b"9" * 30, b"9" * 400])
def test_options_with_numbers_no_decoder_takes(number):
    data = output(job(options={"size": "SIZE"})).replace(b'"SIZE"', number)
    (row,) = rows_of(decode(data))
    assert row["options"]["bs"] == "4k" and row["options"]["size"] is None


def test_steady_state_and_disks_are_kept_as_they_are():
    state = {"attained": 1, "criterion": "-nan%", "data": {"iops": [1, 2]}}
    disks = [{"name": "sda", "util": 12.5, "aggr_write_merge": 3}]
    (row,) = rows_of(decode(output({**job(), "steadystate": state}, disk_util=disks)))
    assert row["steadystate_attained"] is True
    assert json.loads(row["steadystate"]) == state and json.loads(row["disk_util"]) == disks
    (row,) = rows_of(decode(output()))
    assert row["steadystate"] is None and row["disk_util"] is None and row["steadystate_attained"] is None


def test_without_any_options_they_are_unknown():
    bare = {"jobname": "j", "groupid": 0, "error": 0, "read": direction()}
    assert [row["options_unknown"] for row in rows_of(decode(output(bare, job(options={}))))] == [True, False]


def test_noise_with_many_braces_takes_no_time():
    start = time.process_time()
    for noise in (b'{"x\\q\xff' * 100_000, b'{"a"\n' * 100_000, b'{ "jobs"\n' * 100_000, b"{\n" * 100_000):
        with pytest.raises(Refused):
            decode(noise)
    assert time.process_time() - start < 10
