"""When there is no verdict although there are samples, and what tables without room for verdicts say instead."""

import pytest

from scripts.comparison.compared import biased, comparisons, in_turns
from scripts.comparison.frame import load
from scripts.comparison.layouts import layout
from scripts.comparison.metrics import metric
from scripts.comparison.statistics import SMALLEST_BAND_PERCENT, Comparison, measured_band
from scripts.comparison.summary import summary
from scripts.comparison.tables import tables_of
from tests.unit.comparison.results import cells, write

ONE = cells(bs=[4096])
TWO = cells(bs=[4096, 8192])


def frame_of(directory, factors=None, matrix=None, **more):
    return load(write(directory / "r", factors or {"a": 1.0, "b": 1.1}, matrix or ONE, **more))


def tables(frame, name, **options):
    return layout(name)(frame, {"layout": name, **options})


def zero(variant, *rounds):
    def change(row):
        return {**row, "iops": 0.0} if row["variant"] == variant and row["round"] in rounds else row

    return change


def twins(**more):
    return {n: {"driver": "null_blk", "label": n, **({"aa": True} if n == "twin" else {})} for n in more}


@pytest.mark.parametrize(("variant", "said"), [("b", "2 of 5 are 0"), ("a", "baseline: 2 of 5 are 0")])
def test_samples_of_zero_take_the_verdict(tmp_path, variant, said):
    frame = frame_of(tmp_path, rounds=5, change=zero(variant, 1, 4))
    (found,) = comparisons(frame, "iops")
    assert (found.n, found.verdict, found.low, found.p, found.detectable_percent) == (3, said, None, None, None)
    (table,) = tables(frame, "benchstat")
    assert table.columns[-2:] == ["pairs", "verdict"] and table.rows[1][-2:] == ["3 in 3", said]


def test_nothing_but_zeros_is_said_in_the_summary(tmp_path):
    said = summary(frame_of(tmp_path, change=zero("b", 1, 2, 3)))
    assert "driver b: 3 of 3 samples are 0 IOPS" in said


def apart(row):
    return {**row, "hostname": "other", "boot_id": row["boot_id"] * 2} if row["variant"] == "b" else row


def test_variants_on_machines_of_their_own_have_no_verdict(tmp_path):
    frame = frame_of(tmp_path, change=apart)
    (found,) = comparisons(frame, "iops")
    assert found.away and (found.verdict, found.low) == ("another host", None)
    assert ", 2 hosts" in summary(frame)


def test_with_the_environment_as_the_axis_machines_are_the_question(tmp_path):
    frame = frame_of(tmp_path, change=apart, axes=["bs", "environment"])
    assert [c.verdict for c in comparisons(frame, "iops")] == ["faster"]


def test_an_equal_pair_that_differs_is_said_of_the_whole_table(tmp_path):
    names = {"a": 1.0, "twin": 1.2, "b": 1.5}
    frame = frame_of(tmp_path, names, variants=twins(**names))
    (said,) = biased(frame, "iops")
    assert said.startswith("A/A differs in 1 cell(s) (twin has the baseline's own recipe and differs by +20.0%)")
    (table,) = tables(frame, "benchstat")
    assert said in table.notes and "A/A differs in 1 cell(s)" in " ".join(summary(frame).split())
    assert biased(frame_of(tmp_path / "same", {"a": 1.0, "twin": 1.0}, variants=twins(a=1, twin=1)), "iops") == []


def test_all_of_one_before_all_of_the_other_is_said(tmp_path):
    def first_all_of_one(row):
        return {**row, "position": row["round"] + (100 if row["variant"] == "b" else 0)}

    (said,) = in_turns(frame_of(tmp_path, change=first_all_of_one))
    assert said.startswith("driver b were not measured in turns with driver a")
    (imported,) = in_turns(frame_of(tmp_path / "i", change=first_all_of_one, host="imported"))
    assert "may not have been in turns" in imported
    assert in_turns(frame_of(tmp_path / "turns")) == []


@pytest.mark.parametrize("name", ["zone_resets", "latency_depth", "total_ios"])
def test_what_is_neither_good_nor_bad_is_more_or_less(tmp_path, name):
    assert metric(name).more_is_better is None

    def add(row):
        return {**row, name: int(row["iops"])}

    options = {"tables": {"t": {"layout": "benchstat", "metric": name}}}
    (found,) = comparisons(frame_of(tmp_path, change=add, **options), name)
    assert found.verdict == "more"
    (less,) = comparisons(frame_of(tmp_path / "less", {"a": 1.0, "b": 0.9}, change=add, **options), name)
    assert less.verdict == "less"


def test_a_band_is_never_narrower_than_what_is_printed():
    def equal(ratio):
        return Comparison("twin", "c", "iops", 3, 3, 1, ratio, ratio, ratio)

    assert measured_band([equal(1.0)]) == SMALLEST_BAND_PERCENT
    assert measured_band([equal(1.0), equal(0.98)]) == pytest.approx(2)


