"""Rows of a run become one sample; what must not be compared is refused; the caption says what is known."""

import pandas as pd
import pytest

from scripts.comparison.caption import caption
from scripts.comparison.frame import Refusal, load
from scripts.comparison.join import joined
from scripts.comparison.layouts.benchstat import tables
from scripts.comparison.samples import COLUMNS, samples_of
from tests.unit.comparison.results import cells, write

ONE = cells(bs=[4096])


def rows(*parts):
    base = dict.fromkeys(COLUMNS) | {"run": "r", "variant": "a", "cell": "c", "bs_bytes": 4096}
    found = pd.DataFrame([{**base, **part} for part in parts])
    numbers = [c for c in found if c.endswith(("_ns", "iops", "_per_s", "_ios", "percent", "_per_io"))]
    return found.astype(dict.fromkeys(numbers, float))


def part(direction, iops, **more):
    return {"direction": direction, "iops": iops, "bw_bytes_per_s": None if iops is None else iops * 4096.0, **more}


def test_directions_add_up():
    (found,) = samples_of(
        rows(
            part("read", 100.0, clat_mean_ns=10.0, total_ios=300), part("write", 50.0, clat_mean_ns=40.0, total_ios=100)
        )
    ).to_dict("records")
    assert (found["iops"], found["read_iops"], found["write_iops"]) == (150, 100, 50)
    assert found["clat_mean_ns"] == pytest.approx((10 * 300 + 40 * 100) / 400)
    assert found["read_bw_bytes_per_s"] == 100 * 4096


def test_unified_both_is_not_counted_twice():
    (found,) = samples_of(rows(part("read", 100.0), part("write", 50.0), part("mixed", 150.0))).to_dict("records")
    assert found["iops"] == 150
    (mixed,) = samples_of(rows(part("mixed", 150.0))).to_dict("records")
    assert mixed["iops"] == 150 and pd.isna(mixed["read_iops"])


def test_a_part_that_is_unknown_is_no_zero():
    (found,) = samples_of(rows(part("read", 100.0), part("write", None))).to_dict("records")
    assert pd.isna(found["iops"])
    (alone,) = samples_of(rows(part("read", None))).to_dict("records")
    assert pd.isna(alone["iops"])


def test_one_row_and_many_rows_give_the_same():
    one = samples_of(
        rows(part("read", 100.0, clat_mean_ns=10.0, total_ios=300, usr_cpu_percent=5.0, sys_cpu_percent=6.0))
    )
    two = samples_of(
        rows(
            part("read", 60.0, clat_mean_ns=10.0, total_ios=150, usr_cpu_percent=5.0, sys_cpu_percent=6.0),
            part("read", 40.0, clat_mean_ns=10.0, total_ios=150, usr_cpu_percent=5.0, sys_cpu_percent=6.0),
        )
    )
    for name in ("iops", "read_iops", "write_iops", "bw_bytes_per_s", "clat_mean_ns", "cpu_percent"):
        assert one[name].iloc[0] == pytest.approx(two[name].iloc[0]), name


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"change": lambda r: {**r, "clock": "emulated" if r["variant"] == "b" else "hardware"}},
            "clocks are mixed: emulated, hardware",
        ),
        ({"change": lambda r: {**r, "environment_id": f"e{r['round']}"}}, "environments of a are mixed: e1, e2, e3"),
        ({"facts": {"b": {"kernel": "6.19"}}}, "kernel is mixed: a: 6.18; b: 6.19"),
        ({"facts": {"b": {"fio_version": "fio-3.1"}}}, "fio_version is mixed"),
        ({"facts": {"a": {"virtualisation": "kvm"}}}, "virtualisation is mixed"),
    ],
)
def test_mixtures_are_refused(tmp_path, more, said):
    with pytest.raises(Refusal, match=said):
        load(write(tmp_path / "r", {"a": 1.0, "b": 1.1}, ONE, **more))


def test_modules_may_differ_since_they_are_what_is_compared(tmp_path):
    facts = {"a": {"null_blk_build_id": "1234"}, "b": {"rnull_mod_build_id": "5678", "queue/rotational": "1"}}
    frame = load(write(tmp_path / "r", {"a": 1.0, "b": 1.1}, ONE, facts=facts))
    assert frame.by_variant["b"]["rnull_mod_build_id"] == ["5678"] and frame.environment["kernel"] == ["6.18"]


