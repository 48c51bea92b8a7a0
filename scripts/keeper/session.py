"""One device lifetime: load, configure, read back, prefill, run, unload, verified gone."""

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.drivers import registry
from scripts.fio import command, evidence
from scripts.fio.decode import Refused, mapping_of
from scripts.hosts.base import DeadlineExceeded, Host, HostError, Wait
from scripts.hosts.operations import Operation, execute, glob, make_directory, read, read_part, remove_tree
from scripts.keeper import journal
from scripts.keeper.results import LOGS, write_parts

STEP_DEADLINE_S = 180.0
LOG_PART_BYTES = 1 << 20
SLOWDOWN = {"hardware": 2.0, "emulated": 6.0, "instructions": 30.0}
"""How much longer than planned a run may take, by clock: time in a guest is not this machine's."""


class StepFailed(Exception):
    """A step of a session failed; the text is for the user, `evidence` for the record of the failed attempt."""

    def __init__(self, text: str, **evidence: Any):
        super().__init__(text)
        self.evidence = evidence


class Session:
    """The one live device of a host.

    Args:
        run: the run's name; specification: its spec; order: its place in the plan.
        host: started. scratch: directory on the host for fio's output.
    """

    def __init__(self, run: str, specification: Mapping[str, Any], order: Mapping[str, Any], host: Host, scratch: str):
        self.run, self.specification, self.order = run, specification, order
        self.host, self.scratch = host, scratch
        self.id = uuid.uuid4().hex[:16]
        self.driver = registry.driver(specification["driver"])
        self.device: Mapping[str, Any] = specification["device"]
        self.steps_s: dict[str, float] = {}
        self.described: dict[str, Any] = {}
        self.prep: dict[str, Any] | None = None
        self.warnings: list[str] = []
        self.clock = str(host.facts().get("clock", "hardware"))
        self.dirty = False  # something was made and is not verified gone
        self.measured: dict[str, bytes] = {}
        self.logs: dict[str, str] = {}
        self.driver_environment: dict[str, Any] = {}

    def execute(
        self, step: str, operations: Sequence[Operation], wait: Wait, deadline_s: float = STEP_DEADLINE_S
    ) -> list[dict[str, Any]]:
        """One request to the host; the operations' results.

        Raises:
            StepFailed: an operation failed, or the deadline passed (then the session's processes are killed).
        """
        if not operations:
            return []
        start = time.monotonic()
        try:
            results = self.host.request(operations, self.id, deadline_s, wait)
        except DeadlineExceeded as error:
            self.host.cancel(self.id, self.driver.DAEMONS)
            raise StepFailed(f"{step}: not done after {deadline_s:.0f} s; killed") from error
        except HostError as error:
            raise StepFailed(f"{step}: {error}") from error
        finally:
            self.steps_s[step] = round(self.steps_s.get(step, 0) + time.monotonic() - start, 4)
        if not results[-1]["ok"] and (
            len(results) < len(operations) or not operations[len(results) - 1].get("optional")
        ):
            raise StepFailed(f"{step}: {results[-1]['error']}")
        return results

    def undo(self) -> tuple[list[Operation], list[Operation]]:
        """Operations that remove the device, and that verify it."""
        return list(self.driver.destroy(self.device)), list(self.driver.gone(self.device))

    def prepare(self, wait: Wait) -> dict[str, Any]:
        """Make the device, read it back, prefill it; the session file's content."""
        destroy, gone = self.undo()
        # Before anything is made or written down: what is here already is somebody else's and must not be torn down.
        try:
            self.execute("vacant", gone, wait)
        except StepFailed as error:
            text = str(error).removeprefix("vacant: ")
            raise StepFailed(f"not free: {text}; it is not ours, so it is left alone") from error
        journal.append(
            {
                "event": "open",
                "session": self.id,
                "run": self.run,
                "host": getattr(self.host, "kind", "guest"),
                "destroy": destroy,
                "gone": gone,
                "daemons": list(self.driver.DAEMONS),
            }
        )
        self.dirty = True
        self.execute("create", self.driver.create(self.device), wait)
        results = self.execute("describe", self.driver.readback(self.device), wait)
        readings = {r["label"]: r["output"] for r in results if r["ok"] and r.get("label")}
        description = self.driver.describe(self.device, readings)
        mismatches = [str(mismatch) for mismatch in description.mismatches]
        self.described = {
            "requested": dict(self.device),
            "read_back": dict(description.parameters),
            "mismatches": mismatches,
        }
        self.driver_environment = dict(description.environment)
        if mismatches:
            raise StepFailed("the device is not what was asked for: " + "; ".join(mismatches), device=self.described)
        self.prefill(wait)
        if command.writes(self.specification["workload"]):
            self.execute("reset", self.driver.reset(self.device), wait)
        return {
            "format": 1,
            "run": self.run,
            "session": self.id,
            "boot_id": self.host.facts().get("boot_id"),
            "device": self.described,
            "environment": self.driver_environment,
        }

    def extra_options(self) -> dict[str, Any]:
        """fio options a driver adds to every command."""
        options: Callable[[Mapping[str, Any]], dict[str, Any]] | None = getattr(self.driver, "fio_options", None)
        return options(self.device) if options else {}

    def prefill(self, wait: Wait) -> None:
        """Write the device once with fio, or, without prep, touch its backing store where the driver wants that."""
        prep = self.specification["prep"]
        if prep is None:
            fill = getattr(self.driver, "prefill", None)
            self.execute("prep", fill(self.device) if fill else [], wait, STEP_DEADLINE_S * 4)
            return
        output = f"{self.scratch}/prep.json"
        argv = command.prep_argv(command.with_own(prep, self.extra_options()), self.driver.node(self.device), output)
        size = int(self.device.get("size_bytes") or 1 << 30)
        raw, result = self.fio("prep", argv, output, wait, 300 + size / 1e6)
        requested = {"prefill_bytes": command.requested_prep_bytes(self.device)}
        verdict = evidence.judge(raw, result.get("exit_code"), result.get("stderr", ""), requested)
        self.prep = {
            "argv": argv,
            "exit_code": result.get("exit_code"),
            "stderr": result.get("stderr", ""),
            "requested_bytes": requested["prefill_bytes"],
            "fio": None,
        }
        with contextlib.suppress(Refused):
            self.prep["fio"] = mapping_of(raw)
        if verdict.status != "ok":
            raise StepFailed(f"prep: {verdict.reason or result.get('error')}", prep=self.prep, device=self.described)

    def fio(
        self, step: str, argv: list[str], output: str, wait: Wait, deadline_s: float
    ) -> tuple[bytes, dict[str, Any]]:
        """Run fio; its output file's bytes and the result of the operation."""
        operations = [
            remove_tree(output),
            execute(*argv, optional=True),
            read(output, optional=True),
            remove_tree(output, optional=True),
        ]
        results = self.execute(step, operations, wait, deadline_s)
        ran = results[1]
        if "exit_code" not in ran:
            raise StepFailed(f"{step}: {ran['error']}")
        raw = results[2]["output"] if len(results) > 2 and results[2]["ok"] else ""
        return raw.encode("utf-8", "surrogateescape"), ran

    def measure(self, run_directory: Path, wait: Wait) -> tuple[evidence.Verdict, bytes, dict[str, Any], str]:
        """Run fio; (verdict, fio's JSON, run.json's content, fio's stderr). Its log files go to `run_directory`."""
        workload = command.with_own(self.specification["workload"], self.extra_options())
        output = f"{self.scratch}/fio.json"
        argv = command.argv(workload, self.driver.node(self.device), output)
        planned = float(workload.get("runtime_s", 120)) + float(workload.get("ramp_time_s", 0))
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        start = time.monotonic()
        logs = str(PurePosixPath(command.log_prefix(output)).parent) if command.writes_logs(workload) else ""
        if logs:
            self.execute("fio", [remove_tree(logs, optional=True), make_directory(logs)], wait)
        raw, result = self.fio("fio", argv, output, wait, 120 + planned * SLOWDOWN.get(self.clock, 2.0))
        wall = time.monotonic() - start
        if logs:
            self.take_logs(logs, run_directory, wait)
        stderr = result.get("stderr", "")
        verdict = evidence.judge(raw, result.get("exit_code"), stderr, workload)
        ran = {
            "argv": argv,
            "exit_code": result.get("exit_code"),
            "stderr": stderr,
            "wall_s": round(wall, 4),
            "started_at": started,
        }
        return verdict, raw, self.record(ran, verdict.warnings), stderr

    def take_logs(self, folder: str, run_directory: Path, wait: Wait) -> None:
        """fio's log files, as they are, from the host; part by part, since they can be larger than our memory."""
        paths = self.execute("logs", [glob(f"{folder}/*")], wait)[0]["output"].split("\n")
        for path in filter(None, paths):
            name = f"{LOGS}/{PurePosixPath(path).name}"
            try:
                self.logs[name] = write_parts(run_directory / name, self.parts(path, wait))
            except OSError as error:
                raise StepFailed(f"{run_directory / name}: {error.strerror}") from error
        self.execute("logs", [remove_tree(folder)], wait)

    def parts(self, path: str, wait: Wait) -> Iterator[bytes]:
        """Content of a file on the host."""
        offset = 0
        while True:
            found = self.execute("logs", [read_part(path, offset, LOG_PART_BYTES)], wait)[0]["output"]
            data = found.encode("utf-8", "surrogateescape")
            yield data
            offset += len(data)
            if len(data) < LOG_PART_BYTES:
                return

    def record(self, fio: Mapping[str, Any] | None, warnings: Sequence[str] = ()) -> dict[str, Any]:
        """run.json's content, format 1."""
        facts = dict(self.host.facts())
        order = {key: self.order.get(key) for key in ("round", "block", "position", "seed")}
        clock: dict[str, Any] = {"name": self.clock}
        if self.clock == "instructions":
            clock["instructions_per_guest_second"] = facts.get("instructions_per_guest_second")
        import socket

        return {
            "format": 1,
            "run": self.run,
            "protocol": self.specification["protocol"],
            "spec": dict(self.specification),
            "session": {
                "id": self.id,
                "host": socket.gethostname(),
                "host_kind": getattr(self.host, "kind", "guest"),
                "boot_id": facts.get("boot_id"),
                "boot_count": facts.get("boot_count"),
                "snakemake_timers": self.order.get("snakemake_timers"),
            },
            "order": order,
            "fio": fio,
            "prep": self.prep,
            "device": self.described,
            "clock": clock,
            "environment": {**facts, **self.driver_environment},
            "steps_s": dict(self.steps_s),
            "warnings": [*self.warnings, *warnings],
        }

    def tear_down(self, wait: Wait) -> None:
        """Remove the device and verify it, whatever state it is in. Idempotent.

        Raises:
            StepFailed: something is left; the text names it.
        """
        if not self.dirty:
            return
        destroy, gone = self.undo()
        failure: StepFailed | None = None
        for _ in range(3):
            try:
                self.execute("destroy", destroy, wait, 60)
                self.execute("gone", gone, wait, 60)
                self.dirty = False
                with contextlib.suppress(OSError):
                    journal.append({"event": "gone", "session": self.id})
                return
            except StepFailed as error:
                failure = error
                if not self.host.alive():
                    break
                self.host.cancel(self.id, self.driver.DAEMONS)
        raise failure or StepFailed("the host died")

    def host_is_gone(self) -> None:
        """The guest was destroyed: so is everything in it."""
        self.dirty = False
        with contextlib.suppress(OSError):
            journal.append({"event": "gone", "session": self.id})
