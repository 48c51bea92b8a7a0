"""fio's output: right, or refused with a reason."""

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.fio import scan
from scripts.fio.decode import Refused, decode
from scripts.fio.evidence import judge
from scripts.fio.rows import rows_of

CLAT = {
    "min": 100,
    "max": 900,
    "mean": 500.5,
    "stddev": 1.5,
    "N": 10,
    "percentile": {"50.000000": 480, "99.900000": 890},
}


def document(version="fio-3.33", **job):
    read = {
        "total_ios": 10,
        "io_bytes": 40960,
        "iops": 10.0,
        "bw": 40,
        "bw_bytes": 40960,
        "runtime": 1000,
        "clat_ns": CLAT,
    }
    base = {"jobname": "a", "groupid": 0, "error": 0, "job options": {"bs": "4k"}, "read": read}
    return {"fio version": version, "jobs": [{**base, **job}]}


def rows(data):
    data = data if isinstance(data, bytes) else json.dumps(data).encode()
    return list(rows_of(decode(data)))


def test_plain():
    (row,) = rows(document())
    assert (row["direction"], row["total_ios"], row["iops"], row["clat_p99_9_ns"]) == ("read", 10, 10.0, 890)
    assert row["bw_bytes_per_s"] == 40960.0


def test_old_versions_are_scaled():
    old = {
        "total_ios": 10,
        "io_bytes": 40,
        "iops": 10,
        "bw": 40,
        "runtime": 1000,
        "clat": {**CLAT, "percentile": {"50.000000": 480}},
    }
    (row,) = rows(document("fio-2.1.4", read=old))
    assert row["io_bytes"] == 40960 and row["bw_bytes_per_s"] == 40960.0
    assert row["clat_mean_ns"] == 500500 and row["clat_p50_ns"] == 480000


@pytest.mark.parametrize(
    ("wrap", "warning"),
    [
        (lambda d: b"\xef\xbb\xbf" + d, "byte-order mark"),
        (lambda d: b"fio: pid=1, got signal=9\n" + d, "got signal=9"),
        (lambda d: d + b"\n\nRun status group 0\n", "Run status"),
        (lambda d: d + b"\n" + d, "2 documents"),
        (lambda d: d.replace(b'"a"', b'"a\tb"'), ""),
        (lambda d: d.replace(b'"a"', b'"caf\xe9"'), "not UTF-8"),
        (lambda d: d.replace(b"500.5", b"-nan"), "nan"),
    ],
)
def test_oddities_are_read_and_said(wrap, warning):
    decoded = decode(wrap(json.dumps(document()).encode()))
    assert len(list(rows_of(decoded))) == 1
    assert warning in " ".join(decoded.warnings)


def test_repeated_options_are_a_list():
    data = json.dumps(document()).replace('{"bs": "4k"}', '{"filename": "a", "filename": "b"}').encode()
    (row,) = rows(data)
    assert row["options"]["filename"] == ["a", "b"]
    assert "filename" in row["warnings"][0]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n", "blanks"),
        (b"no json", "not fio's JSON"),
        (b'{"a": 1}', "neither jobs nor client_stats"),
        (json.dumps(document()).encode()[:-20], "truncated"),
        (json.dumps(document()).encode()[:100], "truncated"),
        (json.dumps(document()).replace("10.0", '"x"').encode(), "unexpected content"),
    ],
)
def test_refusals(data, reason):
    with pytest.raises(Refused, match=reason):
        decode(data)


@pytest.mark.parametrize("cut", range(2, 300, 7))
def test_every_cut_is_refused(cut):
    with pytest.raises(Refused):
        decode(json.dumps(document()).encode()[:-cut])


def test_phantom_and_sum_rows_are_dropped():
    data = document()
    data["jobs"].append({"groupid": 4294967295, "read": data["jobs"][0]["read"]})
    data["client_stats"] = [{"jobname": "All clients", "read": data["jobs"][0]["read"]}]
    assert len(rows(data)) == 1


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 400), st.integers(0, 40))
def test_damage_is_refused_never_a_crash(noise, at, length):
    data = json.dumps(document()).encode()
    with contextlib.suppress(Refused):
        list(rows_of(decode(data[:at] + noise + data[at + length :])))


