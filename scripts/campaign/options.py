"""The pairs behind `--config`: which there are, and what each may be."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from scripts.campaign.errors import CampaignError, Problem, closest

WHAT = {
    "campaign": "name of a file of config/campaigns/ without .yaml, or a path that ends with .yaml",
    "scale": "name under `scales:` of the campaign",
    "seed": "a whole number: seed of the order of runs",
    "repeats": "a whole number >= 1: samples of every cell",
    "clock": "auto, hardware, emulated or instructions",
    "host": "guest or local",
    "boots": "round or campaign",
    "input": "campaign=imported: a directory, a pattern, a tar or zip file",
    "name": "campaign=imported: folder under results/",
    "mapping": "campaign=imported: a JSON or YAML file that says what names mean",
    "full_dag": "1: finished runs stay in Snakemake's graph",
}
CHOICES = {
    "clock": ("auto", "hardware", "emulated", "instructions"),
    "host": ("guest", "local"),
    "boots": ("round", "campaign"),
}


@dataclass(frozen=True)
class Options:
    """Checked `--config` pairs; None where not given."""

    campaign: str
    scale: str | None = None
    seed: int | None = None
    repeats: int | None = None
    clock: str | None = None
    host: str | None = None
    boots: str | None = None
    input: str | None = None
    name: str | None = None
    mapping: str | None = None
    full_dag: bool = False

    def command(self) -> str:
        """The command line that these options came from, as a shell takes it."""
        pairs = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "full_dag"}
        given = [shlex.quote(f"{name}={value}") for name, value in pairs.items() if value is not None]
        return "snakemake --cores 1 --config " + " ".join(given)


def misread(key: str, value: Any, typed: Sequence[str]) -> str:
    """Why a value is not the text that was typed, or an empty text: Snakemake reads values as YAML.

    Args:
        typed: the command line.
    """
    if value is None or value == "":
        return f"empty: {WHAT[key]}"
    given = [word.partition("=")[2] for word in typed if word.startswith(f"{key}=")]
    if isinstance(value, str) or not given or str(value) in given:
        return ""
    return f"{given[-1]} is no text for YAML; write {key}='\"{given[-1]}\"'"


def check_options(config: Mapping[str, Any]) -> Options:
    """Check Snakemake's `config`.

    Raises:
        CampaignError: all that is wrong.
    """
    problems = []
    values: dict[str, Any] = {}
    for key, value in config.items():
        if key not in WHAT:
            problems.append(Problem(str(key), value, f"unknown option; known: {', '.join(WHAT)}", closest(key, WHAT)))
        elif key in ("seed", "repeats"):
            if not isinstance(value, int) or isinstance(value, bool) or (key == "repeats" and value < 1):
                problems.append(Problem(key, value, WHAT[key]))
            values[key] = value
        elif key == "full_dag":
            values[key] = str(value).lower() in ("1", "true", "yes")
        elif wrong := misread(key, value, sys.argv):
            problems.append(Problem(key, value, wrong))
        else:
            values[key] = str(value)
            if values[key] not in CHOICES.get(key, (values[key],)):
                choices = CHOICES[key]
                problems.append(Problem(key, value, "one of " + ", ".join(choices), closest(value, choices)))
    if "campaign" not in values:
        problems.append(Problem("campaign", None, f"missing: --config campaign=NAME, {WHAT['campaign']}"))
    elif values["campaign"] == "imported" and not values.get("input"):
        problems.append(Problem("input", None, f"missing: {WHAT['input']}"))
    if not values.get("input"):
        problems.extend(
            Problem(key, values[key], "only with input=, that is when results are imported")
            for key in ("name", "mapping")
            if key in values
        )
    if problems:
        raise CampaignError("--config", problems)
    return Options(**values)
