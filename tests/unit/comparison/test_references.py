"""Published figures come out as they went in, in the shape they were published in; contradictions are noticed."""

import json
import re
import subprocess
import sys

import pytest
import yaml

from scripts.campaign.units import parse_bytes
from scripts.comparison import references
from scripts.comparison.figures import figure, percents
from scripts.comparison.plain import text
from scripts.comparison.refusals import Refusal
from scripts.drivers.registry import REPOSITORY


def table_rows(name):
    """Cells of all tables of a reference as text, spaces apart."""
    return [[cell.strip() for cell in row] for table in references.tables(name) for row in table.rows]


@pytest.mark.parametrize("name", references.names())
def test_shipped_references_are_valid_and_fit_a_mail(name):
    shown = "\n".join(text(table) for table in references.tables(name))
    assert max(len(line) for line in shown.splitlines() if "http" not in line) <= 80
    assert "Source:" in shown and "nan" not in shown.lower() and "None" not in shown


def test_all_five_seeds_are_there():
    layouts = {references.read(name)["layout"] for name in references.names()}
    assert layouts == {"iops-bw", "relative-miops", "relative-by-bs", "loop-cpu", "grouped-depth"}


def test_zoned():
    assert table_rows("zoned") == [
        ["QD=1, 4K rnd wr, 1 job", "2859 / 11.7 MB/s", "5535 / 22.7 MB/s"],
        ["QD=32, 4K rnd wr, 8 jobs", "24.5k / 100 MB/s", "24.6k / 101 MB/s"],
        ["QD=32, 128K rnd wr, 1 job", "14.9k / 1954 MB/s", "19.6k / 2571 MB/s"],
        ["QD=32, 128K seq wr, 1 job", "1516 / 199 MB/s", "10.6k / 1385 MB/s"],
        ["QD=1, 4K rnd wr, 1 job", "5387 / 22.1 MB/s", "5436 / 22.3 MB/s"],
        ["QD=32, 4K rnd wr, 8 jobs", "16.4k / 67.0 MB/s", "26.3k / 108 MB/s"],
        ["QD=32, 128K rnd wr, 1 job", "6101 / 800 MB/s", "19.8k / 2591 MB/s"],
        ["QD=32, 128K seq wr, 1 job", "3987 / 523 MB/s", "10.6k / 1391 MB/s"],
    ]
    first, second = references.tables("zoned")
    assert first.title.endswith("queues = 1") and second.title.endswith("queues = 8")


def test_rnull():
    assert table_rows("rnull") == [
        ["4k", "randread", "1", "+0.28% 0.00% (1.7,0.0)"],
        ["4k", "randread", "0", "+5.75% 0.00% (6.8,0.0)"],
    ]
    (table,) = references.tables("rnull")
    assert table.columns == ["jobs/bs", "workload", "prep", "4"]
    assert "millions of I/Os" in " ".join(table.notes)


def test_nbd_and_loop():
    assert table_rows("nbd") == [
        ["ethernet", "1", "0%", "+40%"],
        ["local-tcp", "2", "+10 .. +30%", "+10 .. +30%"],
    ]
    sync, asynchronous, virtual = references.tables("loop")
    assert sync.groups == [("", 1), ("READ", 2), ("WRITE", 2), ("CPU", 1)]
    assert sync.rows[0][1:] == ["348", "-", "348", "-", "-"] and sync.rows[1][1:] == ["-"] * 5
    assert asynchronous.rows[2][1:] == ["869", "-", "870", "-", "-"]
    assert [row[1:] for row in virtual.rows] == [
        ["-", "58.0k", "-", "58.0k", "-"],
        ["-", "70.0k", "-", "70.0k", "40.0"],
        ["-", "64.0k", "-", "64.0k", "52.0"],
    ]


def test_zoned_npo2():
    assert table_rows("zoned-npo2") == [
        ["Without patch", "578", "2257", "12.80", "576", "2248", "25.78"],
        ["With patch", "581", "2268", "12.74", "576", "2248", "25.85"],
        ["Without patch", "667", "2605", "11.79", "675", "2637", "23.49"],
        ["With patch", "667", "2605", "11.79", "675", "2638", "23.48"],
        ["Without patch", "522", "2038", "15.05", "514", "2006", "30.87"],
        ["With patch", "522", "2039", "15.04", "523", "2042", "30.33"],
    ]
    tables = references.tables("zoned-npo2")
    assert [t.title.rpartition(": ")[2] for t in tables] == ["Sequential write", "Sequential read", "Random read"]
    assert tables[0].groups == [("", 1), ("iodepth 8", 3), ("iodepth 16", 3)]


