"""Pictures: what is drawn, what is not and why, and files that need no network."""

import json
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from scripts.comparison.frame import load
from scripts.comparison.plots import KINDS, Nothing, picture
from scripts.comparison.plots.difference import axis_of
from scripts.comparison.plots.roles import roles_of, varying
from scripts.plot import write_pictures
from tests.fio_output import direction, job, output
from tests.place import REPOSITORY


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return made(tmp_path_factory.mktemp("plots"), boots=4, samples=4, depths=(1, 8), failed=True, logs=True)


def made(root, boots=4, samples=1, depths=(1, 8), failed=False, logs=False, variants=("old", "new")):
    rng = np.random.default_rng(1)
    for number, variant in enumerate(variants):
        for boot in range(boots):
            for sample in range(samples):
                for depth in depths:
                    options = {
                        "iodepth": str(depth),
                        "write_bw_log": f"b{boot}s{sample}d{depth}",
                        "log_avg_msec": "500",
                    }
                    done = job(
                        iops=1000.0 * depth * (1 + number / 10) * rng.normal(1, 0.01), options=options if logs else None
                    )
                    done["job options"]["iodepth"] = str(depth)
                    done["read"]["clat_ns"] = {**direction()["clat_ns"], "bins": {"322": 90, "3220": 10}}
                    folder = root / "in" / variant
                    folder.mkdir(parents=True, exist_ok=True)
                    name = f"b{boot}s{sample}d{depth}"
                    (folder / f"{name}.json").write_bytes(output(done))
                    if logs:
                        (folder / f"{name}_bw.1.log").write_text("500, 40, 0, 0, 0\n1000, 50, 0, 0, 0\n")
    if failed:
        (root / "in" / variants[1] / "b9s0d64.json").write_bytes(output({**job(options={"iodepth": "64"}), "error": 5}))
        (root / "in" / variants[0] / "b9s0d64.json").write_bytes(output(job(options={"iodepth": "64"})))
    directory = root / "results" / "p"
    directory.mkdir(parents=True)
    mapping = {"path": r"(?P<variant>\w+)/b(?P<boot>\d+)s"}
    wanted = {
        "format": 1,
        "input": str(root / "in"),
        "mapping": mapping,
        "settings": {"title": "t", "baseline": variants[0]},
    }
    (directory / "input.json").write_text(json.dumps(wanted))
    command = [sys.executable, "-m", "scripts.import_results", "--results", str(directory)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    return directory


def all_of(node, key):
    """Values of a key anywhere in a specification."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name == key:
                yield value
            yield from all_of(value, key)
    elif isinstance(node, list):
        for value in node:
            yield from all_of(value, key)


def marks(spec):
    return [row for data in all_of(spec, "data") for row in data.get("values", []) if row]


def test_facet_has_one_mark_a_cell_with_its_interval_and_says_what_failed(results):
    found = picture(load(results), {"kind": "facet"})
    rows = marks(found.spec)
    assert [row["cell"] for row in rows if row["ratio"] is not None] == ["iodepth=1", "iodepth=8"]
    assert all(row["low"] < row["ratio"] < row["high"] and 1.08 < row["ratio"] < 1.12 for row in rows if row["ratio"])
    (lost,) = [row for row in rows if row["ratio"] is None]
    assert "error 5" in lost["verdict"] and "x: no result" in found.caption
    domains = {
        tuple(scale["domain"])
        for scale in all_of(found.spec, "scale")
        if isinstance(scale, dict) and scale.get("nice") is False
    }
    assert len(domains) == 1 and next(iter(domains))[0] < 1 < next(iter(domains))[1]  # one scale, zero in sight
    assert found.measure == "IOPS: difference from old in %"


def test_density_draws_few_samples_as_points_and_many_as_shapes(results, tmp_path):
    frame = load(results)
    rows = marks(picture(frame, {"kind": "density"}).spec)
    shapes = {row["shape"] for row in rows if "shape" in row}
    assert len(shapes) == 4  # 16 samples each of two cells and two variants
    few = load(made(tmp_path, boots=3))
    points = [row for row in marks(picture(few, {"kind": "density"}).spec) if "x" in row]
    assert len(points) == 12 and not any("shape" in row for row in points)
    base = np.mean([row["x"] for row in points if row["series"] == "old"])
    assert base == pytest.approx(1)  # of the baseline's own mean
    assert {row["y"] < round(row["y"]) for row in points if row["series"] == "old"} == {True}  # above its line


@pytest.mark.parametrize(
    ("ratios", "logarithmic", "ticks"),
    [
        ([0.98, 1.3], False, ()),
        ([0.51, 1.99], False, ()),
        ([], False, ()),
        ([0.2, 6.0], True, (0.25, 0.5, 1, 2, 4)),
        ([2.5], True, (1, 2)),
        ([0.4], True, (0.5, 1)),
        ([0.0, 3.0], False, ()),
        ([1e-6, 1e6], True, tuple(2.0 ** (6 * i) for i in range(-3, 4))),
    ],
)
def test_large_differences_are_drawn_on_a_logarithmic_scale(ratios, logarithmic, ticks):
    axis = axis_of(ratios)
    assert (axis.logarithmic, axis.ticks) == (logarithmic, ticks)
    assert axis.domain[0] < min([1, *ratios]) and max([1, *ratios]) < axis.domain[1]
    assert axis.encoding("t")["scale"]["type"] == ("log" if logarithmic else "linear")


def test_a_wide_campaign_is_drawn_whole(tmp_path):
    directory = made(tmp_path, boots=4, samples=4, depths=(1,))
    plan = directory / "plan.json"
    plan.write_text(plan.read_text().replace('"baseline": "old"', '"baseline": "new"'))
    frame = load(directory)
    frame.samples.loc[frame.samples["variant"] == "old", "iops"] *= 5
    for kind in ("facet", "density"):
        found = picture(frame, {"kind": kind})
        assert "logarithmic scale" in found.measure
        scales = [s for s in all_of(found.spec, "scale") if isinstance(s, dict) and s.get("type") == "log"]
        low, high = scales[0]["domain"]
        ends = [
            row[key] for row in marks(found.spec) for key in ("low", "high", "x") if isinstance(row.get(key), float)
        ]
        assert ends and low > 0 and all(low < end < high for end in ends)
    write_pictures(frame, tmp_path / "plots")
    assert "+100" in (tmp_path / "plots/facet.svg").read_text()


def test_strip_shows_every_sample_and_where_boots_begin(results):
    frame = load(results)
    rows = [row for row in marks(picture(frame, {"kind": "strip"}).spec) if "y" in row]
    assert len(rows) == len(frame.samples)


def test_latency_uses_histograms_first(results):
    found = picture(load(results), {"kind": "latency"})
    rows = marks(found.spec)
    assert "1/128" in found.caption
    assert {row["us"] for row in rows if row["percentile"] in (50, 99)} == {0.3215, 3.2155}


def test_bandwidth_adds_up_jobs_of_a_run(results):
    rows = marks(picture(load(results), {"kind": "bandwidth"}).spec)
    assert {row["y"] for row in rows} == {0.041, 0.051}


def test_what_can_not_be_drawn_says_why(tmp_path):
    directory = made(tmp_path, boots=1, depths=(1,), variants=("old",))
    frame = load(directory)
    for kind, said in (("facet", "another variant"), ("density", "another variant"), ("strip", "more than one sample"),
                       ("bandwidth", "write_bw_log")):  # fmt: skip
        with pytest.raises(Nothing, match=said):
            picture(frame, {"kind": kind})
    index = {entry["kind"]: entry for entry in write_pictures(frame, directory / "plots")}
    assert set(index) == set(KINDS)
    assert not list((directory / "plots").glob("facet.*")) and index["facet"]["why_not"]


def test_files_need_no_network_and_old_ones_go(results):
    plots = results / "plots"
    plots.mkdir(exist_ok=True)
    (plots / "gone.svg").write_text("old")
    index = write_pictures(load(results), plots)
    assert all(entry["why_not"] is None for entry in index), index
    assert not (plots / "gone.svg").exists()
    for kind in KINDS:
        html = (plots / f"{kind}.html").read_text()
        assert not re.search(r"(?:src|href)\s*=\s*[\"']https?:", html) and "cdn.jsdelivr" not in html
        assert (plots / f"{kind}.png").read_bytes().startswith(b"\x89PNG")
        svg = (plots / f"{kind}.svg").read_text()
        assert svg.startswith("<svg") and "clock: unknown" in svg


def test_a_fault_in_one_picture_costs_only_that_one(results, monkeypatch):
    monkeypatch.setattr("scripts.comparison.plots.strip.picture", lambda frame, options: 1 / 0)
    index = {entry["kind"]: entry["why_not"] for entry in write_pictures(load(results), results / "plots")}
    assert "ZeroDivisionError" in index["strip"] and index["facet"] is None


def test_axes_that_follow_from_others_are_not_drawn():
    cells = {
        f"{engine}-{jobs}": {"iodepth": depth, "ioengine": engine, "fixedbufs": engine == "io_uring", "numjobs": jobs}
        for engine, depth in (("psync", 1), ("io_uring", 32))
        for jobs in (1, 2)
    }
    frame = SimpleNamespace(cells=cells)
    assert varying(frame) == ["iodepth", "numjobs"]
    roles = roles_of(frame, {})
    assert (roles.columns, roles.colour, roles.rest) == ("iodepth", "numjobs", ())
    assert roles_of(frame, {"x": "iodepth"}).x == "iodepth"


@pytest.mark.parametrize("stage", ["compare", "plot", "report"])
def test_a_folder_without_parsed_json_is_used_and_not_marked(results, tmp_path, stage):
    copy = tmp_path / "copy"
    shutil.copytree(results, copy)
    (copy / "parsed.json").unlink()
    for record in copy.glob("*ed.json"):
        record.unlink()
    command = [sys.executable, "-m", f"scripts.{stage}", "--results", str(copy)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "parsed.json: missing" in done.stderr and "Traceback" not in done.stderr
    assert not list(copy.glob("*ed.json"))


def test_a_campaign_file_can_name_every_picture_that_there_is():
    schema = json.loads((REPOSITORY / "config" / "schemas" / "campaign.schema.json").read_text())
    named = schema["properties"]["plots"]["additionalProperties"]["properties"]["kind"]["enum"]
    files = {path.stem for path in (REPOSITORY / "scripts/comparison/plots").glob("*.py")}
    assert set(named) == set(KINDS) == files - {"__init__", "difference", "roles", "style"}
