"""Run directories -> rows: what fio wrote, what run.json knows about it, and what the plan says of its place."""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from scripts.dataset.latency import Latencies
from scripts.dataset.logs import LogSet
from scripts.fio.decode import Decoded, Refused, decode
from scripts.fio.histograms import bins_of
from scripts.fio.job_options import options_for
from scripts.fio.logs import layout_of, log_name, writer_of
from scripts.fio.rows import disk_util_percent, jobs_of, rows_of
from scripts.fio.version import parse_version
from scripts.keeper.results import unload_of


class Session(msgspec.Struct):
    """`session` of run.json."""

    host: str | None = None
    host_kind: str | None = None
    boot_id: str | None = None


class Specification(msgspec.Struct):
    """`spec` of run.json."""

    workload: dict[str, Any] = {}
    environment: dict[str, Any] = {}
    prep: dict[str, Any] | None = None


class RunFile(msgspec.Struct):
    """The part of run.json that becomes columns."""

    session: Session = msgspec.field(default_factory=Session)
    spec: Specification = msgspec.field(default_factory=Specification)
    clock: dict[str, Any] = {}
    environment: dict[str, Any] = {}
    order: dict[str, Any] = {}
    warnings: list[str] = []


RUN_DECODER = msgspec.json.Decoder(RunFile)


