"""Figures that others have published (config/references/): reading, checking, and as a frame that layouts take."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.campaign.errors import closest
from scripts.campaign.units import parse_bytes
from scripts.comparison.contradictions import contradicts, sentence
from scripts.comparison.figures import figure, percents
from scripts.comparison.frame import Frame
from scripts.comparison.layouts import layout
from scripts.comparison.metrics import METRICS
from scripts.comparison.refusals import Refusal
from scripts.comparison.samples import COLUMNS
from scripts.comparison.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
DIRECTORY = REPOSITORY / "config" / "references"
SCHEMA = REPOSITORY / "config" / "schemas" / "reference.schema.json"
COLUMN = {
    "iops": "iops", "read_iops": "read_iops", "write_iops": "write_iops", "bw": "bw_bytes_per_s",
    "read_bw": "read_bw_bytes_per_s", "write_bw": "write_bw_bytes_per_s", "clat": "clat_mean_ns", "cpu": "cpu_percent",
}  # fmt: skip
SIDES = (("", "iops", "bw"), ("read ", "read_iops", "read_bw"), ("write ", "write_iops", "write_bw"))


def names() -> list[str]:
    """All references."""
    return sorted(path.stem for path in DIRECTORY.glob("*.yaml"))


def read(name: str) -> dict[str, Any]:
    """A reference by name, or by the path of a file of one's own (`.yaml`).

    Raises:
        Refusal: there is none of this name, or the file is wrong; names key, value and file.
    """
    import jsonschema
    import yaml

    path = Path(name) if name.endswith(".yaml") else DIRECTORY / f"{name}.yaml"
    if not path.is_file():
        near = closest(name, names())
        hint = f"; did you mean {near!r}?" if near else ""
        raise Refusal(f"reference {name!r}: one of {', '.join(names())}, or a file{hint}")
    try:
        document = yaml.safe_load(path.read_text())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Refusal(f"{path}: no YAML: {' '.join(str(error).split())}") from error
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    for problem in sorted(validator.iter_errors(document), key=lambda e: list(map(str, e.absolute_path))):
        key = ".".join(map(str, problem.absolute_path)) or "the file"
        raise Refusal(f"{path}: {key}: {problem.message}")
    found: dict[str, Any] = document
    check_variants(found, path)
    return found


def check_variants(document: Mapping[str, Any], path: Path) -> None:
    """Variants that figures name are declared.

    Raises:
        Refusal: names the variant.
    """
    known = document["variants"]
    named = [("baseline", document["baseline"])]
    named += [(f"cells.{i}.figures", v) for i, cell in enumerate(document["cells"]) for v in cell["figures"]]
    for key, variant in named:
        if variant not in known:
            raise Refusal(f"{path}: {key} = {variant!r}: one of {', '.join(known)}")
    for i, cell in enumerate(document["cells"]):
        try:
            size_of(cell)
        except ValueError as error:
            raise Refusal(f"{path}: cells.{i}.axes.bs: {error}") from error


def size_of(cell: Mapping[str, Any]) -> int | None:
    """Block size in bytes."""
    return None if "bs" not in cell["axes"] else int(parse_bytes(cell["axes"]["bs"]))


def values_of(figures: Mapping[str, str], base: Mapping[str, str]) -> dict[str, float]:
    """Columns of the frame: figures as published, and those that follow from a relative difference."""
    found = {COLUMN[key]: figure(text).value for key, text in figures.items() if key in COLUMN}
    for side in ("read", "write"):
        if f"relative_{side}" in figures and f"{side}_iops" in base:
            low, _ = percents(figures[f"relative_{side}"])
            found[f"{side}_iops"] = figure(base[f"{side}_iops"]).value * (1 + low / 100)
    if "iops" not in found and {"read_iops", "write_iops"} <= found.keys():
        found["iops"] = found["read_iops"] + found["write_iops"]
    return found


def frame_of(name: str, document: Mapping[str, Any]) -> Frame:
    """One sample a cell: how many stand behind it is not known here, so nothing is tested."""
    rows: list[dict[str, Any]] = []
    runs: list[dict[str, Any]] = []
    published: dict[tuple[str, str], tuple[float, float]] = {}
    for number, cell in enumerate(document["cells"]):
        place = f"cell-{number}"
        axes: dict[str, Any] = dict(cell["axes"])
        size = size_of(cell)
        if size is not None:
            axes["bs"] = size
        base = cell["figures"].get(document["baseline"], {})
        for variant in document["variants"]:
            run = f"{variant}-{number}"
            common = {"run": run, "variant": variant, "cell": place, "workload": cell["label"], "round": number}
            runs.append({**common, "axes": axes, "label": cell["label"]})
            figures = cell["figures"].get(variant, {})
            if "relative" in figures:
                published[variant, place] = percents(figures["relative"])
            if values := values_of(figures, base):
                rows.append({**common, "bs_bytes": size, **values})
    columns = list(dict.fromkeys([*COLUMNS, *METRICS]))
    samples = pd.DataFrame(rows, columns=columns)
    samples[list(METRICS)] = samples[list(METRICS)].astype(float)
    plan = {
        "campaign": name, "title": document["title"], "blank": "-", "baseline": document["baseline"], "runs": runs,
        "variants": {key: {"label": label} for key, label in document["variants"].items()},
        "axes": list(dict.fromkeys(a for cell in document["cells"] for a in cell["axes"])),
    }  # fmt: skip
    frame = Frame(plan, samples, published=published)
    for planned in runs:
        if not len(frame.of(planned["variant"], planned["cell"])):
            frame.problems[planned["variant"], planned["cell"]] = "-: not published"
    return frame


def contradictions(document: Mapping[str, Any]) -> Iterator[str]:
    """Notes about published cells that contradict themselves, as far as rounding does not explain it."""
    for cell in document["cells"]:
        size = size_of(cell)
        for variant, figures in cell["figures"].items():
            for side, count, moved in SIDES:
                if size is None or count not in figures or moved not in figures:
                    continue
                iops, bandwidth = figure(figures[count]), figure(figures[moved])
                if contradicts(iops, bandwidth, size):
                    place = f"{side}{document['variants'][variant]}, {cell['label']}"
                    yield sentence(place, iops.text, bandwidth.text, size, iops.value * size)


def tables(name: str) -> list[Table]:
    """A reference in the layout it was published in, with its source and its contradictions below.

    Raises:
        Refusal: there is none of this name, or the file is wrong.
    """
    document = read(name)
    options = {"title": f"{document['title']} (published)", **document.get("options", {})}
    try:
        result = layout(document["layout"])(frame_of(name, document), options)
    except KeyError as error:
        raise Refusal(f"{name}: layout = {error.args[0]}") from error
    if any("-" in row for table in result for row in table.rows):
        result[-1].notes.append("-: not published")
    result[-1].notes += notes_of(document)
    return result


def notes_of(document: Mapping[str, Any]) -> list[str]:
    """Source and contradictions."""
    return [source_text(document["source"]), *contradictions(document)]


def source_text(source: Mapping[str, Any]) -> str:
    """`Source: who, where, date, address; note`."""
    said = [source["who"] or "author unknown", source["where"], source["date"] or "date unknown"]
    text = f"Source: {', '.join(said)}, {source['url'] or 'address unknown'}"
    return f"{text}; {source['note'].strip()}" if source.get("note") else text
