"""runs.parquet -> tables.

python -m scripts.compare --results results/<campaign> [--partial]
"""

import argparse
import json
import sys
from pathlib import Path

from scripts.comparison import table as forms
from scripts.comparison.caption import caption
from scripts.comparison.frame import Frame, Refusal, load
from scripts.comparison.layouts import layout
from scripts.comparison.layouts.benchstat import tables as details
from scripts.comparison.summary import summary
from scripts.keeper.results import as_json, write_whole


def write_tables(frame: Frame, directory: Path) -> str:
    """All tables of the campaign in all forms; the text ones are returned."""
    shown = []
    wanted = frame.plan.get("tables") or {"benchstat": {"layout": "benchstat"}}
    for name, options in wanted.items():
        tables = layout(options["layout"])(frame, options)
        if options["layout"] != "benchstat":
            tables += details(frame, options)
        notes = caption(frame)
        plain = "\n".join(forms.text(table) for table in tables) + "\n" + "\n".join(notes) + "\n"
        markdown = "\n".join(forms.markdown(table) for table in tables) + "\n" + "  \n".join(notes) + "\n"
        contents = {
            "md": markdown,
            "csv": forms.comma_separated(tables),
            "tex": "\n".join(forms.latex(table) for table in tables),
            "html": "\n".join(forms.markup(table) for table in tables),
            "txt": plain,
        }
        for suffix, content in contents.items():
            write_whole(directory / "tables" / f"{name}.{suffix}", content.encode())
        shown.append(plain)
    write_whole(directory / "tables" / "summary.txt", summary(frame).encode())
    return "\n".join(shown)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True, help="folder with plan.json and runs.parquet")
    parser.add_argument("--partial", action="store_true", help="runs are missing: nothing is marked as finished")
    arguments = parser.parse_args()
    try:
        frame = load(arguments.results)
        text = write_tables(frame, arguments.results)
    except (Refusal, KeyError) as error:
        sys.stderr.write(f"blkcampaign: {error.args[0]}\n")
        return 1
    if not arguments.partial:
        parsed = json.loads((arguments.results / "parsed.json").read_bytes())
        write_whole(arguments.results / "compared.json", as_json({"format": 1, "digest": parsed["digest"]}))
    sys.stdout.write(text)
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
