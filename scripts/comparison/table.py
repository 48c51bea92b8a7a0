"""A table before it is text: headings, rows of cells, notes; and its forms markdown, CSV, LaTeX, HTML.

Plain text has a file of its own (plain.py).
"""

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
        groups: headings above the columns, with the number of columns below each; empty without such a line.
    """

    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    left: int = 1
    notes: list[str] = field(default_factory=list)
    groups: list[tuple[str, int]] = field(default_factory=list)

    @property
    def spans(self) -> list[tuple[str, int]]:
        """Groups that cover all columns; each column is its own where there are none."""
        return self.groups or [("", 1)] * len(self.columns)

    @property
    def full_columns(self) -> list[str]:
        """Headings with their groups, for forms that have one line of headings."""
        names = [name for name, span in self.spans for _ in range(span)]
        return [" ".join(filter(None, pair)) for pair in zip(names, self.columns, strict=True)]


def markdown(table: Table) -> str:
    """A GitHub table."""

    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(plain_markdown(cell) for cell in row) + " |"

    rule = ["---" if i < table.left else "---:" for i in range(len(table.columns))]
    lines = [f"**{plain_markdown(table.title)}**", "", line(table.full_columns), line(rule)]
    lines += [line(row) for row in table.rows]
    return "\n".join([*lines, "", *(f"{plain_markdown(note)}  " for note in table.notes)]) + "\n"


def plain_markdown(text: str) -> str:
    """Text that markdown would read as markup."""
    for character in "\\`*_|<>~":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def comma_separated(tables: Sequence[Table]) -> str:
    """All tables in one file; the first column names the table."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for table in tables:
        writer.writerow(["table", *table.full_columns])
        writer.writerows([table.title, *row] for row in table.rows)
    return out.getvalue()


LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"{\char34}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}",
    "[": "{[}", "*": "{*}", "-": "{-}", "?": "?{}", "!": "!{}", ",": ",{}", "\n": " ",
    "\u2264": r"$\leq$", "\u2265": r"$\geq$", "\u2248": r"$\approx$", "\u2192": r"$\rightarrow$", "\u2212": r"$-$",
    "\u00d7": r"$\times$", "\u00b1": r"$\pm$", "\u00b5": r"$\mu$", "\u03bc": r"$\mu$", "\u00b2": "${}^2$",
    "\u00b0": r"${}^{\circ}$",
}  # fmt: skip
"""`[` and `*` are arguments after a line's end; several `-` or `,`, and `?` or `!` before a backquote, are joined."""
LATEX_READS = 0x180
"""Characters below are known to every LaTeX; for others the user needs one with fonts for them."""


def escaped(text: str) -> str:
    """Text for LaTeX."""
    return "".join(LATEX.get(c, c if c.isprintable() else " ") for c in text)


def latex(table: Table) -> str:
    """A `tabular` in a `table`, for any class, without packages; a comment where pdflatex lacks a character."""

    def line(row: Sequence[str]) -> str:
        return " & ".join(escaped(cell) for cell in row) + r" \\"

    form = "l" * table.left + "r" * (len(table.columns) - table.left)
    lines = [r"\begin{table}", rf"\caption{{{escaped(table.title)}}}", rf"\begin{{tabular}}{{{form}}}", r"\hline"]
    if table.groups:
        heads = [rf"\multicolumn{{{span}}}{{c}}{{{escaped(name)}}}" for name, span in table.groups]
        lines += [" & ".join(heads) + r" \\", r"\hline"]
    lines += [line(table.columns), r"\hline", *(line(row) for row in table.rows), r"\hline", r"\end{tabular}"]
    lines += [paragraph(note) for note in table.notes]
    lines.append(r"\end{table}")
    foreign = sorted({c for line in lines for c in line if ord(c) >= LATEX_READS})
    if foreign:
        lines.insert(0, f"% lualatex or xelatex with a font for these: {' '.join(foreign)}")
    return "\n".join(lines) + "\n"


def paragraph(note: str) -> str:
    """A note below a table."""
    return rf"\par{{\footnotesize {escaped(note)}}}"


def markup(table: Table) -> str:
    """An HTML table with caption and notes."""

    def line(row: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"

    body = "\n".join(line(row, "td") for row in table.rows)
    notes = "".join(f"<p class='note'>{html.escape(note)}</p>\n" for note in table.notes)
    groups = "".join(f"<th colspan='{span}'>{html.escape(name)}</th>" for name, span in table.groups)
    head = f"<thead>{f'<tr>{groups}</tr>' if groups else ''}{line(table.columns, 'th')}</thead>"
    return f"<table><caption>{html.escape(table.title)}</caption>\n{head}\n<tbody>\n{body}\n</tbody></table>\n{notes}"