def test_a_difference_within_the_band_is_no_missing_difference(tmp_path):
    frame = frame_of(tmp_path, {"a": 1.0, "b": 1.005})
    (table,) = tables(frame, "benchstat")
    assert table.rows[1][-1] == "~ (within band)"


def test_tables_without_room_for_verdicts_say_where_there_is_none(tmp_path):
    def later(row):
        return {**row, "iops": row["iops"] * 1.1} if row["variant"] == "b" and row["cell"] == "8192" else row

    frame = frame_of(tmp_path, {"a": 1.0, "b": 1.0}, matrix=TWO, change=later)
    for name in ("relative-miops", "relative-by-bs"):
        (table,) = tables(frame, name)
        (said,) = (note for note in table.notes if note.startswith("~"))
        assert "within the band of 1 %): 4096; a difference of" in said and "8192" not in said
    (few,) = tables(frame_of(tmp_path / "few", matrix=TWO, boots="aaa"), "relative-miops")
    assert "? (no verdict: within one boot): all cells" in few.notes


def test_percentages_of_one_cell_are_the_same_in_all_tables(tmp_path):
    """By blocks: a boot in which both are twice as fast counts like any other."""

    def boot(row):
        return {**row, "iops": row["iops"] * (4 if row["round"] == 1 else 1) * (1.3 if row["round"] == 1 else 1)}

    def only_b(row):
        return boot(row) if row["variant"] == "b" else {**row, "iops": row["iops"] * (4 if row["round"] == 1 else 1)}

    frame = frame_of(tmp_path, change=only_b)
    (found,) = comparisons(frame, "iops")
    (table,), (details,) = tables(frame, "relative-miops"), tables(frame, "benchstat")
    assert found.ratio == pytest.approx(1.1 * 1.3 ** (1 / 3))
    assert table.rows[0][-1].startswith("+20.05% 0.00%") and "+20.1%" in details.rows[1]


def test_workloads_that_differ_in_no_axis_have_rows_of_their_own(tmp_path):
    matrix = {name: {**cells(bs=[4096])["4096"], "workload": name} for name in ("cold", "warm")}
    (table,) = tables(frame_of(tmp_path, matrix=matrix), "relative-miops")
    assert [row[3] for row in table.rows] == ["cold", "warm"] and len({row[4] for row in table.rows}) == 2


def test_labels_are_one_printable_line(tmp_path):
    variants = {"a": {"driver": "x", "label": "one\ntwo\x1b[31m"}, "b": {"driver": "x", "label": "\x00"}}
    frame = frame_of(tmp_path, variants=variants)
    assert [frame.label(v) for v in "ab"] == ["one two [31m", "b"]


def test_how_many_runs_of_a_cell_failed_is_said(tmp_path):
    def fails(row):
        return {**row, "status": "failed", "reason": "fio: EIO"} if (row["variant"], row["round"]) == ("b", 2) else row

    frame = frame_of(tmp_path, change=fails)
    assert frame.problems == {("b", "4096"): "failed: fio: EIO (1 of 3 runs)"}
    assert "1 cell without all their samples" in summary(frame)
    lost = frame_of(tmp_path / "all", lost=[("b", "4096")])
    assert "driver b: no result in any of 1 cell (failed: fio: No space left (3 of 3 runs))" in " ".join(
        summary(lost).split()
    )


def test_no_baseline_is_said_where_the_variant_has_figures(tmp_path):
    frame = frame_of(tmp_path, lost=[("a", "4096")])
    for name in ("relative-by-bs", "relative-miops"):
        (table,) = tables(frame, name)
        assert table.rows[0][-1] == "no baseline"
    assert "driver b: not compared, driver a has no result" in summary(frame)


@pytest.mark.parametrize(("clock", "said"), [("instructions", True), ("emulated", True), ("hardware", False)])
def test_a_table_pasted_without_its_caption_still_says_the_clock(tmp_path, clock, said):
    frame = frame_of(tmp_path, change=lambda row: {**row, "clock": clock}, clock=clock)
    titles = [table.title for table in tables_of(frame, {"layout": "iops-bw"})]
    assert [f"(clock: {clock})" in title for title in titles] == [said] * 2
    assert ("code path, not throughput" in " ".join(summary(frame).split())) == (clock == "instructions")


def test_published_seconds_never_stand_in_one_grid_with_instructions(tmp_path):
    matrix = {"x": {"queues": 1, "rw": "randwrite", "bs": 4096, "iodepth": 1, "numjobs": 1, "prep": True}}
    options = {"layout": "iops-bw", "split": "queues", "reference": "zoned"}
    for clock, beside in (("hardware", True), ("instructions", False)):
        frame = frame_of(
            tmp_path / clock,
            {"zloop": 1.0, "ublk": 0.9},
            matrix,
            clock=clock,
            change=lambda row, clock=clock: {**row, "clock": clock},
        )
        first, *rest = tables_of(frame, options)
        assert any("published" in column for column in first.columns) == beside
        assert any("(published)" in table.title for table in rest)