class Batch:
    """Rows and environment of one campaign.

    Args:
        work: directory that has results/. plan: plan.json, parsed.
    """

    def __init__(self, work: Path, plan: Mapping[str, Any]):
        self.work, self.plan = work, plan
        self.rows: list[dict[str, Any]] = []
        self.environment: list[tuple[str, str, str]] = []
        self.unloads: list[bytes] = []
        self.counts = {"ok": 0, "failed": 0, "refused": 0}
        self.reasons: dict[str, int] = {}
        self.latencies = Latencies()
        self.logged: list[tuple[str, str, Decoded]] = []

    def read(self) -> None:
        """Read every run of the plan."""
        base = f"{self.work}/results/runs/"
        for entry in self.plan["runs"]:
            directory = base + entry["run"]
            unload = unload_of(directory)
            if unload is None:
                self.lost(entry)
                continue
            self.unloads.append(unload)
            with open(f"{directory}/fio.json", "rb") as file:  # noqa: PTH123 - 9,600 times
                raw = file.read()
            with open(f"{directory}/run.json", "rb") as file:  # noqa: PTH123
                record = RUN_DECODER.decode(file.read())
            common = self.common(entry) | self.recorded(record)
            common["source"] = f"results/runs/{entry['run']}/fio.json"
            for name, value in record.environment.items():
                self.environment.append((entry["run"], name, "" if value is None else str(value)))
            self.add(raw, common, record)

    def add(self, raw: bytes, common: dict[str, Any], record: RunFile) -> None:
        """Rows of one counted run."""
        try:
            decoded = decode(raw)
            rows = list(rows_of(decoded))
            if not rows:
                raise Refused("fio's document has no jobs")
        except Refused as error:
            self.count("refused", str(error))
            self.rows.append({**common, "status": "refused", "reason": str(error)})
            return
        self.count("ok", "")
        if any(name.endswith("_log") for name in rows[0]["options"]):
            self.logged.append((common["run"], common["source"].removesuffix("fio.json") + "logs", decoded))
        per_second = record.clock.get("instructions_per_guest_second")
        total = sum(row.get("total_ios") or 0 for row in rows)
        common["disk_util_percent"] = disk_util_percent(decoded.document)
        ours: list[dict[str, Any]] = []
        for row in rows:
            merged = {**row, **common, "status": "ok"}
            merged["warnings"] = [*record.warnings, *decoded.warnings, *row["warnings"]]
            if per_second and total and row.get("runtime_ms"):
                # all directions share the processor: the time is spent on all I/Os together
                merged["instructions_per_io"] = per_second * row["runtime_ms"] / 1000 / total
            ours.append(merged)
        self.rows += ours
        if decoded.has_bins():
            for bins in bins_of(decoded):
                of_job = [row for row in ours if row["job_index"] == bins.job_index]
                self.latencies.add(common["run"], common["source"], bins, partial(warn, of_job))

    def write_logs(self, logs: LogSet) -> None:
        """Log files of all runs that have some; one that is not what its job's options say is said, and left out."""
        for run, folder, decoded in self.logged:
            jobs = [(job.jobname, options_for(decoded.document, job)[0]) for job in jobs_of(decoded.document)]
            for path in sorted((self.work / folder).glob("*.log*")):
                name = log_name(path.name)
                options = writer_of(name, jobs) if name else None
                try:
                    if not name or options is None:
                        raise Refused("no job of this run wrote it")
                    layout = layout_of(name, options, parse_version(decoded.document.version))
                    with path.open("rb") as data:
                        said = logs.add(run, f"{folder}/{path.name}", name, layout, data)
                except Refused as error:
                    said = [str(error)]
                except OSError as error:
                    said = [f"can not be read: {error.strerror}"]
                self.warn(run, [f"log {path.name}: {text}" for text in said])

    def warn(self, run: str, warnings: list[str]) -> None:
        """Said at the end, and kept with the run."""
        for warning in warnings:
            self.reasons[warning] = self.reasons.get(warning, 0) + 1
        for row in self.rows if warnings else ():
            if row["run"] == run:
                row["warnings"] = [*row["warnings"], *warnings]

    def common(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """What the plan says."""
        axes = entry["axes"]
        return {
            "campaign": self.plan["campaign"],
            "baseline": self.plan["baseline"],
            "seed": self.plan["seed"],
            **{k: entry[k] for k in ("run", "variant", "cell", "workload", "sample", "round", "block", "position")},
            "axes": {name: text_of(value) for name, value in axes.items()},
            "prep": axes.get("prep"),
        }

    def recorded(self, record: RunFile) -> dict[str, Any]:
        """What run.json says."""
        workload = record.spec.workload
        runtime = workload.get("runtime_s")
        environment = json.dumps(record.spec.environment, sort_keys=True)
        return {
            "boot_id": record.session.boot_id,
            "hostname": record.session.host,
            "host_kind": record.session.host_kind,
            "clock": record.clock.get("name"),
            "environment_id": hashlib.sha256(environment.encode()).hexdigest()[:12],
            "rw": workload.get("rw"),
            "bs_bytes": workload.get("bs_bytes", 4096),
            "iodepth": workload.get("iodepth", 1),
            "numjobs": workload.get("numjobs", 1),
            "ioengine": workload.get("ioengine", "psync"),
            "requested_runtime_s": None if runtime is None else float(runtime),
            "size_bytes": workload.get("size_bytes"),
            "io_size_bytes": workload.get("io_size_bytes"),
            "direct": bool(workload.get("direct", False)),
        }

    def lost(self, entry: Mapping[str, Any]) -> None:
        """A planned run without a result: a row with the reason of its newest failed attempt."""
        reason = "not measured"
        attempts = sorted(
            (self.work / "results" / "failed" / entry["run"]).glob("*/run.json"), key=lambda p: p.stat().st_mtime
        )
        for path in attempts[-1:]:
            with contextlib.suppress(OSError, ValueError):
                reason = str(json.loads(path.read_bytes()).get("reason") or reason)
        self.count("failed", reason)
        self.rows.append({**self.common(entry), "status": "failed", "reason": reason, "warnings": []})

    def count(self, status: str, reason: str) -> None:
        """Numbers for the line at the end."""
        self.counts[status] += 1
        if reason:
            self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def environment_columns(self) -> Iterator[dict[str, str]]:
        """Rows of environment.parquet."""
        for run, name, value in self.environment:
            yield {"run": run, "name": name, "value": value}


def text_of(value: Any) -> str:
    """An axis value as text; booleans as in YAML."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def warn(rows: list[dict[str, Any]], text: str) -> None:
    """Say something with rows."""
    for row in rows:
        row["warnings"].append(text)
