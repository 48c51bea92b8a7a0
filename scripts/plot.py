"""runs.parquet, latency.parquet, logs/ -> pictures: interactive HTML without a network, SVG, PNG, and plots/index.json.

python -m scripts.plot --results results/<campaign> [--partial]
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from scripts.comparison.frame import Frame, Refusal, load
from scripts.comparison.plots import KINDS, TITLES, Nothing, Picture, picture
from scripts.comparison.plots.style import complete
from scripts.dataset.digest import mark_finished
from scripts.keeper.results import write_whole

VEGALITE = "5.21"
PNG_SCALE = 1.5
PNG_WIDTH = 1600
"""A wider picture is drawn at less than PNG_SCALE: its size would only cost time."""
SUFFIXES = (".html", ".svg", ".png", ".vl.json")


def write_pictures(frame: Frame, directory: Path) -> list[dict[str, Any]]:
    """All pictures of the campaign; plots/index.json's content."""
    wanted = frame.plan.get("plots")
    if wanted is None:
        wanted = {kind: {"kind": kind} for kind in KINDS}
    index = []
    for name, options in wanted.items():
        kind = str(options.get("kind"))
        title = str(options.get("title") or TITLES.get(kind, kind))
        entry = {"name": name, "title": title, "caption": "", "kind": kind, "why_not": None}
        try:
            found = picture(frame, options)
            render(found, complete(found, frame), directory / name)
            entry |= {"title": found.title, "caption": found.caption}
        except Nothing as reason:
            entry["why_not"] = str(reason)
        except Exception as error:  # a fault in one picture must not cost the others, the tables or the report
            entry["why_not"] = f"could not be drawn ({type(error).__name__}: {error})"
            sys.stderr.write(f"blkcampaign: picture {name}: {entry['why_not']}\n")
        index.append(entry)
    drawn = {entry["name"] for entry in index if entry["why_not"] is None}
    for path in directory.glob("*"):
        if path.name != "index.json" and path.name.partition(".")[0] not in drawn and path.name.endswith(SUFFIXES):
            path.unlink()
    write_whole(directory / "index.json", json.dumps(index, indent=1).encode() + b"\n")
    return index


def render(found: Picture, spec: dict[str, Any], base: Path) -> None:
    """One specification in all forms."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(spec, vl_version=VEGALITE)
    forms = {
        ".svg": svg.encode(),
        ".png": vl_convert.svg_to_png(svg, scale=min(PNG_SCALE, PNG_WIDTH / width_of(svg))),
        ".html": vl_convert.vegalite_to_html(spec, vl_version=VEGALITE, bundle=True).encode(),
        ".vl.json": json.dumps(spec).encode(),
    }
    for suffix, content in forms.items():
        write_whole(base.with_name(base.name + suffix), content)


def width_of(svg: str) -> float:
    """Width of a picture in pixels of its own."""
    found = re.search(r'width="([\d.]+)"', svg)
    return max(float(found[1]), 1.0) if found else 1.0


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True, help="folder with plan.json and runs.parquet")
    parser.add_argument("--partial", action="store_true", help="runs are missing: nothing is marked as finished")
    arguments = parser.parse_args()
    directory = arguments.results
    try:
        index = write_pictures(load(directory), directory / "plots")
    except (Refusal, KeyError) as error:
        sys.stderr.write(f"blkcampaign: pictures: {error.args[0]}\n")
        return 1
    if not arguments.partial:
        mark_finished(directory, "plotted.json")
    drawn = [entry["name"] for entry in index if entry["why_not"] is None]
    sys.stderr.write(f"blkcampaign: pictures: {', '.join(drawn) or 'none'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