@pytest.mark.parametrize(
    ("change", "code", "requested", "status", "reason"),
    [
        ({}, 0, {}, "ok", ""),
        ({"error": 28}, 0, {}, "failed", "error 28"),
        ({}, 1, {}, "failed", "exit code 1"),
        ({}, -9, {}, "failed", "signal 9"),
        ({}, 0, {"runtime_s": 60, "time_based": True}, "failed", "ran for 1000 ms"),
        ({}, 0, {"prefill_bytes": 1 << 20}, "failed", "wrote 40960 of 1048576"),
        ({"read": {"total_ios": 0, "io_bytes": 0}}, 0, {}, "failed", "no I/O"),
    ],
)
def test_verdicts(change, code, requested, status, reason):
    verdict = judge(json.dumps(document(**change)).encode(), code, "", requested)
    assert verdict.status == status and reason in verdict.reason


def test_verdict_of_nothing():
    assert judge(b"", 0, "", {}).status == "refused"
    assert judge(b"", 1, "fio: no", {}).status == "failed"


def test_a_contradicting_bandwidth_does_not_count():
    raw = json.dumps(document()).encode()
    verdict = judge(raw, 0, "", {"bs_bytes": 65536})
    assert verdict.status == "failed" and "IOPS x bs" in verdict.reason
    for why in ({"zonemode": "zbd"}, {"bssplit": "4k/50:64k/50"}):
        verdict = judge(raw, 0, "", {"bs_bytes": 65536, **why})
        assert verdict.status == "ok" and "IOPS x bs" in verdict.warnings[-1]
    assert judge(raw, 0, "", {"bs_bytes": 4096}).status == "ok"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_utf_16_with_and_without_a_mark(encoding):
    decoded = decode(json.dumps(document(), indent=1).encode(encoding))
    assert list(rows_of(decoded)) and "UTF-16" in decoded.warnings[0]


@pytest.mark.parametrize(
    ("part", "io_bytes"),
    [
        ({"io_bytes": 73880, "bw": 73806, "runtime": 1001}, 73880 * 1024),
        ({"io_bytes": 73880 * 1024, "bw": 73806, "runtime": 1001}, 73880 * 1024),
        ({"io_bytes": 73880, "bw": 73806}, None),
        ({"io_bytes": 73880, "iops": 5.0, "runtime": 1001}, None),
        ({"io_bytes": 73880 * 30, "bw": 73806, "runtime": 1001}, None),
        ({"io_bytes": 73880 * 1024, "bw_bytes": 75577344, "runtime": 1001}, 73880 * 1024),
    ],
)
def test_a_document_without_version_and_latencies_has_the_units_that_its_figures_agree_on(part, io_bytes):
    (row,) = rows_of(decode(json.dumps({"jobs": [{"jobname": "j", "read": part}]}).encode()))
    assert row.get("io_bytes") == io_bytes
    assert "no version of fio" in row["warnings"][0]


@pytest.mark.parametrize("cut", [b'"a" ', b'"cl', b"500."])
def test_where_a_truncated_file_ends_is_where_it_ends(cut):
    data = json.dumps(document()).encode()
    data = data[: data.index(cut.strip()) + len(cut.strip()) - 1]
    with pytest.raises(Refused, match=f"begins at byte 0 ends at byte {len(data)}"):
        decode(data)
    with pytest.raises(Refused, match=f"ends at byte {len(data) + 3}"):
        decode(b"\xef\xbb\xbf" + data)


def test_braces_that_begin_nothing_are_not_tried_for_ever(monkeypatch):
    text = b'{"a":\n' * 190 + b'{"foreign": [' + b"1," * 3_000_000
    tried = []
    after_damage = scan.after_damage
    monkeypatch.setattr(scan, "after_damage", lambda *args: tried.append(1) or after_damage(*args))
    with pytest.raises(Refused):
        decode(text)
    assert len(tried) * len(text) <= scan.MAX_TRIED + len(text)


def test_a_number_that_python_will_not_read_is_said_in_our_words():
    with pytest.raises(Refused, match="a number of thousands of digits"):
        decode(json.dumps(document()).replace("10.0", "1" * 5000).encode())
