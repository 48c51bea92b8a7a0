"""All layouts on generated samples: every cell planned is shown, as a figure or as the reason why there is none."""

import csv
import io
import re

import pytest

from scripts.compare import write_tables
from scripts.comparison.frame import Refusal, load
from scripts.comparison.layouts import layout, names
from scripts.comparison.tables import tables_of
from tests.unit.comparison.results import cells, write

FIVE = ["iops-bw", "relative-miops", "relative-by-bs", "loop-cpu", "grouped-depth"]
MATRIX = cells(rw=["randread", "write"], bs=[4096, 131072], iodepth=[1, 32])


def frame_of(directory, factors=None, matrix=None, **more):
    return load(write(directory / "r", factors or {"a": 1.0, "b": 1.1}, matrix or MATRIX, **more))


def tables(frame, name, **options):
    return layout(name)(frame, {"layout": name, **options})


def test_all_five_seeds_have_a_layout():
    assert set(FIVE) < set(names())


def test_iops_bw(tmp_path):
    first, second = tables(frame_of(tmp_path), "iops-bw", split="iodepth")
    assert first.title == "a against b, iodepth = 1" and second.title == "a against b, iodepth = 32"
    assert first.columns == ["IOPS / BW", "driver a", "driver b"]
    assert first.rows[0] == ["randread-4096-1", "10.0k / 41.0 MB/s", "11.0k / 45.1 MB/s"]


def test_relative_miops(tmp_path):
    frame = frame_of(tmp_path, matrix=cells(rw=["randread", "randwrite"], numjobs=[1, 4], prep=[True, False]))
    (table,) = tables(frame, "relative-miops")
    assert table.columns == ["jobs/bs", "workload", "prep", "1", "4"]
    assert table.rows[0] == ["4k", "randread", "1", "+10.00% 0.00% (0.01,0.0)", "+10.00% 0.00% (0.03,0.0)"]
    assert table.rows[2][3].startswith("0.00% +10.00% (0.0,0.0")


def test_relative_by_bs(tmp_path):
    (table,) = tables(frame_of(tmp_path), "relative-by-bs")
    assert table.columns == ["rw", "iodepth", "4k", "128k"]
    assert table.rows == [[rw, depth, "+10.0%", "+10.0%"] for rw in ("randread", "write") for depth in ("1", "32")]
    (other,) = tables(frame_of(tmp_path / "o", {"a": 1.0, "b": 1.001}), "relative-by-bs", columns=["iodepth"])
    assert other.columns == ["rw", "bs", "1", "32"] and other.rows[0] == ["randread", "4k", "+0.1% ~", "+0.1% ~"]
    (one,) = tables(frame_of(tmp_path / "1", boots="aaa"), "relative-by-bs")
    assert one.rows[0][2] == "+10.0% ?"
    (named,) = tables(frame_of(tmp_path / "r2"), "relative-by-bs", rows=["rw"])
    assert named.rows[0] == ["randread", "+10.0%; +10.0%", "+10.0%; +10.0%"]  # never one cell over the other


def test_loop_cpu(tmp_path):
    frame = frame_of(tmp_path, matrix={"sync": {**cells(rw=["rw"])["rw"], "label": "sync, 12 jobs"}})
    (table,) = tables(frame, "loop-cpu")
    assert table.title == "a against b: sync, 12 jobs"
    assert table.rows[0] == ["driver a", "39.1", "10.0k", "39.1", "10.0k", "40.0"]


def test_grouped_depth(tmp_path):
    frame = frame_of(tmp_path, matrix=cells(rw=["write", "read", "randread"], iodepth=[8, 16]))
    found = tables(frame, "grouped-depth")
    assert [table.title for table in found] == ["Sequential write", "Sequential read", "Random read"]
    assert found[0].groups == [("", 1), ("iodepth 8", 3), ("iodepth 16", 3)]
    assert found[0].rows == [
        ["driver a", "10.0", "39.1", "100.00", "20.0", "78.1", "50.00"],
        ["driver b", "11.0", "43.0", "90.91", "22.0", "85.9", "45.45"],
    ]
    assert "driver b against driver a: +10.0% faster, +10.0% faster" in found[0].notes
    more = tables(frame_of(tmp_path / "m"), "grouped-depth")
    assert [t.title for t in more] == [
        f"{w}, bs={bs}" for w in ("Random read", "Sequential write") for bs in ("4k", "128k")
    ]


