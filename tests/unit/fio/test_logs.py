"""Log files: the layout comes from the job's options and the version, and a file that does not fit is refused."""

import io

import pyarrow.parquet as pq
import pytest

from scripts.dataset import logs as dataset_logs
from scripts.dataset.logs import LogSet
from scripts.fio.logs import layout_of, log_name, writer_of
from scripts.fio.scan import Refused

BW = log_name("x_bw.1.log")
CLAT = log_name("x_clat.2.log")
HIST = log_name("x_clat_hist.1.log")


def rows(tmp_path, name, options, version, text):
    with LogSet(tmp_path / "logs") as logs:
        warnings = logs.add("run", "x.log", name, layout_of(name, options, version), io.BytesIO(text.encode()))
    return pq.read_table(tmp_path / "logs" / f"{name.kind}.parquet").to_pylist(), warnings


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("d/x_bw.1.log", ("x", "bw", 1, False)),
        ("x_clat.log", ("x", "clat", None, False)),
        ("a_lat_slat.12.log.fz", ("a_lat", "slat", 12, True)),
        ("x_clat_hist.3.log", ("x", "clat_hist", 3, False)),
        ("dmesg.log", None),
        ("x_bw.json", None),
    ],
)
def test_names(path, parts):
    found = log_name(path)
    assert (found and (found.prefix, found.kind, found.job, found.stored)) == parts


@pytest.mark.parametrize(
    ("options", "version", "line", "expected"),
    [
        ({}, (2, 21), "3, 7, 0, 4096", {"latency_ns": 7000, "bs_bytes": 4096, "prio": None, "offset_bytes": None}),
        ({"log_offset": "1"}, (2, 21), "3, 7, 0, 4096, 512", {"latency_ns": 7000, "offset_bytes": 512, "prio": None}),
        ({}, (3, 16), "3, 7, 1, 4096", {"latency_ns": 7, "direction": "write", "prio": None}),
        ({}, (3, 19), "3, 7, 0, 4096, 1", {"latency_ns": 7, "prio": 1, "offset_bytes": None}),
        ({"log_prio": "1"}, (3, 41), "3, 7, 0, 4096, 0x2001", {"prio": 0x2001}),
        ({"log_offset": "1"}, (3, 41), "3, 7, 2, 4096, 512, 0", {"direction": "trim", "offset_bytes": 512, "prio": 0}),
        ({"log_avg_msec": "100", "log_window_value": "both"}, (3, 41), "100, 7, 9, 0, 0, 0",
         {"latency_ns": 7, "latency_ns_max": 9, "windowed": True}),
        ({"log_avg_msec": "100", "log_window_value": "max"}, (3, 41), "100, 9, 0, 0, 0",
         {"latency_ns": None, "latency_ns_max": 9, "windowed": True}),
        ({"log_avg_msec": "100", "log_max_value": "1"}, (3, 16), "100, 9, 0, 0", {"latency_ns": None, "latency_ns_max": 9}),
        ({"log_avg_msec": "100"}, (3, 41), "100, 7, 0, 0, 0", {"latency_ns": 7, "latency_ns_max": None, "windowed": True}),
        ({"log_offset": "1", "log_issue_time": "1"}, (3, 41), "3, 7, 0, 4096, 512, 0x0000, 99",
         {"issue_time_ns": 99, "offset_bytes": 512}),
        ({"log_alternate_epoch_clock_id": "1"}, (3, 33), "300, 7, 0, 0, 0", {"time_base": "start"}),
        ({"log_unix_epoch": "1", "log_alternate_epoch_clock_id": "1"}, (3, 33), "300, 7, 0, 0, 0", {"time_base": "clock 1"}),
        ({"log_alternate_epoch": "1"}, (3, 33), "300, 7, 0, 0, 0", {"time_base": "epoch"}),
        ({"log_avg_msec": "100", "log_window_value": "1"}, (3, 41), "100, 9, 0, 0, 0", {"latency_ns": None, "latency_ns_max": 9}),
        ({"log_avg_msec": ["1", "100"]}, (3, 41), "100, 9, 0, 0, 0", {"latency_ns": 9, "windowed": True}),
        ({"log_unix_epoch": "1"}, (3, 41), "1796064226889, 7, 0, 0, 0", {"time_base": "epoch", "time_ms": 1796064226889}),
    ],
)  # fmt: skip
def test_layouts(tmp_path, options, version, line, expected):
    (row,), warnings = rows(tmp_path, CLAT, options, version, line + "\n")
    assert {name: row[name] for name in expected} == expected
    assert (row["job"], row["run"], warnings) == (2, "run", [])


def test_bandwidth_is_bytes(tmp_path):
    (row,), _ = rows(tmp_path, BW, {}, (3, 16), "3, 8, 0, 4096\n")
    assert row["bw_bytes_per_s"] == 8192


