"""The report of a campaign: question, verdicts, tables, pictures, environment, how to reproduce, raw data."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from scripts.comparison.caption import caption
from scripts.comparison.frame import Frame
from scripts.comparison.report import parts
from scripts.comparison.summary import summary
from scripts.comparison.table import Table
from scripts.comparison.tables import tables_of

HERE = Path(__file__).parent
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
SHOWN_VALUES = 8
MOST_RAW = 1000
"""Links to single raw files; a larger campaign has the folder's pattern instead."""


@dataclass(frozen=True)
class Origin:
    """How the results came about, as far as only the workflow knows it.

    Attributes:
        command: that makes them again. file: name of the campaign file, and content: what is in it.
        commit: of this pipeline's checkout, with a remark when it had changes. lab: identity of the guest's lab.
    """

    command: str = ""
    file: str = ""
    content: str = ""
    commit: str = ""
    lab: str = ""


def page(frame: Frame, directory: Path, origin: Origin) -> str:
    """The whole file.

    Args:
        directory: results/<campaign>, for the pictures and for what there is to link to.
    """
    title = str(frame.plan["title"])
    sections = [
        ("verdicts", "Verdicts", verdicts(frame)),
        ("tables", "Tables", tables(frame)),
        ("pictures", "Pictures", pictures(directory)),
        ("conditions", "Conditions", parts.facts(merged(caption(frame)))),
        ("environment", "Environment", environment(frame)),
        ("reproduce", "Reproduce", reproduce(origin)),
        ("raw", "Raw data", raw(frame, directory)),
    ]
    body = "\n".join(parts.section(*section) for section in sections)
    links = "".join(f"<li><a href='#{name}'>{parts.text(heading)}</a></li>" for name, heading, _ in sections)
    question = str(frame.plan.get("question") or "")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{parts.text(title)}</title>
<style>
{(HERE / "report.css").read_text()}</style>
</head>
<body>
<header>
<h1>{parts.text(title)}</h1>
<p>{parts.text(question)}</p>
<nav aria-label="Sections"><ul>{links}</ul></nav>
</header>
<main>
{body}
</main>
<script>
{(HERE / "report.js").read_text()}</script>
</body>
</html>
"""


def verdicts(frame: Frame) -> str:
    """The summary, without its title."""
    lines: list[str] = []
    for line in summary(frame, width=10_000).splitlines()[1:]:
        lines.append(line.strip())
    return parts.items(lines)


def tables(frame: Frame) -> str:
    """All tables that the campaign names, each once."""
    wanted = frame.plan.get("tables") or {"benchstat": {"layout": "benchstat"}}
    found: list[Table] = []
    for options in wanted.values():
        found += [table for table in tables_of(frame, options) if table not in found]
    return "\n".join(parts.data_table(table) for table in found)


def merged(pairs: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Paragraphs of the caption; several with the same label are one."""
    found: dict[str, list[str]] = {}
    for label, said in pairs:
        found.setdefault(label, []).append(said)
    for label, texts in found.items():
        yield label, "; ".join(texts)


def pictures(directory: Path) -> str:
    """The pictures that were drawn, and why others were not."""
    try:
        listed: list[dict[str, Any]] = json.loads((directory / "plots" / "index.json").read_bytes())
    except (OSError, ValueError):
        listed = []
    shown, absent = [], []
    for entry in listed:
        path = directory / "plots" / f"{entry['name']}.svg"
        if entry.get("why_not") or not path.is_file():
            absent.append(f"{entry['title']}: {entry.get('why_not') or 'not drawn'}")
        else:
            shown.append(parts.image(path.read_bytes(), entry["title"], entry.get("caption", "")))
            interactive = f"plots/{quote(entry['name'])}.html"
            shown.append(f"<p class='note'>{parts.link(interactive, 'interactive')} (in the results' folder)</p>")
    if absent:
        shown.append(parts.items(absent))
    return "\n".join(shown) or "<p class='quiet'>No pictures were drawn.</p>"


def environment(frame: Frame) -> str:
    """Everything recorded that could explain a number; variants are named where they differ."""
    table = Table("Recorded environment", ["what", "value"], left=2)
    for name, values in sorted(frame.environment.items()):
        own = {v: sorted(facts.get(name, [])) for v, facts in frame.by_variant.items()}
        if len(values) <= SHOWN_VALUES and len({tuple(found) for found in own.values()}) > 1:
            value = "; ".join(f"{frame.label(v)}: {', '.join(found) or '-'}" for v, found in own.items())
        else:
            value = several(values)
        table.rows.append([name, value])
    return parts.data_table(table) if table.rows else "<p class='quiet'>Nothing was recorded.</p>"


def several(values: list[str]) -> str:
    """Values on one line: all of a few, the range of many numbers."""
    if len(values) <= SHOWN_VALUES:
        return ", ".join(values)
    try:
        numbers = sorted(float(value) for value in values)
    except ValueError:
        return ", ".join(values[:SHOWN_VALUES]) + f" and {len(values) - SHOWN_VALUES} more"
    return f"{numbers[0]:g} .. {numbers[-1]:g} ({len(values)} values)"


def reproduce(origin: Origin) -> str:
    """Commit, lab, command and campaign file."""
    pairs = [("blkcampaign", origin.commit or "unknown"), ("lab", origin.lab)]
    shown = [parts.facts((name, value) for name, value in pairs if value)]
    if origin.command:
        shown.append(parts.code(origin.command))
    if origin.content:
        shown += [f"<p>{parts.text(origin.file)}:</p>", parts.code(origin.content)]
    return "\n".join(shown)


def raw(frame: Frame, directory: Path) -> str:
    """Links beside the report: data sets, tables, and fio's own output of each run."""
    names = [f"{name}.parquet" for name in ("runs", "latency", "environment")]
    names += sorted(path.relative_to(directory).as_posix() for path in directory.glob("logs/*.parquet"))
    names += sorted(path.relative_to(directory).as_posix() for path in directory.glob("tables/*.csv"))
    links = "".join(f"<li>{parts.link(quote(name), name)}</li>" for name in names if (directory / name).is_file())
    runs = [] if frame.plan.get("host") == "imported" else list(dict.fromkeys(frame.samples["run"]))
    if len(runs) > MOST_RAW:
        links += f"<li>fio's output of {len(runs)} runs: ../runs/&lt;run&gt;/fio.json</li>"
        runs = []
    each = "".join(f"<li>{parts.link(f'../runs/{quote(run)}/fio.json', run)}</li>" for run in runs)
    folded = f"<details><summary>fio's output of {len(runs)} runs</summary><ul>{each}</ul></details>" if runs else ""
    return f"<ul>{links}</ul>\n{folded}\n<p class='quiet'>Links work where the report lies in its results' folder.</p>"