@pytest.mark.parametrize("name", [*FIVE, "benchstat"])
def test_failed_and_not_run_are_said_and_never_zero(tmp_path, name):
    lost = [("b", "randread-4096-1")]
    frame = frame_of(tmp_path, {"a": 1.0, "b": 1.1, "c": None}, lost=lost)
    shown = [cell for table in tables(frame, name) for row in table.rows for cell in row]
    assert any("failed" in cell for cell in shown) and any("not run" in cell for cell in shown)
    assert not {"0", "0.0", "nan", "None", "0.00", "nan%"} & set(shown)


@pytest.mark.parametrize("name", [*FIVE, "benchstat"])
def test_nothing_measured_at_all(tmp_path, name):
    frame = frame_of(tmp_path, lost=[(v, c) for v in "ab" for c in MATRIX])
    shown = [cell for table in tables(frame, name) for row in table.rows for cell in row]
    assert any("failed" in cell for cell in shown) and "0" not in shown


@pytest.mark.parametrize("name", [*FIVE, "benchstat"])
def test_all_forms_are_written_and_mails_have_80_columns(tmp_path, name):
    frame = frame_of(
        tmp_path, {"a": 1.0, "b": 1.1, "c": None}, tables={"t": {"layout": name, "reference": "zoned-first"}}
    )
    write_tables(frame, tmp_path / "r")
    directory = tmp_path / "r" / "tables"
    assert {p.suffix for p in directory.glob("t.*")} == {".txt", ".md", ".csv", ".tex", ".html"}
    shown = (directory / "t.txt").read_text()
    long = [line for line in shown.splitlines() if len(line) > 80 and "http" not in line]
    assert not long, long
    for suffix in ("txt", "md", "tex", "html"):
        content = (directory / f"t.{suffix}").read_text()
        plain = re.sub(r"[\\{}]", "", content)
        assert "Clock: hardware" in plain and "no such module" in plain and "15.8k / 53.0 MB/s" in plain, suffix
        assert "Checklist" in plain and "Contradiction" in plain, suffix
    rows = list(csv.reader(io.StringIO((directory / "t.csv").read_text())))
    assert any("driver b" in cell for row in rows for cell in row)
    summary = (directory / "summary.txt").read_text()
    assert max(map(len, summary.splitlines())) <= 72 and "not run" in summary and "driver b" in summary


ZONED = {
    f"q{queues}-{label}": {
        "queues": queues,
        "rw": rw,
        "bs": bs,
        "iodepth": depth,
        "numjobs": jobs,
        "prep": True,
        "label": label,
    }
    for queues in (1, 2)
    for label, rw, bs, depth, jobs in [
        ("first", "randwrite", 4096, 1, 1),
        ("second", "randwrite", 4096, 32, 8),
        ("own", "read", 4096, 1, 1),
    ]
}


def test_published_figures_stand_beside_the_same_point(tmp_path):
    options = {"layout": "iops-bw", "split": "queues", "reference": "zoned"}
    frame = frame_of(tmp_path, {"zloop": 1.0, "ublk": 0.9}, ZONED)
    one, two, *published, details = tables_of(frame, options)
    assert one.columns[1:] == ["driver zloop", "driver ublk", "ublk, published", "zloop, published"]
    assert [row[3:] for row in one.rows] == [
        ["2859 / 11.7 MB/s", "5535 / 22.7 MB/s"],
        ["24.5k / 100 MB/s", "24.6k / 101 MB/s"],
        ["-", "-"],
    ]
    assert [row[3:] for row in two.rows] == [["-", "-"]] * 3  # published for one and eight queues, not for two
    assert one.rows[0][1] == "10.0k / 41.0 MB/s" and any("Source:" in note for note in published[-1].notes)
    assert len(published) == 2  # all of it follows, since eight queues have no cell of ours
    assert not any("published" in cell for row in details.rows for cell in row)


