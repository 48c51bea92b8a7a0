"""A table before it is text: headings, rows of cells, notes; and its forms: text, markdown, CSV, LaTeX, HTML."""

import csv
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Table:
    """One table.

    Attributes:
        title: what it shows. columns: headings. rows: cells as text, as many as columns.
        left: number of columns aligned to the left. notes: lines below.
    """

    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    left: int = 1
    notes: list[str] = field(default_factory=list)


def text(table: Table) -> str:
    """Plain text with `|` between columns, for a mail."""
    grid = [table.columns, *table.rows]
    widths = [max(len(row[i]) for row in grid) for i in range(len(table.columns))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"

    def line(row: Sequence[str]) -> str:
        cells = [c.ljust(w) if i < table.left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        return "| " + " | ".join(cells) + " |"

    lines = [table.title, rule, line(table.columns), rule, *(line(row) for row in table.rows), rule]
    return "\n".join([*lines, *table.notes]) + "\n"


def markdown(table: Table) -> str:
    """A GitHub table."""

    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"

    rule = ["---" if i < table.left else "---:" for i in range(len(table.columns))]
    lines = [f"**{table.title}**", "", line(table.columns), line(rule), *(line(row) for row in table.rows)]
    return "\n".join([*lines, "", *table.notes]) + "\n"


def comma_separated(tables: Sequence[Table]) -> str:
    """All tables in one file; the first column names the table."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for table in tables:
        writer.writerow(["table", *table.columns])
        writer.writerows([table.title, *row] for row in table.rows)
    return out.getvalue()


LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def latex(table: Table) -> str:
    """A `tabular` in a `table`."""

    def line(row: Sequence[str]) -> str:
        return " & ".join("".join(LATEX.get(c, c) for c in cell) for cell in row) + r" \\"

    form = "l" * table.left + "r" * (len(table.columns) - table.left)
    title = "".join(LATEX.get(c, c) for c in table.title)
    lines = [r"\begin{table}", rf"\caption{{{title}}}", rf"\begin{{tabular}}{{{form}}}", r"\hline", line(table.columns)]
    return (
        "\n".join([*lines, r"\hline", *(line(r) for r in table.rows), r"\hline", r"\end{tabular}", r"\end{table}"])
        + "\n"
    )


def markup(table: Table) -> str:
    """An HTML table with caption and notes."""

    def line(row: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"

    body = "\n".join(line(row, "td") for row in table.rows)
    notes = "".join(f"<p class='note'>{html.escape(note)}</p>\n" for note in table.notes)
    head = f"<thead>{line(table.columns, 'th')}</thead>"
    return f"<table><caption>{html.escape(table.title)}</caption>\n{head}\n<tbody>\n{body}\n</tbody></table>\n{notes}"