@pytest.mark.parametrize("asked", ["plan", "argument"])
def test_environment_as_the_axis(tmp_path, asked):
    def kernels(row):
        new = row["round"] > 4
        return {
            **row,
            "environment_id": "new" if new else "old",
            "round": (row["round"] - 1) % 4 + 1,
            "iops": row["iops"] * (1.1 if new else 1),
        }

    more = {"axes": ["bs", "environment"]} if asked == "plan" else {}
    directory = write(tmp_path / "r", {"a": 1.0}, ONE, rounds=8, change=kernels, **more)
    frame = load(directory, () if more else ("environment",))
    assert frame.variants == ["a@old", "a@new"] and frame.baseline == "a@old"
    (table,) = tables(frame, {})
    assert [row[1] for row in table.rows] == ["driver a @ old", "driver a @ new"]
    assert table.rows[1][-3].startswith("+") and table.rows[1][-1] == "faster"


def test_clocks_are_never_an_axis(tmp_path):
    directory = write(tmp_path / "r", {"a": 1.0}, ONE, change=lambda r: {**r, "clock": f"c{r['round']}"})
    with pytest.raises(Refusal, match="clocks are mixed"):
        load(directory, ["environment"])


def test_two_kernels_as_two_variants(tmp_path):
    directory = write(tmp_path / "r", {"a": 1.0, "b": 1.1}, ONE, facts={"b": {"kernel": "6.19"}})
    frame = load(directory, ["environment"])
    assert frame.variants == ["a", "b"] and frame.environment["kernel"] == ["6.18", "6.19"]


def kernels(tmp_path, **more):
    paths = []
    for number, kernel in enumerate(("6.18", "6.19")):
        facts = {v: {"kernel": kernel} for v in "ab"}
        boots = "abcd" if number == 0 else "efgh"
        factors = {"a": 1.0 + number / 10, "b": 1.1}
        paths.append(write(tmp_path / kernel / "r", factors, ONE, rounds=4, facts=facts, boots=boots, **more))
    return paths


def test_two_folders_as_two_kernels(tmp_path):
    frame = joined(kernels(tmp_path), ["environment"])
    assert frame.variants == ["a@6.18", "b@6.18", "a@6.19", "b@6.19"]
    (table,) = tables(frame, {})
    found = {row[1]: row[-1] for row in table.rows}
    assert found["driver a @ 6.19"] == "faster" and frame.environment["kernel"] == ["6.18", "6.19"]
    assert {row[1]: row[-3] for row in table.rows}["driver a @ 6.19"] == "+10.0%"


def test_two_folders_without_the_axis_are_refused(tmp_path):
    with pytest.raises(Refusal, match="--axes environment"):
        joined(kernels(tmp_path), [])


def test_two_folders_of_one_kernel_keep_their_names(tmp_path):
    paths = [write(tmp_path / n, {"a": 1.0}, ONE) for n in ("x", "y")]
    assert [v.startswith("a@6.18 (") for v in joined(paths, ["environment"]).variants] == [True, True]


def test_folders_without_a_common_cell_or_clock(tmp_path):
    paths = [write(tmp_path / "x", {"a": 1.0}, ONE), write(tmp_path / "y", {"a": 1.0}, cells(bs=[8192]))]
    with pytest.raises(Refusal, match="no cell in common"):
        joined(paths, ["environment"])
    paths[1] = write(tmp_path / "z", {"a": 1.0}, ONE, change=lambda r: {**r, "clock": "emulated"})
    with pytest.raises(Refusal, match="clocks are mixed"):
        joined(paths, ["environment"])


def test_nothing_there(tmp_path):
    with pytest.raises(Refusal, match="missing; run the campaign first"):
        load(tmp_path)


def captions(tmp_path, **more):
    frame = load(write(tmp_path / "r", {"a": 1.0, "b": 1.1}, cells(rw=["randread", "write"]), **more))
    return dict(caption(frame))


def test_checklist_answers_from_the_plan_and_the_runs(tmp_path):
    options = {
        "randread": {"rw": "randread", "norandommap": True, "random_generator": "lfsr", "cpus_allowed": "0-1"},
        "write": {"rw": "write"},
    }
    devices = {"a": {"queues": 1, "memory_backed": True}, "b": {"queues": 2}}
    said = captions(tmp_path, options=options, devices=devices, facts={"b": {"rublk_build": "debug"}})
    for text in (
        "prep done: yes", "unloaded after each run: yes, verified", "pinned: mixed", "lfsr: yes", "norandommap: yes",
        "scheduler: none", "same queue count: no (driver a: 1, driver b: 2)", "release builds: no (driver b: debug)",
        "machine: bare metal",
    ):  # fmt: skip
        assert text in said["Checklist"], text
    assert "memory_backed forces blocking" in said["Remark"]


def test_what_nobody_recorded_is_unknown(tmp_path):
    said = captions(tmp_path, facts={v: {"virtualisation": "", "queue/scheduler": ""} for v in "ab"}, host="imported")[
        "Checklist"
    ]
    for question in ("unloaded after each run", "pinned", "lfsr", "same queue count", "release builds", "machine"):
        assert f"{question}: unknown" in said, question