def test_published_figures_are_never_tested_against_ours(tmp_path):
    frame = frame_of(tmp_path, matrix=cells(rw=["write", "read"], iodepth=[8, 16]))
    found = tables_of(frame, {"layout": "grouped-depth", "reference": "zoned-npo2"})
    assert found[0].rows[2] == ["Without patch, published", "578", "2257", "12.80", "576", "2248", "25.78"]
    assert not any("published against" in note for table in found for note in table.notes)
    assert len(found) == 2 + 3 + 1
    again = cells(rw=["write", "read", "randread"], iodepth=[8, 16])
    complete = tables_of(frame_of(tmp_path, matrix=again), {"layout": "grouped-depth", "reference": "zoned-npo2"})
    assert len(complete) == 3 + 1 and any("Source:" in note for note in complete[2].notes)


@pytest.mark.parametrize(
    ("name", "reference"), [("iops-bw", "loop"), ("relative-by-bs", "nbd"), ("relative-miops", "rnull")]
)
def test_published_figures_without_the_same_point_follow(tmp_path, name, reference):
    found = tables_of(frame_of(tmp_path, matrix=ZONED), {"layout": name, "reference": reference})
    assert any("(published)" in table.title for table in found)


def test_many_cells_lost_for_one_reason_are_one_line(tmp_path):
    frame = frame_of(tmp_path, lost=[("b", cell) for cell in MATRIX], tables={"t": {"layout": "iops-bw"}})
    shown = " ".join(write_tables(frame, tmp_path / "r").split())
    assert shown.count("Missing:") == 1 and "driver b, 8 cells (randread-4096-1 .. write-131072-32): failed" in shown


def test_unknown_layout_names_those_that_exist(tmp_path):
    with pytest.raises(KeyError, match=r"no layout 'iops'.*iops-bw"):
        tables(frame_of(tmp_path), "iops")


def test_contradictions_in_our_own_cells_are_noted(tmp_path):
    def lie(row):
        return {**row, "bw_bytes_per_s": 5e7} if row["cell"] == "randread-4096-1" else row

    frame = frame_of(tmp_path, change=lie, tables={"t": {"layout": "iops-bw"}})
    shown = " ".join(write_tables(frame, tmp_path / "r").split())
    assert shown.count("Contradiction:") == 2
    assert "driver a, randread-4096-1: 10.0k IOPS of 4096 bytes are 41.0 MB/s, not 50.0 MB/s" in shown


def test_means_say_what_they_mix_and_lack(tmp_path):
    frame = frame_of(tmp_path, {"a": 1.0, "b": 1.1, "c": 1.2}, lost=[("b", "randread-4096-1")])
    (table,) = tables(frame, "benchstat")
    notes = " ".join(table.notes)
    assert "Geometric mean over 7 cells: driver b +10.0%; 1 of 8 cells are missing in it" in notes
    assert (
        "Geometric mean over 8 cells: driver c +20.0%; not the same cells as other variants (+20.0% over the common)"
        in notes
    )
    assert "mixes cells that differ in rw, bs, iodepth" in notes


def test_other_columns_can_be_compared(tmp_path):
    def add(row):
        return {**row, "context_switches": int(row["iops"])}

    options = {"t": {"layout": "benchstat", "metric": "context_switches"}}
    (table,) = tables(frame_of(tmp_path, change=add, tables=options), "benchstat", metric="context_switches")
    assert table.rows[1][-1] == "slower" and table.columns[2] == "context switches"
    with pytest.raises(Refusal, match="metric 'switches': one of iops"):
        frame_of(tmp_path / "x", tables={"t": {"layout": "benchstat", "metric": "switches"}})


def test_a_twin_measures_the_band(tmp_path):
    variants = {
        n: {"driver": "null_blk", "label": n, **({"aa": True} if n == "twin" else {})} for n in ("a", "twin", "b")
    }
    frame = frame_of(tmp_path, {"a": 1.0, "twin": 1.03, "b": 1.02}, matrix=cells(bs=[4096, 8192]), variants=variants)
    (table,) = tables(frame, "benchstat")
    verdicts = {row[1]: row[-1] for row in table.rows}
    assert verdicts["b"].startswith("~") and verdicts["twin"].startswith("A/A")
    assert any("practical band 3 % (measured: A/A)" in note for note in table.notes)


def test_one_sample_has_no_spread(tmp_path):
    for rounds, expected in ((1, "-"), (3, "0.2%")):
        (table,) = tables(frame_of(tmp_path / str(rounds), rounds=rounds), "benchstat")
        place = table.columns.index("spread")
        assert {row[place] for row in table.rows} == {expected}
