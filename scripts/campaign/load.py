"""Reading a campaign file: YAML, scale, options, schema; the result still has units and axes as written."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.campaign.errors import CampaignError, Problem, closest
from scripts.campaign.options import Options
from scripts.campaign.validate import key_problems, schema_problems

RESERVED = ("runs", "session", "failed", "superseded", "consoles")
"""Folders of results/ that are no campaign's."""
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
CAMPAIGN_SCHEMA = Path(__file__).resolve().parents[2] / "config" / "schemas" / "campaign.schema.json"


@dataclass(frozen=True)
class Document:
    """A campaign as written, after `scale` and options, with the defaults of optional keys filled in.

    Attributes:
        written: keys that stand in the file itself. schema: what it was checked against.
    """

    name: str
    path: str
    scale: str
    keys: Mapping[str, Any]
    written: frozenset[str] = frozenset()
    schema: Mapping[str, Any] = field(default_factory=dict)


def parse_yaml(text: str, path: str) -> Any:
    """YAML of one file; a key that stands there twice is an error, not the last one's win.

    Raises:
        CampaignError: with the line.
    """
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):
        pass

    def mapping(loader: Any, node: Any) -> dict[Any, Any]:
        loader.flatten_mapping(node)
        seen: dict[Any, int] = {}
        for key_node, _ in node.value:
            key = loader.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if key in seen:
                raise CampaignError(
                    path, [Problem(str(key), None, f"stands there twice (lines {seen[key]} and {line})")]
                )
            seen[key] = line
        return dict(loader.construct_pairs(node, deep=True))

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        raise CampaignError(path, [Problem("(file)", None, "not YAML: " + " ".join(str(error).split()))]) from error
    except TypeError as error:  # an unhashable key
        raise CampaignError(path, [Problem("(file)", None, f"not a campaign: {error}")]) from error


def read_text(path: Path) -> str:
    """A file that a user wrote.

    Raises:
        CampaignError: it can not be read, or is no UTF-8 text.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        problem = Problem("(file)", None, f"not UTF-8 text: byte {error.start} is {error.object[error.start]:#04x}")
    except OSError as error:
        problem = Problem("(file)", None, f"can not be read: {error.strerror}")
    raise CampaignError(str(path), [problem])


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings are merged key by key, everything else is replaced."""
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


def campaign_names(directory: Path) -> list[str]:
    """Names of all campaigns."""
    return sorted(path.stem for path in directory.glob("*.yaml"))


def read_document(directory: Path, options: Options) -> Document:
    """Read and validate `<directory>/<options.campaign>.yaml`, or the file itself where the option ends with .yaml.

    Raises:
        CampaignError: all that is wrong with the file, or which campaigns there are.
    """
    own = options.campaign.endswith((".yaml", ".yml"))
    path = Path(options.campaign) if own else directory / f"{options.campaign}.yaml"
    if own and not path.is_file():
        what = "not a file" if path.exists() else "no such file"
        raise CampaignError("--config", [Problem("campaign", options.campaign, what)])
    if not own and (not path.is_file() or "/" in options.campaign):
        names = campaign_names(directory)
        problem = Problem("campaign", options.campaign, f"one of {', '.join(names)}", closest(options.campaign, names))
        raise CampaignError(f"--config (files of {directory})", [problem])
    import json

    schema = json.loads(CAMPAIGN_SCHEMA.read_text())
    raw = parse_yaml(read_text(path), str(path))
    if not isinstance(raw, dict):
        raise CampaignError(
            str(path), [Problem("(whole file)", raw, "must be a mapping of keys; see config/README.md")]
        )
    if unnamed := key_problems(raw):
        raise CampaignError(str(path), unnamed)
    problems = schema_problems(raw, schema)
    scales = raw.get("scales") if isinstance(raw.get("scales"), dict) else {}
    if options.scale is not None and options.scale not in (scales or {}):
        listed = ", ".join(scales or {}) or "none in this campaign"
        problems.append(Problem("scale", options.scale, f"one of: {listed}", closest(options.scale, scales or {})))
    if problems:
        raise CampaignError(str(path), problems)
    keys = {key: value for key, value in raw.items() if key != "scales"}
    if options.scale:
        change = (scales or {})[options.scale]
        keys = merged(keys, change)
        if "workloads" in change:
            keys["workloads"] = change["workloads"]
    for key in ("seed", "repeats", "clock", "host", "boots"):
        if getattr(options, key) is not None:
            keys[key] = getattr(options, key)
    for key, property_schema in schema["properties"].items():
        if "default" in property_schema:
            keys.setdefault(key, property_schema["default"])
    name = options.name or path.stem
    if name in RESERVED or not NAME.fullmatch(name):
        where = "--config" if options.name else str(path)
        allowed = f"letters, digits, `_`, `-` and `.`, not starting with `.`, and none of {', '.join(RESERVED)}"
        raise CampaignError(where, [Problem("name" if options.name else "campaign", name, allowed)])
    return Document(name, str(path), options.scale or "default", keys, frozenset(raw), schema)
