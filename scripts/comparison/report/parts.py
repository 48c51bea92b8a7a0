"""HTML of the report's parts. Everything that comes from a file or a user is escaped here, and only here."""

import base64
import html
from collections.abc import Iterable, Sequence

from scripts.comparison.table import Table


def text(value: object) -> str:
    """Text for HTML, in elements and in attributes."""
    return html.escape(str(value), quote=True)


def section(identity: str, title: str, content: str) -> str:
    """A section with a heading that the navigation leads to."""
    return f"<section id='{text(identity)}'>\n<h2>{text(title)}</h2>\n{content}\n</section>"


def data_table(table: Table) -> str:
    """A table that can be sorted and filtered, in a frame that scrolls on a narrow screen."""

    def line(row: Sequence[str], tag: str) -> str:
        cells = (f"<{tag}{kind(i, tag)}>{text(cell)}</{tag}>" for i, cell in enumerate(row))
        return f"<tr>{''.join(cells)}</tr>"

    def kind(column: int, tag: str) -> str:
        scope = " scope='col'" if tag == "th" else ""
        return scope + (" class='left'" if column < table.left else "")

    groups = "".join(f"<th colspan='{span}' scope='colgroup'>{text(name)}</th>" for name, span in table.groups)
    head = (f"<tr>{groups}</tr>" if groups else "") + line(table.columns, "th")
    body = "\n".join(line(row, "td") for row in table.rows)
    notes = "".join(f"<p class='note'>{text(note)}</p>\n" for note in table.notes)
    return (
        f"<div class='wide' tabindex='0' role='region' aria-label='{text(table.title)}'>"
        f"<table class='data'><caption>{text(table.title)}</caption>\n"
        f"<thead>{head}</thead>\n<tbody>\n{body}\n</tbody></table></div>\n{notes}"
    )


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and what is said about them."""
    return "<dl class='facts'>" + "".join(f"<dt>{text(k)}</dt><dd>{text(v)}</dd>" for k, v in pairs) + "</dl>"


def items(lines: Iterable[str]) -> str:
    """A list of texts."""
    return "<ul>" + "".join(f"<li>{text(line)}</li>" for line in lines) + "</ul>"


def code(content: str) -> str:
    """A block of a shell's or a file's lines."""
    return f"<pre><code>{text(content)}</code></pre>"


def link(path: str, label: str = "") -> str:
    """A link to a file beside the report."""
    return f"<a href='{text(path)}'>{text(label or path)}</a>"


def image(svg: bytes, title: str, caption: str) -> str:
    """A picture as a data URL: nothing in it can run or be fetched."""
    data = base64.b64encode(svg).decode()
    return (
        f"<figure><div class='wide' tabindex='0'><img src='data:image/svg+xml;base64,{data}' alt='{text(title)}'></div>"
        f"<figcaption>{text(caption or title)}</figcaption></figure>"
    )
