"""Files of an import -> rows of runs.parquet, and the plan that a comparison needs."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scripts.campaign.units import axis_text
from scripts.dataset.imports.mapping import MappingError, Meaning, Names, canonical
from scripts.dataset.imports.sources import File
from scripts.dataset.latency import Latencies
from scripts.fio.decode import Decoded, Refused, decode
from scripts.fio.evidence import contradiction, requested_of, row_problem, signal_in
from scripts.fio.histograms import Bins, bins_of
from scripts.fio.logs import log_name
from scripts.fio.rows import disk_util_percent, rows_of

BESIDE = ("run.json", "unload.json", "stderr.txt")
"""What lies beside fio.json in a run directory of this pipeline: no results of fio."""
UNKNOWN_CLOCK = "unknown"


@dataclass
class Group:
    """Rows that are one run: jobs of one file that ran together with the same axes."""

    source: str
    meaning: Meaning
    rows: list[dict[str, Any]] = field(default_factory=list)
    histograms: list[Bins] = field(default_factory=list)
    run: str = ""

    def warn(self, text: str) -> None:
        """Say something with its rows."""
        for row in self.rows:
            row["warnings"].append(text)


class ImportBatch:
    """Rows of one import.

    Args:
        names: what names mean. settings: keys of the campaign (`title`, `baseline`, ...). campaign: its folder's name.
    """

    def __init__(self, names: Names, settings: Mapping[str, Any], campaign: str):
        self.names, self.settings, self.campaign = names, settings, campaign
        self.groups: dict[tuple[Any, ...], Group] = {}
        self.refused: list[dict[str, Any]] = []
        self.counts = Counter({"ok": 0, "failed": 0, "refused": 0})
        self.reasons: Counter[str] = Counter()
        self.files = 0
        self.points: dict[int, tuple[Mapping[str, Any], tuple[str, ...]]] = {}
        self.logs: list[File] = []
        self.documents: list[tuple[str, Decoded, dict[int, Group]]] = []
        self.remembered: dict[int, tuple[Mapping[str, Any], dict[str, Any], dict[str, Any]]] = {}

    def read(self, files: Iterable[File]) -> None:
        """Read all files; whatever is wrong with one never stops the rest."""
        others: list[tuple[str, File, str]] = []
        ours: set[str] = set()
        for file in files:
            folder, _, last = file.name.rpartition("/")
            if log_name(file.name) and not file.refused:
                self.logs.append(file)
                continue
            self.files += 1
            try:
                if file.refused:
                    raise Refused(file.refused)
                decoded = decode(file.data)
                rows = list(rows_of(decoded))
                if not rows:
                    raise Refused("fio's document has no jobs")
                self.add(file, decoded, rows)
                if last == "fio.json":
                    ours.add(folder)
            except (Refused, MappingError) as error:
                if last in BESIDE:
                    others.append((folder, file, str(error)))
                else:
                    self.refuse(file.source, str(error))
        for folder, file, reason in others:
            if folder in ours:  # a run directory of this pipeline: what lies beside fio.json is no result of fio's
                self.files -= 1
            else:
                self.refuse(file.source, reason)

    def refuse(self, source: str, reason: str) -> None:
        """One row that says why there are no figures."""
        self.counts["refused"] += 1
        self.reasons[kind_of(reason)] += 1
        self.refused.append({"source": source, "status": "refused", "reason": reason, "campaign": self.campaign})

    def add(self, file: File, decoded: Decoded, rows: list[dict[str, Any]]) -> None:
        """Rows of one decoded file, each with its status; jobs of a group that have the same axes are one run."""
        signalled = signal_in(decoded.warnings).removeprefix("skipped: ")
        util = disk_util_percent(decoded.document)
        worst, why = "ok", ""
        of_job: dict[int, Group] = {}
        meanings = [
            self.names.of(file.name, row["jobname"] or "", row["options"], row["options_unknown"]) for row in rows
        ]
        for row, meaning in zip(rows, meanings, strict=True):
            columns, requested = self.asked(row["options"], meaning.axes)
            reason = signalled or row_problem(row, requested)
            status = "failed" if reason else "ok"
            bs = meaning.axes.get("bs")
            odd = contradiction(row, bs if isinstance(bs, int) else None) if status == "ok" else ""
            row["warnings"] = [*decoded.warnings, *row["warnings"], *([odd] if odd else [])]
            row.update(columns, source=file.source, status=status, reason=reason, disk_util_percent=util)
            if status != "ok":
                worst, why = status, why or reason
            key = (file.source, row["groupid"], meaning.variant, self.point_of(meaning.axes))
            group = self.groups.get(key)
            if group is None:
                group = self.groups[key] = Group(file.source, meaning)
            of_job[row["job_index"]] = group
            group.rows.append(row)
        if decoded.has_bins():
            for bins in bins_of(decoded):
                if bins.job_index in of_job:
                    of_job[bins.job_index].histograms.append(bins)
        if any("_log" in name for row in rows for name in row["options"]):
            self.documents.append((file.name, decoded, of_job))
        self.counts[worst] += 1
        if why:
            self.reasons[kind_of(why)] += 1

    def point_of(self, axes: Mapping[str, Any]) -> tuple[str, ...]:
        """Axes as a key; once for each object."""
        known = self.points.get(id(axes))
        if known is None or known[0] is not axes:
            known = self.points[id(axes)] = axes, tuple(sorted(map(str, axes.items())))
        return known[1]

    def asked(self, options: Mapping[str, Any], axes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Columns of what was asked for, and the requests that evidence is held against; once for each options."""
        known = self.remembered.get(id(options))
        if known is None or known[0] is not options:
            requested = requested_of(options)
            known = self.remembered[id(options)] = options, described(axes, options, requested), requested
        return known[1], known[2]

    def plan(self) -> dict[str, Any]:
        """plan.json's content; fills in each row's place in it."""
        varying = varying_axes(group.meaning.axes for group in self.groups.values())
        runs: list[dict[str, Any]] = []
        taken: Counter[tuple[str, str]] = Counter()
        baseline = self.baseline()
        clock = self.settings.get("clock", UNKNOWN_CLOCK)
        everywhere = {"campaign": self.campaign, "baseline": baseline, "host_kind": "imported", "clock": clock}
        named: dict[tuple[str, ...], tuple[dict[str, Any], str, dict[str, str]]] = {}
        for position, group in enumerate(self.groups.values(), start=1):
            point = self.point_of(group.meaning.axes)
            if point not in named:
                axes = {name: group.meaning.axes[name] for name in varying if name in group.meaning.axes}
                label = ", ".join(f"{name}={axis_text(name, value)}" for name, value in axes.items()) or "all"
                named[point] = axes, label, {name: text_of(value) for name, value in axes.items()}
            axes, label, texts = named[point]
            cell = label.replace(", ", "-")
            taken[group.meaning.variant, cell] += 1
            sample = group.meaning.sample or taken[group.meaning.variant, cell]
            entry = {
                "run": f"{group.source}#{position}",
                "variant": group.meaning.variant,
                "cell": cell,
                "axes": axes,
                "workload": cell,
                "label": label,
                "sample": sample,
                "round": sample,
                "block": sample,
                "position": position,
            }
            runs.append(entry)
            group.run = str(entry["run"])
            place = {
                **entry,
                **everywhere,
                "axes": texts,
                "boot_id": group.meaning.boot,
                "hostname": group.meaning.host or group.rows[0].get("client"),
            }
            for row in group.rows:
                row.update(place)
        variants = list(dict.fromkeys(group.meaning.variant for group in self.groups.values()))
        cells = {entry["cell"]: entry["label"] for entry in runs}
        return {
            "format": 1,
            "campaign": self.campaign,
            "title": self.settings["title"],
            "question": self.settings.get("question", ""),
            "baseline": baseline,
            "seed": None,
            "host": "imported",
            "clock": clock,
            "practical_band_percent": self.settings.get("practical_band_percent", 1),
            "variants": {name: {"driver": "", "label": name} for name in variants},
            "not_run": {},
            "differences": self.differences(),
            "axes": varying,
            "workloads": cells,
            "tables": self.settings.get("tables", {}),
            "plots": self.settings.get("plots"),
            "runs": runs,
        }

    def latencies(self) -> Latencies:
        """latency.parquet's content; after `plan`, which names the runs."""
        latencies = Latencies()
        for group in self.groups.values():
            for bins in group.histograms:
                latencies.add(group.run, group.source, bins, group.warn)
        return latencies

    def baseline(self) -> str:
        """The variant that the others are compared with.

        Raises:
            MappingError: the campaign names one that is not there.
        """
        variants = list(dict.fromkeys(group.meaning.variant for group in self.groups.values()))
        named = self.settings.get("baseline")
        if named and variants and named not in variants:
            raise MappingError(f"baseline = {named!r}: the imported variants are {', '.join(variants)}")
        return str(named or (variants[0] if variants else ""))

    def differences(self) -> list[str]:
        """fio options, other than axes and names, that are not the same in all runs: they may explain a number."""
        skip = {*self.names_of_places(), *(name for group in self.groups.values() for name in group.meaning.axes)}
        values: dict[str, set[str]] = {}
        for options in {id(r["options"]): r["options"] for g in self.groups.values() for r in g.rows}.values():
            if options:
                for name, value in options.items():
                    if name not in skip:
                        values.setdefault(name, set()).add(text_of(value))
        versions = self.versions()
        said = [f"versions of fio: {', '.join(versions)}"] if len(versions) > 1 else []
        return said + [
            f"fio's {name}: {', '.join(sorted(found)[:6])}" for name, found in sorted(values.items()) if len(found) > 1
        ]

    @staticmethod
    def names_of_places() -> tuple[str, ...]:
        """Options whose value is a place and explains nothing."""
        return ("name", "filename", "directory", "output", "write_bw_log", "write_iops_log", "write_lat_log",
                "write_hist_log", "description")  # fmt: skip

    def environment(self) -> Iterator[dict[str, str]]:
        """Rows of environment.parquet. Versions of fio that differ are no mistake of an import: see `differences`."""
        versions = self.versions()
        if len(versions) == 1:
            for group in self.groups.values():
                yield {"run": group.rows[0]["run"], "name": "fio_version", "value": versions[0]}

    def versions(self) -> list[str]:
        """Versions of fio, as it wrote them."""
        found = {row["fio_version"] for group in self.groups.values() for row in group.rows}
        return sorted(version or "unknown" for version in found)

    def rows(self) -> Iterable[dict[str, Any]]:
        """All rows, refused files last."""
        for group in self.groups.values():
            yield from group.rows
        yield from self.refused


