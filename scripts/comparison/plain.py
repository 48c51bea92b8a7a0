"""A table as plain text for a mail: 80 columns where the columns allow, else in parts."""

import textwrap
from collections.abc import Callable, Iterator, Sequence

from scripts.comparison.table import Table

WIDTH = 80
LEFT_WIDTHS = (30, 24, 18, 12, 8)
"""Longer texts in the columns at the left are wrapped: to the first of these widths that needs the fewest parts."""


def wrap(cell: str, width: int) -> list[str]:
    """Lines of a cell; words that are longer stay whole."""
    return textwrap.wrap(cell, width, break_long_words=False) or [""]


def note_lines(note: str, width: int) -> list[str]:
    """Lines of a note; addresses stay whole."""
    return textwrap.wrap(note, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def longest_word(cell: str) -> int:
    """Width below which a heading can not be wrapped."""
    return max(map(len, cell.split()), default=0)


def widths_of(table: Table, left_width: int, whole_headings: bool) -> list[int]:
    """Width of each column: that of its cells, to which headings are wrapped; or that of its heading as well."""
    found = []
    for i, heading in enumerate(table.columns):
        cells = [row[i] for row in table.rows]
        if i < table.left:
            cells = [line for cell in cells for line in wrap(cell, left_width)]
        least = len(heading) if whole_headings else longest_word(heading)
        found.append(max([least, *map(len, cells)]))
    return found


def parts(table: Table, widths: Sequence[int], width: int) -> Iterator[list[int]]:
    """Numbers of the columns of each part; the columns at the left are in all, and groups stay whole if they can."""
    left = list(range(table.left))

    def fits(columns: Sequence[int]) -> bool:
        return sum(widths[i] + 3 for i in (*left, *columns)) + 1 <= width

    taken: list[int] = []
    for group in units(table, fits):
        if taken and not fits([*taken, *group]):
            yield [*left, *taken]
            taken = []
        taken += group
    yield [*left, *taken]


def units(table: Table, fits: Callable[[Sequence[int]], bool]) -> Iterator[list[int]]:
    """Groups of columns, or single columns where a group is too wide."""
    start = 0
    for _, span in table.spans:
        group = [i for i in range(start, start + span) if i >= table.left]
        start += span
        if group and not fits(group):
            yield from ([i] for i in group)
        elif group:
            yield group


def text(table: Table, width: int = WIDTH) -> str:
    """Plain text with `|` between columns and rules above and below the headings."""
    choices = [(LEFT_WIDTHS[0], True), *((left_width, False) for left_width in LEFT_WIDTHS)]
    tried = [(widths, list(parts(table, widths, width))) for widths in (widths_of(table, *c) for c in choices)]
    widths, chosen = min(tried, key=lambda found: len(found[1]))
    blocks = []
    for number, columns in enumerate(chosen, start=1):
        title = table.title if len(chosen) == 1 else f"{table.title} (part {number} of {len(chosen)})"
        blocks.append("\n".join([*wrap(title, width), *grid(table, columns, widths)]))
    notes = [line for note in table.notes for line in note_lines(note, width)]
    return "\n".join(["\n\n".join(blocks), *notes]) + "\n"


def grid(table: Table, columns: Sequence[int], widths: Sequence[int]) -> list[str]:
    """Lines of one part."""
    widths = list(widths)
    group_of = [name for name, span in table.spans for _ in range(span)]
    runs: list[list[int]] = []
    for i in columns:
        if runs and table.groups and group_of[i] and group_of[i] == group_of[runs[-1][-1]]:
            runs[-1].append(i)
        else:
            runs.append([i])
    for run in runs:  # a group's name may need more room than its columns
        room = sum(widths[i] for i in run) + 3 * (len(run) - 1)
        if table.groups:
            widths[run[-1]] += max(0, longest_word(group_of[run[0]]) - room)
    rule = "+" + "+".join("-" * (widths[i] + 2) for i in columns) + "+"
    lines = [rule]
    if table.groups:
        rooms = [sum(widths[i] for i in run) + 3 * (len(run) - 1) for run in runs]
        names = [wrap(group_of[run[0]], room) for run, room in zip(runs, rooms, strict=True)]
        lines += joined([[c.center(r) for c in name] for name, r in zip(names, rooms, strict=True)], rooms)
        lines.append(rule)
    lines += [*row_lines(table, table.columns, columns, widths), rule]
    for row in table.rows:
        if len(columns) < len(table.columns) and not any(row[i] for i in columns if i >= table.left):
            continue  # nothing in this part, and all of it in another
        lines += row_lines(table, row, columns, widths)
    return [*lines, rule]


def row_lines(table: Table, row: Sequence[str], columns: Sequence[int], widths: Sequence[int]) -> list[str]:
    """A row, in several lines where a cell is wrapped."""
    cells = []
    for i in columns:
        lines = wrap(row[i], widths[i]) if len(row[i]) > widths[i] else [row[i]]
        cells.append([line.ljust(widths[i]) if i < table.left else line.rjust(widths[i]) for line in lines])
    return joined(cells, [widths[i] for i in columns])


def joined(cells: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    """Cells of several lines side by side."""
    height = max(map(len, cells))
    filled = [[*cell, *[" " * w] * (height - len(cell))] for cell, w in zip(cells, widths, strict=True)]
    return ["| " + " | ".join(line) + " |" for line in zip(*filled, strict=True)]