def test_only_one_published_cell_contradicts_itself():
    found = {name: list(references.contradictions(references.read(name))) for name in references.names()}
    assert {name: len(notes) for name, notes in found.items() if notes} == {"zoned-first": 1}
    (note,) = found["zoned-first"]
    assert "zloop, QD=1, 4K rnd wr, 1 job: 15.8k IOPS of 4096 bytes are 64.7 MB/s, not 53.0 MB/s" in note


def changed(tmp_path, name="zoned", **changes):
    document = {**references.read(name), **changes}
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump(document))
    return str(path)


@pytest.mark.parametrize(
    ("iops", "bandwidth", "bs", "said"),
    [
        ("24.5k", "100 MB/s", "4k", False),
        ("24.5k", "103 MB/s", "4k", True),
        ("24.5k", "95.7 MiB/s", "4k", False),
        ("24.5k", "100 MiB/s", "4k", True),
        ("2.1M", "8.6 GB/s", "4k", False),
        ("2.1M", "8.6 GiB/s", "4k", True),
        ("1000", "32.8 MB/s", "32k", False),
        ("1000", "4.1 MB/s", "32k", True),
    ],
)
def test_contradictions_respect_rounding_and_units(tmp_path, iops, bandwidth, bs, said):
    cell = {"label": "w", "axes": {"bs": bs, "queues": 1}, "figures": {"ublk": {"iops": iops, "bw": bandwidth}}}
    document = references.read(changed(tmp_path, cells=[cell]))
    assert bool(list(references.contradictions(document))) == said
    other = json.loads(json.dumps(document).replace('"iops"', '"write_iops"').replace('"bw"', '"write_bw"'))
    assert bool(list(references.contradictions(other))) == said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"baseline": "zlop"}, r"baseline = 'zlop': one of ublk, zloop"),
        ({"layout": "iops"}, "no layout 'iops'; there are: .*iops-bw"),
        ({"cells": []}, "cells: "),
        ({"source": {"who": None}}, "source: "),
        ({"extra": 1}, "extra"),
        ({"cells": [{"label": "w", "axes": {"bs": "4q"}, "figures": {"zloop": {"iops": "1"}}}]}, "cells.0.axes.bs: "),
        ({"cells": [{"label": "w", "axes": {}, "figures": {"zloop": {"iops": "fast"}}}]}, "cells.0.figures.zloop.iops"),
        ({"cells": [{"label": "w", "axes": {}, "figures": {"zloop": {"bw": "12"}}}]}, "cells.0.figures.zloop.bw"),
        ({"cells": [{"label": "w", "axes": {}, "figures": {"other": {"iops": "1"}}}]}, "'other': one of ublk, zloop"),
    ],
)
def test_wrong_references_name_key_and_file(tmp_path, changes, said):
    path = changed(tmp_path, **changes)
    with pytest.raises(Refusal, match=said) as caught:
        references.tables(path)
    assert "own.yaml" in str(caught.value)


@pytest.mark.parametrize("content", ["", "- 1", "a: [", "\t", "x"])
def test_files_that_are_no_reference(tmp_path, content):
    (tmp_path / "own.yaml").write_text(content)
    with pytest.raises(Refusal, match=r"own\.yaml"):
        references.tables(str(tmp_path / "own.yaml"))


def test_unknown_reference_names_the_closest():
    with pytest.raises(Refusal, match="did you mean 'zoned'"):
        references.tables("zonde")


def test_a_reference_alone_needs_no_run():
    command = [sys.executable, "-m", "scripts.compare", "--reference"]
    done = subprocess.run([*command, "zoned-first"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert "15.8k / 53.0 MB/s" in done.stdout and "Contradiction" in done.stdout
    wrong = subprocess.run([*command, "none"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert wrong.returncode == 1 and re.fullmatch(r"blkcampaign: reference 'none': one of .*\n", wrong.stderr)


def test_figures():
    assert (figure("24.5k").value, figure("24.5k").step) == (24500, pytest.approx(100))
    assert figure("12.80 us").value == pytest.approx(12800) and figure("1 MiB/s").value == 2**20
    assert percents("+10 .. +30 %") == (10, 30) and percents("-5.5 %") == (-5.5, -5.5)
    for wrong in ("", "fast", "12 MB", "1e3", "12 parsec"):
        with pytest.raises(ValueError, match="a number with one of the units"):
            figure(wrong)


def test_block_sizes_are_binary():
    assert parse_bytes("4k") == 4096