@pytest.mark.parametrize(
    ("options", "version", "text", "said"),
    [
        ({}, (3, 16), "3, 7, 0, 4096, 0\n", "5 columns; the job's options and version say 4"),
        ({"log_offset": "1"}, (3, 41), "3, 7, 0, 4096, 0\n", "5 columns; .* say 6"),
        ({}, None, "3, 7, 0, 4096\n", "version of fio .* unknown"),
        ({}, (3, 16), "3, 7, 5, 4096\n", "direction column holds other numbers"),
        ({}, (3, 16), "3, x, 0, 4096\n", "no number"),
        ({}, (3, 16), "3, 7, 0, 4096\n3, 7\n3, 7, 0, 4096\n", "another number of columns"),
        ({}, (3, 16), "3, , 0, 4096\n", "no number"),
        ({}, (2, 21), "3, nan, 0, 4096\n", "no number"),
        ({}, (3, 16), "3, 7, NULL, 4096\n", "no number"),
        ({}, (3, 16), "3, -7, 0, 4096\n", "value that is negative"),
        ({}, (3, 16), "3, 7, 0, -1\n", "bs_bytes that is negative"),
        ({}, (2, 21), "3, 9223372036854775807, 0, 4096\n", "does not fit"),
        ({"log_avg_msec": "much"}, (3, 16), "", "log_avg_msec = 'much'"),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_nothing(tmp_path, options, version, text, said):
    with pytest.raises(Refused, match=said):
        rows(tmp_path, CLAT, options, version, text)
    assert not list(tmp_path.glob("logs/*"))


def test_a_stored_log_names_the_way_out():
    with pytest.raises(Refused, match="inflate-log"):
        layout_of(log_name("x_bw.1.log.fz"), {}, (3, 41))


@pytest.mark.parametrize("cut", ["5, 8, 0, 40", "5, 8, 0, ", "5, 8", "5"])
def test_a_line_that_is_cut_off_is_left_out_and_said(tmp_path, cut):
    found, warnings = rows(tmp_path, CLAT, {}, (3, 16), "3, 7, 0, 4096\n" + cut)
    assert [row["time_ms"] for row in found] == [3]
    assert "cut off" in warnings[0]


def test_a_log_that_is_one_line_which_is_cut_off_has_no_rows(tmp_path):
    found, warnings = rows(tmp_path, CLAT, {}, (3, 16), "3, 7, 0, 4096")
    assert found == [] and "cut off" in warnings[0]


def test_blank_lines_at_the_beginning_are_none_of_its_lines(tmp_path):
    found, warnings = rows(tmp_path, CLAT, {}, (3, 16), "\n\n3, 7, 0, 4096\n")
    assert [row["latency_ns"] for row in found] == [7] and not warnings


def test_a_bad_line_is_not_repeated_whole(tmp_path):
    with pytest.raises(Refused) as caught:
        rows(tmp_path, CLAT, {}, (3, 16), "3, 7, 0, 4096\n" + "\0" * 5000 + "\xe9\n")
    assert len(str(caught.value)) < 1500


@pytest.mark.parametrize("count", ["1.7", "-3", "nan", "1e300", "x", str(2**64)])
def test_a_histogram_log_holds_whole_numbers(tmp_path, count):
    line = ", ".join(["5", "0", "4096", *(["1"] * 1855), count])
    with pytest.raises(Refused, match=r"whole numbers|negative"):
        rows(tmp_path, HIST, {"log_hist_coarseness": "0"}, (3, 41), line + "\n")


def test_an_empty_log_is_said(tmp_path):
    assert rows(tmp_path, CLAT, {}, (3, 16), "") == ([], ["the log file is empty"])


def test_histograms_are_buckets(tmp_path):
    counts = ["0"] * 1856
    counts[5], counts[128] = "2", "3"
    (first, second), _ = rows(tmp_path, HIST, {}, (3, 41), "1000, 1, 4096, " + ", ".join(counts) + "\n")
    assert (first["low_ns"], first["high_ns"], first["count"], first["direction"]) == (5, 6, 2, "write")
    assert (second["low_ns"], second["high_ns"], second["count"]) == (128, 130, 3)
    coarse = ["0"] * 464
    coarse[32] = "7"
    (row,), _ = rows(tmp_path, HIST, {"log_hist_coarseness": "2"}, (3, 41), "1, 0, 4096, " + ", ".join(coarse) + "\n")
    assert (row["low_ns"], row["high_ns"], row["count"]) == (128, 136, 7)
    with pytest.raises(Refused, match="histogram log with 6 columns"):
        rows(tmp_path, HIST, {}, (3, 41), "1, 0, 4096, 1, 2, 3\n")


def test_large_logs_have_a_file_of_their_own_that_is_whole_or_absent(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset_logs, "WHOLE_BYTES", 100)
    logs = LogSet(tmp_path)
    layout = layout_of(BW, {}, (3, 16))
    logs.add("r", "a", BW, layout, io.BytesIO(b"1, 2, 0, 4096\n" * 50))
    with pytest.raises(Refused):
        logs.add("r", "b", BW, layout, io.BytesIO(b"1, 2, 0, 4096\n" * 50 + b"1, 2, 9, 4096\n"))
    logs.add("r", "c", BW, layout, io.BytesIO(b"1, 2, 0, 4096\n"))
    logs.close()
    found = {path.name: pq.read_table(path).num_rows for path in tmp_path.glob("*.parquet")}
    assert sum(found.values()) == 51 and found["bw.parquet"] == 1
    again = LogSet(tmp_path)
    again.close()
    assert not list(tmp_path.glob("*"))  # logs of an earlier time that are not written again


def test_logs_belong_to_the_job_that_wrote_them():
    jobs = [("a", {"write_bw_log": "/run/x"}), ("b", {"write_lat_log": "x", "log_avg_msec": "5"}), ("x", {})]
    assert writer_of(BW, jobs) == {"write_bw_log": "/run/x"}
    assert writer_of(CLAT, jobs)["log_avg_msec"] == "5"
    assert writer_of(log_name("y_bw.1.log"), jobs) is None
    assert writer_of(log_name("x_bw.1.log"), [("x", {"write_bw_log": ""})]) == {"write_bw_log": ""}
    with pytest.raises(Refused, match="different log options"):
        writer_of(BW, [("a", {"write_bw_log": "x"}), ("b", {"write_bw_log": "x", "log_offset": "1"})])
