"""Files of an import -> rows of runs.parquet, and the plan that a comparison needs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scripts.campaign.units import axis_text
from scripts.dataset.imports.described import described, kind_of, text_of, varying_axes
from scripts.dataset.imports.mapping import MappingError, Meaning, Names, options_of
from scripts.dataset.imports.sources import File
from scripts.dataset.latency import Latencies
from scripts.fio.decode import Decoded, Refused, decode
from scripts.fio.evidence import contradiction, fatal_in, requested_of, row_problem
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

    def fail_whole(self) -> None:
        """A run counts as a whole: what its other jobs and directions did is no sample of it."""
        reason = next((row["reason"] for row in self.rows if row["status"] != "ok"), "")
        for row in self.rows if reason else ():
            if row["status"] == "ok":
                row.update(status="failed", reason=f"another part of the run: {reason}")

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
            if folder not in ours:  # else a run directory of this pipeline: what lies beside fio.json is no result
                self.refuse(file.source, reason)

    def refuse(self, source: str, reason: str) -> None:
        """One row that says why there are no figures."""
        self.counts["refused"] += 1
        self.reasons[kind_of(reason)] += 1
        self.refused.append({"source": source, "status": "refused", "reason": reason, "campaign": self.campaign})

    def add(self, file: File, decoded: Decoded, rows: list[dict[str, Any]]) -> None:
        """Rows of one decoded file, each with its status; jobs of a group that have the same axes are one run."""
        words = [text.removeprefix("skipped: ") for text in decoded.warnings if text.startswith("skipped: fio: ")]
        util = disk_util_percent(decoded.document)
        worst, why = "ok", ""
        of_job: dict[int, Group] = {}
        meanings = [
            self.names.of(file.name, row["jobname"] or "", row["options"], row["options_unknown"]) for row in rows
        ]
        for row, meaning in zip(rows, meanings, strict=True):
            columns, requested = self.asked(row["options"], row["options_unknown"])
            reason = (fatal_in(decoded.warnings, requested) if decoded.warnings else "") or row_problem(row, requested)
            if row["error"] and words and words[-1] not in reason:
                reason += f": {words[-1][:300]}"
            status = "failed" if reason else "ok"
            odd = contradiction(row, columns["bs_bytes"]) if status == "ok" else ""
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
        if worst != "ok":
            for group in of_job.values():
                group.fail_whole()
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

    def asked(self, options: Mapping[str, Any], unknown: bool) -> tuple[dict[str, Any], dict[str, Any]]:
        """Columns of what fio was asked for, and the requests that evidence is held against; once for each options.

        From the options alone: what names mean is in `axes`.
        """
        known = self.remembered.get(id(options))
        if known is None or known[0] is not options:
            requested = requested_of(options)
            columns = described(options_of(options, None, not unknown), options, requested)
            known = self.remembered[id(options)] = options, columns, requested
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
            sample = taken[group.meaning.variant, cell] if group.meaning.sample is None else group.meaning.sample
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
            }
            for row in group.rows:
                row.update(place, hostname=group.meaning.host or row["client"])
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
