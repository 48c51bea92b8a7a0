"""The state of one invocation that imports foreign results. The Snakefile's rules ask here, as they ask `Start`.

What is to be imported stands in results/<name>/input.json: files with their contents' hashes, the mapping and the keys
of the campaign. The file is only written when something in it changed, so its time tells Snakemake whether to import.
"""

import hashlib
import json
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.campaign.errors import CampaignError, Problem
from scripts.campaign.load import Document, parse_yaml, read_document, read_text
from scripts.campaign.options import Options
from scripts.campaign.validate import key_problems, schema_problems
from scripts.dataset.digest import damaged, forget
from scripts.dataset.imports.mapping import MappingError, Names
from scripts.dataset.imports.sources import NoInput, paths_of
from scripts.keeper.results import write_whole
from scripts.workflow import guard

SETTINGS = ("title", "question", "baseline", "practical_band_percent", "tables", "plots")
MEASURING = ("variants", "workloads", "device", "fio", "prep", "prep_fio")


class Imported:
    """One invocation of `campaign=imported`.

    Args:
        options: checked; `input` is given. work: working directory. main: whether this is the process the user started.
    """

    imported = True

    def __init__(self, options: Options, campaigns: Path, work: Path, main: bool):
        self.options, self.work, self.main = options, work, main
        self.document: Document = read_document(campaigns, options)
        wrong = [key for key in MEASURING if key in self.document.written]
        if wrong:
            text = f"{self.document.path} measures (it has {', '.join(wrong)}): use campaign=imported or a file like it"
            raise CampaignError("--config", [Problem("input", options.input, text)])
        self.keys: Mapping[str, Any] = self.document.keys
        self.name, self.path = self.document.name, self.document.path
        self.command = options.command()
        self.refuse_measured()
        self.mapping = self.read_mapping()
        if main:
            guard.hold(work)
        try:
            self.paths = paths_of(str(options.input))
        except NoInput as error:
            raise CampaignError("--config", [Problem("input", options.input, str(error))]) from None

    def refuse_measured(self) -> None:
        """An import never takes the folder of a campaign that measures.

        Raises:
            CampaignError: it would.
        """
        before = recorded(self.work / "results" / self.name / "plan.json").get("host", "imported")
        if before != "imported":
            text = f"results/{self.name} is that of a campaign which measures; choose another folder with name="
            raise CampaignError("--config", [Problem("name", self.name, text)])

    def read_mapping(self) -> dict[str, Any]:
        """The campaign's mapping, or that of `mapping=FILE`.

        Raises:
            CampaignError: it is not one.
        """
        if not self.options.mapping:
            mapping, path = dict(self.keys.get("mapping", {})), self.document.path
        else:
            path = self.options.mapping
            raw = parse_yaml(read_text(Path(path)), path)
            problems = key_problems(raw, "mapping") or schema_problems(
                raw, self.document.schema["properties"]["mapping"], "mapping"
            )
            if problems:
                raise CampaignError(path, problems)
            mapping = dict(raw)
        try:
            Names(mapping)
        except MappingError as error:
            raise CampaignError(path, [Problem("mapping", None, str(error))]) from None
        return mapping

    def decide(self) -> None:
        """Write input.json where what it says has changed."""
        if not self.main:
            return
        path = self.work / "results" / self.name / "input.json"
        before = recorded(path)
        known = {entry[0]: entry for entry in before.get("files", [])}
        settings = {key: self.keys[key] for key in SETTINGS if key in self.keys}
        settings["clock"] = self.mapping.get("clock", "unknown")
        content = {
            "format": 1,
            "input": self.options.input,
            "mapping": {key: value for key, value in self.mapping.items() if key != "clock"},
            "settings": settings,
            "files": [identified(source, known.get(source)) for source, _ in self.paths],
        }
        if self.meaning(content) != self.meaning(before):
            write_whole(path, json.dumps(content, indent=1).encode())  # ASCII: paths may be no UTF-8
        elif content != before:  # only touched: remember the new times, and keep the time of the file
            times = path.stat()
            write_whole(path, json.dumps(content, indent=1).encode())
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

        bad = [*damaged(path.parent), *(["plan.json"] if self.plan_is_damaged() else [])]
        if bad:
            forget(path.parent, bad)

    def plan_is_damaged(self) -> bool:
        """Whether plan.json, which an import makes, is not what it left."""
        directory = self.work / "results" / self.name
        size = recorded(directory / "parsed.json").get("plan")
        try:
            return size is not None and (directory / "plan.json").stat().st_size != size
        except OSError:
            return True

    @staticmethod
    def meaning(content: Mapping[str, Any]) -> Any:
        """All of input.json but the times of files."""
        return {**content, "files": [[source, digest] for source, _, _, digest in content.get("files", [])]}

    def summary(self) -> str:
        """What this invocation is about to do, in one line."""
        return f"campaign {self.name}: importing {len(self.paths)} file(s) of {self.options.input}"

    def say(self, text: str) -> None:
        """A line of ours."""
        sys.stderr.write(f"blkcampaign: {text}\n")
        sys.stderr.flush()


def recorded(path: Path) -> dict[str, Any]:
    """A JSON file as it was; empty where there is none."""
    try:
        found = json.loads(path.read_bytes())
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}


def identified(source: str, known: list[Any] | None) -> list[Any]:
    """[path, size, time, SHA-256]; the content is only read again when size or time differ."""
    try:
        found = os.stat(source)
        if known and known[1:3] == [found.st_size, found.st_mtime_ns]:
            return known
        if not stat.S_ISREG(found.st_mode):  # a FIFO would wait for ever, /dev/zero never end
            return [source, -1, -1, "not a regular file"]
        with open(source, "rb") as file:  # noqa: PTH123
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return [source, found.st_size, found.st_mtime_ns, digest]
    except OSError as error:
        return [source, -1, -1, error.strerror]
