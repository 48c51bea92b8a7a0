"""Every form shows every cell; nothing that is in a name becomes markup; mails have 80 columns."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.comparison.plain import text
from scripts.comparison.table import LATEX, Table, comma_separated, escaped, latex, markdown, markup

ODD = r"a|b_c*d`e~f<g>h&i%j$k#l{m}n^o\p[q]r'--\"s\"t"


def table(columns=6, rows=3, width=6, groups=False):
    names = ["name", *(f"column {i}" for i in range(columns))]
    body = [[f"row {i}", *(f"{i}.{j}".ljust(width, "0") for j in range(columns))] for i in range(rows)]
    found = Table("a title", names, body, notes=["a note " * 30])
    if groups:
        found.groups = [("", 1), *((f"group {i}", 2) for i in range(columns // 2))]
    return found


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("columns", [2, 6, 10, 24])
@pytest.mark.parametrize("width", [3, 8, 20])
def test_text_is_at_most_80_columns_and_loses_nothing(columns, width, groups):
    wide = table(columns, width=width, groups=groups)
    shown = text(wide)
    assert max(map(len, shown.splitlines())) <= 80
    for row in wide.rows:
        for cell in row:
            assert cell in shown
    parts = shown.count("a title")
    assert shown.count("row 1") == parts
    if parts > 1:
        assert f"(part {parts} of {parts})" in shown
    if groups:
        for name, _ in wide.groups:
            assert name in shown
        assert shown.count("group 0") == 1  # a group of two columns fits, so it is not cut


def test_headings_are_wrapped_only_where_there_is_no_room():
    assert "| IOPS / BW | zloop |" in text(Table("t", ["IOPS / BW", "zloop"], [["a", "1"]]))
    assert "IOPS / BW" not in text(Table("t", ["IOPS / BW", *["x" * 9] * 6], [["a", *["1"] * 6]]))


def test_one_column_that_is_too_wide_stays_whole():
    shown = text(Table("t", ["a", "b"], [["x", "y" * 100]]))
    assert "y" * 100 in shown


def test_long_names_are_wrapped():
    long = "queues=8 randwrite 128k numjobs=16 iodepth=128 no prep at all"
    shown = text(Table("t", ["cell", "IOPS"], [[long, "1"]]))
    assert max(map(len, shown.splitlines())) < 45
    assert all(word in shown for word in long.split())


def test_parts_leave_out_rows_that_have_nothing_in_them():
    names = ["cell", *(f"a{i}" for i in range(4)), *(f"b{i}" for i in range(4))]
    body = [["first", *["x" * 12] * 4, *[""] * 4], ["second", *["x" * 12] * 4, *["y" * 12] * 4]]
    shown = text(Table("t", names, body, groups=[("", 1), ("left", 4), ("right", 4)]))
    assert shown.count("first") == 1 and shown.count("second") == 2


def test_lines_of_a_text_table_are_equally_long():
    lines = [line for line in text(table(groups=True)).splitlines() if line[:1] in "|+"]
    assert len({len(line) for line in lines}) == 1


cells = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12)


@given(st.lists(cells, min_size=2, max_size=4), cells)
def test_csv_gives_back_what_was_put_in(row, title):
    made = Table(title, [f"c{i}" for i in range(len(row))], [row])
    head, body = list(csv.reader(io.StringIO(comma_separated([made]))))
    assert body == [title, *row] and head == ["table", *made.columns]


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.cells = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data


def test_html_escapes_and_spans():
    found = Table(ODD, ["a", "b", "c"], [[ODD, ODD, ODD]], groups=[("", 1), (ODD, 2)], notes=[ODD])
    parser = Cells()
    shown = markup(found)
    parser.feed(shown)
    assert parser.cells[5:7] == [ODD, ODD] and "colspan='2'" in shown
    assert set(parser.tags) == {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}


def test_markdown_has_one_line_a_row():
    found = Table("t", ["a", "b", "c"], [[ODD, "x\ny", "z"]], groups=[("", 1), ("g", 2)])
    lines = [line for line in markdown(found).splitlines() if line.startswith("|")]
    assert len(lines) == 3
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {4}
    assert lines[0] == "| a | g b | g c |"


def test_latex_is_balanced_and_escaped():
    found = Table(ODD, ["a", "b", "c"], [["[x", "*y", ODD]], groups=[("", 1), (ODD, 2)], notes=[ODD])
    shown = latex(found)
    assert shown.count(r"\begin{") == shown.count(r"\end{") == 2
    unescaped = re.sub(r"\\[\\&%$#_{}]|\\[a-z]+", "", shown)
    assert unescaped.count("{") == unescaped.count("}")
    for line in shown.splitlines():
        if line.endswith(r"\\"):
            plain = re.sub(r"\\multicolumn\{\d+\}", "", line)
            spans = sum(int(n) for n in re.findall(r"\\multicolumn\{(\d+)\}", line)) or len(
                re.split(r"(?<!\\)&", plain)
            )
            assert spans == 3, line
    assert not re.search(r"\\\\\n[\[*]", shown)  # would be an argument of the line's end


@given(cells)
def test_no_character_of_a_cell_is_a_command(cell):
    left = escaped(cell)
    for replacement in sorted(LATEX.values(), key=len, reverse=True):
        left = left.replace(replacement, "") if len(replacement) > 1 else left
    assert not set(left) & set("\\&%$#_{}~^")


def test_latex_says_what_pdflatex_can_not_print():
    plain = latex(Table("a ≤ b \x07\tc é", ["a"], [["1"]]))
    assert r"a $\leq$ b   c é" in plain and not plain.startswith("%")
    assert latex(Table("漢字", ["a"], [["1"]])).startswith("% lualatex or xelatex with a font for these: 字 漢\n")
