"""The tables of one `tables:` entry of a campaign, and their forms: text, markdown, CSV, LaTeX, HTML."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scripts.comparison import references
from scripts.comparison.beside import ABSOLUTE, beside
from scripts.comparison.caption import caption
from scripts.comparison.contradictions import contradictions
from scripts.comparison.frame import Frame
from scripts.comparison.layouts import layout
from scripts.comparison.layouts.benchstat import tables as details
from scripts.comparison.plain import WIDTH, note_lines, text
from scripts.comparison.table import Table, comma_separated, latex, markdown, markup, paragraph, plain_markdown

BESIDE = ("hardware", "unknown")
"""Clocks whose figures may stand in one grid with published ones: instructions are no seconds."""


def tables_of(frame: Frame, options: Mapping[str, Any]) -> list[Table]:
    """The layout's tables, published figures in the same shape, and the statistics of every cell.

    Raises:
        Refusal: there is no such reference.
        KeyError: there is no such layout.
    """
    reference, wide, complete = options.get("reference"), None, True
    if reference:
        document = references.read(str(reference))
        complete = False
        if options["layout"] in ABSOLUTE and frame.plan.get("clock") in BESIDE:
            wide, complete = beside(frame, references.frame_of(str(reference), document))
    tables = layout(options["layout"])(wide or frame, options)
    for table in tables:
        table.title += clock_said(frame)
    if wide and complete:
        tables[-1].notes += ["-: not published", *references.notes_of(document)]
    elif reference:
        tables += references.tables(str(reference))
    if reference:
        tables[-1].notes.append("Published: from another machine; compare what the figures say, not how high they are")
    if tables:
        tables[-1].notes += contradictions(frame)
    if options["layout"] != "benchstat":
        tables += [replace(table, title=table.title + clock_said(frame)) for table in details(frame, options)]
    return tables


def clock_said(frame: Frame) -> str:
    """For titles: a table is pasted without its caption."""
    clock = str(frame.plan.get("clock"))
    return f" (clock: {clock})" if clock in ("instructions", "emulated") else ""


def forms(frame: Frame, tables: Sequence[Table]) -> dict[str, str]:
    """Contents of the files by suffix; all but CSV carry the caption."""
    notes = caption(frame)
    lines = [note for label, said in notes for note in wrapped(label, said)]
    named = [f"{label}: {said}" for label, said in notes]
    plain = "\n".join(text(table) for table in tables) + "\n" + "\n".join(lines) + "\n"
    marked = "\n".join(markdown(table) for table in tables) + "\n"
    marked += "  \n".join(plain_markdown(note) for note in named) + "\n"
    return {
        "md": marked,
        "csv": comma_separated(tables),
        "tex": "\n".join(latex(table) for table in tables) + "\n" + "\n".join(map(paragraph, named)) + "\n",
        "html": "\n".join(markup(table) for table in tables)
        + "".join(f"<p class='caption'>{html.escape(note)}</p>\n" for note in named),
        "txt": plain,
    }


def wrapped(label: str, said: str) -> list[str]:
    """`label: text` in lines of at most 80 columns."""
    return note_lines(f"{label}: {said}", WIDTH)
