"""Keys that stand twice: said, and a figure of which only one of two values is left is unknown."""

import json

import pytest

from scripts.fio import repeated
from scripts.fio.decode import decode
from scripts.fio.rows import PERCENTILES, rows_of
from tests.fio_output import direction, job, output

USUAL = {f"{p:f}": 1000 + int(p) for p in PERCENTILES}


def with_percentiles(text, **options):
    part = {**direction(), "clat_ns": {"N": 9, "mean": 5.0, "percentile": "HERE"}}
    return output({**job(read=part), **options}).replace(b'"HERE"', text.encode())


@pytest.mark.parametrize("shapes_known", [False, True])
@pytest.mark.parametrize(
    ("text", "column", "value"),
    [
        ('{"50.000000": 7, "100.000000": 17, "100.000000": 0}', "other_percentiles", None),
        ('{"50.000000": 7, "99.000000": 17, "99.000000": 18}', "clat_p99_ns", None),
        ('{"50.000000": 7, "99.000000": 17, "99.000000": 18}', "clat_p50_ns", 7),
        ('{"99.000000": 17, "99.000000": 18}', "clat_p99_ns", None),
    ],
)
def test_percentiles_that_collide_are_unknown(text, column, value, shapes_known):
    if shapes_known:
        distinct = ", ".join(f'"{i}.000000": 5' for i in range(1, text.count(":") + 1))
        decode(with_percentiles("{" + distinct + "}"))
    decoded = decode(with_percentiles(text))
    (row,) = rows_of(decoded)
    assert row.get(column) == value
    assert any("stands there twice: unknown" in w for w in row["warnings"])


def test_usual_percentiles_and_padding_are_no_mistake():
    (row,) = rows_of(decode(with_percentiles(json.dumps(USUAL))))
    assert row["clat_p99_ns"] == 1099 and not row["warnings"]
    padded = json.dumps(USUAL)[:-1] + ', "0.00": 0, "0.00": 0, "0.00": 0}'
    decoded = decode(with_percentiles(padded))
    (row,) = rows_of(decoded)
    assert row["clat_p99_ns"] == 1099 and not row["warnings"] and not decoded.warnings


@pytest.mark.parametrize("known", [False, True])
def test_any_key_is_said(known):
    plain = output(job())
    twice = plain.replace(b'"total_ios"', b'"total_ios": 5, "total_ios"', 1)
    jobs = plain.replace(b'"jobs"', b'"jobs": [], "jobs"', 1)
    if known:
        decode(plain)
    for data, key in ((twice, "total_ios"), (jobs, "jobs")):
        assert any(f"key '{key}' stands there more than once" in w for w in decode(data).warnings)
    assert decode(plain).warnings == []


def test_options_may_be_repeated():
    data = output(job(options={"filename": "/dev/a"})).replace(b'"filename"', b'"filename": "/dev/b", "filename"')
    decoded = decode(data)
    (row,) = rows_of(decoded)
    assert row["options"]["filename"] == ["/dev/b", "/dev/a"] and not decoded.warnings


def test_one_look_is_enough_for_results_of_one_shape(monkeypatch):
    looked = []
    full = repeated.repeated_keys
    monkeypatch.setattr(repeated, "repeated_keys", lambda data: looked.append(1) or full(data))
    monkeypatch.setattr(repeated, "_shapes", set())
    for number in range(50):
        bins = json.dumps({str(k): 1 for k in range(number + 1)})
        part = {**direction(iops=10.0 + number), "clat_ns": {"N": 1, "bins": "HERE"}}
        decode(output(job(read=part)).replace(b'"HERE"', bins.encode()))
    assert len(looked) == 1