def described(axes: Mapping[str, Any], options: Mapping[str, Any], requested: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that say what was asked for; null where an option has no plain value."""
    numbers = {key: value if isinstance(value := axes.get(key), int) else None for key in ("bs", "iodepth", "numjobs")}
    sizes = {key: canonical(key, options[key]) for key in ("size", "io_size") if key in options}
    return {
        "rw": axes.get("rw"),
        "ioengine": axes.get("ioengine"),
        "bs_bytes": numbers["bs"],
        "iodepth": numbers["iodepth"],
        "numjobs": numbers["numjobs"],
        "direct": None if "direct" not in axes else str(axes["direct"]) == "1",
        "requested_runtime_s": float(requested["runtime_s"]) if "runtime_s" in requested else None,
        "size_bytes": sizes.get("size") if isinstance(sizes.get("size"), int) else None,
        "io_size_bytes": sizes.get("io_size") if isinstance(sizes.get("io_size"), int) else None,
    }


def kind_of(reason: str) -> str:
    """A reason without what is particular to one file, for counting."""
    known = ("fio's ", "not fio's JSON", "a log file", "truncated", "damaged", "unsafe archive")
    text = reason.partition(":")[0] if reason.startswith(known) else reason
    return re.sub(r"\d{3,}", "N", text.partition(" at byte")[0])[:120]


def varying_axes(all_axes: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names of axes with more than one value, absence included, in the order of their first appearance."""
    listed = list({id(axes): axes for axes in all_axes}.values())  # many runs share one object
    names = dict.fromkeys(name for axes in listed for name in axes)
    return [name for name in names if len({text_of(axes.get(name)) for axes in listed}) > 1]


def text_of(value: Any) -> str:
    """An axis value as text."""
    return "" if value is None else str(value)
