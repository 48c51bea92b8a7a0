"""Rows and plan of an import: status from evidence, axes from options, meaning from names."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.dataset.imports.batch import ImportBatch
from scripts.dataset.imports.mapping import MappingError, Names, canonical
from scripts.dataset.imports.sources import File
from scripts.dataset.schema import SCHEMA
from scripts.dataset.write import table_of
from tests.fio_output import direction, job, output
from tests.unit.fio.documents import documents, written
from tests.unit.fio.test_properties import mutated


def imported(*files, mapping=None, **settings):
    batch = ImportBatch(Names(mapping or {}), {"title": "t", **settings}, "imported")
    batch.read(File(f"in/{name}", name, data) for name, data in files)
    plan = batch.plan()
    return batch, plan, list(batch.rows())


def test_axes_are_the_options_that_differ():
    deep = output(job(iops=2000.0, options={"iodepth": "32", "bs": "4096"}))
    _, plan, rows = imported(("a.json", output()), ("b.json", deep))
    assert plan["axes"] == ["iodepth"]
    assert [entry["axes"] for entry in plan["runs"]] == [{"iodepth": 1}, {"iodepth": 32}]
    assert [row["iodepth"] for row in rows] == [1, 32] and {row["bs_bytes"] for row in rows} == {4096}
    assert {row["cell"] for row in rows} == {"iodepth=1", "iodepth=32"}


def test_job_options_win_over_global_ones_and_both_over_defaults():
    document = output(
        job(options={"iodepth": "8"}), **{"global options": {"iodepth": "1", "ioengine": "libaio", "direct": "1"}}
    )
    bare = output({"jobname": "j", "groupid": 0, "error": 0, "read": direction()})
    _, _, rows = imported(("a.json", document), ("b.json", bare))
    assert (rows[0]["iodepth"], rows[0]["ioengine"], rows[0]["direct"]) == (8, "psync", True)
    assert (rows[1]["iodepth"], rows[1]["ioengine"], rows[1]["rw"]) == (None, None, None)  # fio wrote no options
    named = output({"jobname": "j", "groupid": 0, "error": 0, "read": direction(), "job options": {"name": "j"}})
    batch, _, (row,) = imported(("c.json", named))
    assert (row["iodepth"], row["ioengine"], row["rw"]) == (1, "psync", "read")
    assert [(e["name"], e["value"]) for e in batch.environment()] == [("fio_version", "fio-3.39")]


def test_directories_are_variants_unless_names_say_otherwise():
    files = [(f"{d}/r{n}.json", output(job(iops=i))) for d, i in (("old", 100.0), ("new", 200.0)) for n in (1, 2)]
    _, plan, rows = imported(*files, baseline="old")
    assert list(plan["variants"]) == ["old", "new"] and plan["baseline"] == "old"
    assert [row["sample"] for row in rows] == [1, 2, 1, 2]
    mapping = {"path": r"(?P<kernel>\w+)/r(?P<sample>\d+)"}
    _, plan, rows = imported(*files, mapping=mapping)
    assert (plan["axes"] == ["kernel"] and list(plan["variants"]) == ["old"]) or list(plan["variants"]) == [
        "old",
        "new",
    ]
    _, plan, _ = imported(*files, mapping={"path": r"(?P<kernel>\w+)/r(?P<boot>\d+)", "variant": "kernel"})
    assert list(plan["variants"]) == ["old", "new"] and plan["axes"] == []


def test_a_baseline_that_is_not_there_is_said():
    with pytest.raises(MappingError, match="the imported variants are old"):
        imported(("old/1.json", output()), baseline="ancient")


def test_names_that_do_not_match_refuse_that_file_only():
    batch, _, rows = imported(("v1-a.json", output()), ("x.json", output()), mapping={"path": r"(?P<variant>v\d)-"})
    assert dict(batch.counts) == {"ok": 1, "failed": 0, "refused": 1}
    assert "does not match 'x.json'" in rows[-1]["reason"] and rows[-1]["status"] == "refused"


@pytest.mark.parametrize("mapping", [{"path": "("}, {"job": "no groups"}])
def test_a_mapping_that_is_none_is_said(mapping):
    with pytest.raises(MappingError, match=r"mapping\."):
        Names(mapping)


def test_jobs_of_a_group_with_the_same_axes_are_one_run_and_others_are_not():
    same = output(job("a", 100.0), job("b", 200.0))
    later = output(job("a", 100.0), {**job("b", 200.0), "groupid": 1})
    other = output(job("a", 100.0), job("b", 200.0, {"bs": "64k"}))
    for data, runs in ((same, 1), (later, 2), (other, 2)):
        _, plan, rows = imported(("x.json", data))
        assert len(plan["runs"]) == runs and len(rows) == 2


def status_of(data):
    batch, _, rows = imported(("x.json", data))
    return dict(batch.counts), {(row["status"], row["reason"]) for row in rows}


def test_status_comes_from_evidence():
    killed = b"fio: pid=7, got signal=9\n" + output()
    cut = b"\nfio: terminating on signal 2\n" + output()
    short = output(job(options={"time_based": "1", "runtime": "10"}))
    nothing = output(job(read=direction(0.0)))
    failed = output({**job(), "error": 28})
    for data, why in ((killed, "signal=9"), (cut, "signal 2"), (short, "of the requested 10 s"),
                      (nothing, "no I/O"), (failed, "error 28")):  # fmt: skip
        counts, found = status_of(data)
        assert counts == {"ok": 0, "failed": 1, "refused": 0}
        ((status, reason),) = found
        assert status == "failed" and why in reason
    whole = output(job(options={"time_based": "1", "runtime": "1"}))
    assert status_of(whole)[1] == {("ok", "")}


def test_an_old_fio_without_total_ios_has_done_io():
    old = direction(total_ios=None, io_bytes=4000)
    counts, _ = status_of(output({**job(), "read": {k: v for k, v in old.items() if v is not None}}, version="2.1.4"))
    assert counts["ok"] == 1


def test_every_refused_file_has_one_row_with_its_reason():
    files = [
        ("e.json", b""),
        ("t.json", output()[:-20]),
        ("x.txt", b"hello"),
        ("j.json", b'{"a": 1}'),
        ("g.json", output()),
    ]
    batch, _, rows = imported(*files)
    assert dict(batch.counts) == {"ok": 1, "failed": 0, "refused": 4}
    refused = {row["source"]: row["reason"] for row in rows if row["status"] == "refused"}
    assert len(refused) == 4 and all(refused.values())
    assert "byte" in refused["in/t.json"] and refused["in/e.json"] == "the file is empty"


def test_options_that_differ_within_cells_are_printed():
    _, plan, _ = imported(
        ("a.json", output(job(options={"size": "1g"}))), ("b.json", output(job(options={"size": "2g"})))
    )
    assert plan["differences"] == ["fio's size: 1g, 2g"]


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [("bs", "4k", 4096), ("bs", "4K", 4096), ("bs", "4096", 4096), ("bs", "4kb", 4096), ("bs", "4k,8k", "4k,8k"),
     ("bs", "4k,4k", 4096), ("rw", "readwrite", "rw"), ("rw", "randread:8", "randread"), ("iodepth", "32", 32),
     ("bs", ["4k", "8k"], 8192), ("bs", "64KiB", 64000),
     ("bs", "99999999999p", "99999999999p"), ("bs", [], "")],
)  # fmt: skip
def test_one_spelling_for_one_value(key, value, expected):
    assert canonical(key, value) == expected


def test_flags_without_a_value_and_sizes_that_are_mixed():
    options = [({"direct": ""}, "direct", True), ({"buffered": "0"}, "direct", True), ({"buffered": "1"}, "direct", False),
               ({"bssplit": "4k/50:8k/50"}, "bs_bytes", None)]  # fmt: skip
    for option, column, expected in options:
        _, _, (row,) = imported(("x.json", output(job(options=option))))
        assert row[column] == expected, option


def test_a_mixed_group_has_no_axes_of_its_last_job():
    mixed = output(job("a", options={"name": "b", "iodepth": "32"}), **{"global options": {"group_reporting": ""}})
    _, _, (row,) = imported(("x.json", mixed))
    assert (row["rw"], row["iodepth"], row["direct"]) == (None, None, None) and "several jobs" in row["warnings"][-1]


@settings(max_examples=150, deadline=None)
@given(st.lists(documents(), min_size=1, max_size=3), st.randoms(use_true_random=False), st.integers(0, 4))
def test_whatever_a_file_holds_the_good_one_is_imported(found, rng, count):
    files = [(f"{n}.json", mutated(written(d), rng, count)) for n, d in enumerate(found)]
    batch, plan, rows = imported(*files, ("good.json", output()))
    assert sum(batch.counts.values()) == len(files) + 1 == len({row["source"] for row in rows})
    assert [row["status"] for row in rows if row["source"] == "in/good.json"] == ["ok"]
    assert all(row["reason"] for row in rows if row["status"] != "ok") and plan["runs"]
    table_of(rows, SCHEMA).validate(full=True)


def test_versions_of_fio_that_differ_are_printed_and_not_an_environment():
    batch, plan, _ = imported(("a.json", output()), ("b.json", output(version="fio-2.21")))
    assert plan["differences"] == ["versions of fio: fio-2.21, fio-3.39"] and not list(batch.environment())


def test_what_lies_beside_our_own_results_is_no_result_and_the_same_names_elsewhere_are():
    beside = [
        ("r/fio.json", output()),
        ("r/run.json", b'{"format": 1}'),
        ("r/stderr.txt", b""),
        ("r/unload.json", b"{}"),
    ]
    batch, _, rows = imported(*beside)
    assert dict(batch.counts) == {"ok": 1, "failed": 0, "refused": 0} and len(rows) == 1
    batch, _, rows = imported(("x/run.json", output()), ("y/run.json", b"no json"), ("y/unload.json", output()))
    assert dict(batch.counts) == {"ok": 2, "failed": 0, "refused": 1}
    assert {row["source"] for row in rows} == {"in/x/run.json", "in/y/run.json", "in/y/unload.json"}


@pytest.mark.parametrize(
    ("mapping", "axis", "values"),
    [
        ({"path": r"qd(?P<iodepth>\d+)-"}, "iodepth", [8, 32]),
        ({"path": r"qd(?P<rw>\d+)-"}, "rw", [8, 32]),
        ({"path": r"qd(?P<ioengine>\d+)-"}, "ioengine", [8, 32]),
        ({"path": r"qd(?P<bs>\d+)-"}, "bs", [8, 32]),
    ],
)
def test_columns_are_fios_options_and_axes_what_names_mean(mapping, axis, values):
    files = [(f"qd{depth}-r.json", output()) for depth in (8, 32)]
    _, plan, rows = imported(*files, mapping=mapping)
    assert [entry["axes"] for entry in plan["runs"]] == [{axis: value} for value in values]
    assert {(r["iodepth"], r["rw"], r["ioengine"], r["bs_bytes"]) for r in rows} == {(1, "randread", "psync", 4096)}
    table_of(rows, SCHEMA).validate(full=True)


def test_an_axis_that_is_the_variant_keeps_its_column():
    files = [(f"{depth}.json", output(job(options={"iodepth": depth}))) for depth in ("8", "32")]
    _, plan, rows = imported(*files, mapping={"variant": "iodepth"})
    assert list(plan["variants"]) == ["8", "32"] and [row["iodepth"] for row in rows] == [8, 32]


def test_samples_may_count_from_zero():
    files = [(f"run-{number}.json", output()) for number in range(3)]
    _, plan, _ = imported(*files, mapping={"path": r"run-(?P<sample>\d+)"})
    assert [entry["sample"] for entry in plan["runs"]] == [0, 1, 2]


def test_hosts_of_clients_stay_apart():
    clients = [{**job("j", options={"name": "j"}), "hostname": h, "port": p} for h, p in (("a", 1), ("b", 2))]
    for client in clients:
        client["job options"] = {"name": "j"}
    common = [
        {"hostname": h, "port": p, "rw": "randread", "bs": "4k", "iodepth": d}
        for h, p, d in (("a", 1, "8"), ("b", 2, "32"))
    ]
    data = output(**{"global options": common, "client_stats": clients, "jobs": []})
    _, _, rows = imported(("c.json", data))
    assert [(r["hostname"], r["iodepth"], r["rw"], r["bs_bytes"]) for r in rows] == [
        ("a", 8, "randread", 4096),
        ("b", 32, "randread", 4096),
    ]
    assert not any("differs between hosts" in w for r in rows for w in r["warnings"])
    for part in common:
        part["hostname"] = "elsewhere"
    _, _, rows = imported(("c.json", output(**{"global options": common, "client_stats": clients, "jobs": []})))
    assert {(r["iodepth"], r["numjobs"], r["rw"]) for r in rows} == {(None, None, "randread")}  # no default is guessed


def test_options_that_can_not_be_read_have_no_defaults():
    _, _, (row,) = imported(("a.json", output(job(**{"job options": "text"}))))
    assert (row["rw"], row["bs_bytes"], row["iodepth"], row["direct"]) == (None, None, None, None)


@pytest.mark.parametrize(
    ("line", "options", "status"),
    [
        ("fio: io_u error on file /dev/sdb: Input/output error: write offset=0, buflen=4096", {}, "failed"),
        ("fio: job startup hung? exiting.", {}, "failed"),
        ("fio: 1 job failed to start", {}, "failed"),
        ("fio: pid=7, err=5/file:io_u.c:1803, func=io_u error, error=Input/output error", {}, "failed"),
        ("fio: io_u error on file x: Input/output error", {"continue_on_error": "io"}, "ok"),
        ("fio: file hash not empty on exit", {}, "ok"),
        ("fio: pid=7, err=0/file:x", {}, "ok"),
    ],
)
def test_what_fio_says_of_itself_counts(line, options, status):
    _, _, (row,) = imported(("a.json", line.encode() + b"\n" + output(job(options=options))))
    assert row["status"] == status and (status == "ok" or row["reason"] == line)


def test_an_error_has_fios_own_words():
    line = b"fio: pid=1, err=28/file:io_u.c:1, func=io_u error, error=No space left on device\n"
    _, _, (row,) = imported(("a.json", line + output(job(error=28))))
    assert row["reason"].count("No space left") == 1
    _, _, (row,) = imported(("a.json", b"fio: looking bad\n" + output(job(error=28))))
    assert row["reason"] == "job j ended with error 28: fio: looking bad"


def test_of_an_option_given_several_times_the_last_one_counts():
    data = output(job(options={"time_based": "1", "runtime": "X"})).replace(
        b'"runtime": "X"', b'"runtime": "1", "runtime": "60"'
    )
    _, _, (row,) = imported(("a.json", data))
    assert row["requested_runtime_s"] == 60 and "of the requested 60 s" in row["reason"]
    _, _, (row,) = imported(("a.json", output(job(options={"runtime": "60"}))))
    assert row["requested_runtime_s"] == 60 and row["status"] == "ok"  # not time_based: it ended when it was done


def test_a_run_counts_as_a_whole():
    jobs = [job("w", options={"name": "w"}, error=5 if number == 2 else 0) for number in range(4)]
    batch, _, rows = imported(("a.json", output(*jobs)), ("b.json", output(*[job("w", options={"name": "w"})] * 4)))
    assert [row["status"] for row in rows] == ["failed"] * 4 + ["ok"] * 4
    assert rows[0]["reason"] == "another part of the run: job w ended with error 5"
    assert dict(batch.counts) == {"ok": 1, "failed": 1, "refused": 0}


@pytest.mark.parametrize(
    ("bs", "expected"), [("64k,", None), (",64k", None), ("4k,8k", None), ("4k,4k", 4096), ("4k", 4096)]
)
def test_a_block_size_of_some_directions_is_none_of_all(bs, expected):
    _, _, (row,) = imported(("a.json", output(job(options={"bs": bs}))))
    assert row["bs_bytes"] == expected and row["status"] == "ok"


def test_an_exclamation_mark_in_a_name_is_a_letter():
    _, plan, _ = imported(("v!1/z.json", output()), ("v!2/z.json", output()))
    assert list(plan["variants"]) == ["v!1", "v!2"]
