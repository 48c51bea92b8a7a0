"""The guest as a host: boot, requests, signs of life, end."""

import contextlib
import json
import os
import select
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.hosts import operations as op
from scripts.hosts.base import DeadlineExceeded, HostError, Wait
from scripts.hosts.channel import Channel
from scripts.hosts.guest import control, environment
from scripts.hosts.guest.machine import Machine
from scripts.hosts.operations import Operation

TRIES = 3  # a two-processor TCG guest panics in about one of 34 boots (a race in text patching)
BOOT_S = 180.0
PULSE_S = 2.0
PING_S = 8.0


def uninterrupted(fds: Sequence[int], timeout_s: float | None) -> list[int]:
    """A `Wait` for the way out, which nothing interrupts."""
    return select.select(fds, [], [], timeout_s)[0]


class GuestHost:
    """A guest booted from a lab.

    Args:
        configuration: `lab` (directory with manifest.json), `clock` (`hardware`, `emulated`, `instructions`; `auto` is
            the first if KVM works here, else the last), `cpus`, `memory_bytes`, `boot_count`.
        mark: value of BLK_KEEPER in the environment of every process of the guest on this machine.
        consoles: folder for the consoles; that of a guest which lived until it was stopped is removed.

    Raises:
        HostError: there is no lab.
    """

    kind = "guest"

    def __init__(self, configuration: Mapping[str, Any], mark: str, consoles: Path):
        self.configuration = {"clock": "auto", "cpus": 2, "memory_bytes": 3 << 30, **configuration}
        self.mark, self.consoles = mark, Path(consoles)
        self.lab = Path(configuration["lab"])
        try:
            self.manifest: dict[str, Any] = json.loads((self.lab / "manifest.json").read_bytes())
        except (OSError, ValueError) as error:
            raise HostError(f"no usable lab at {self.lab}: {error}") from error
        self.machine: Machine | None = None
        self.channel: Channel | None = None
        self.stuck = ""
        self.paused = False
        self.saved: dict[str, str] = {}
        self._facts: dict[str, Any] = {}

    # life

    def start(self, wait: Wait) -> None:
        """Boot, in up to three tries; nothing to do when the guest is alive."""
        if self.alive():
            return
        if self.configuration["clock"] == "auto":
            from scripts.hosts.guest.accelerator import accelerator

            works = accelerator(self.lab / self.manifest["vmlinuz"]).name == "kvm"
            self.configuration["clock"] = "hardware" if works else "instructions"
        reasons = []
        for number in range(1, TRIES + 1):
            try:
                self._boot(number, wait)
                return
            except HostError as error:
                reasons.append(str(error))
                self.stop()
            except BaseException:
                self.stop()
                raise
        raise HostError(f"the guest did not boot in {TRIES} tries: {reasons[-1]}")

    def _boot(self, number: int, wait: Wait) -> None:
        self.stop()
        end = time.monotonic() + BOOT_S
        boots = self.configuration.get("boot_count", 1)
        console = self.consoles / f"{time.strftime('%Y%m%dT%H%M%S')}-{self.mark}-{boots}-{number}.log"
        self.machine = Machine(self.configuration, self.lab, self.manifest, self.mark, console)
        self.channel = Channel(self.machine.agent, [self.machine.pidfd], "the guest died")
        try:
            self.channel.hello(end - time.monotonic(), self._watchful(wait))
            asked = environment.questions()
            results = self.channel.request(asked, "facts", {}, end - time.monotonic(), self._watchful(wait))
        except HostError as error:
            raise HostError(self._last_words(str(error))) from error
        clock = self.configuration["clock"]
        self._facts = environment.answers(results, clock, self.manifest)
        self._facts["boot_count"] = self.configuration.get("boot_count")
        try:
            self._facts["qemu_version"] = self.machine.qemu_version()
            if clock == "hardware" and not self.machine.qmp.ask("query-kvm")["enabled"]:
                raise HostError("QEMU runs without KVM although the clock is `hardware`")
        except OSError as error:
            raise HostError(self._last_words(f"QEMU does not answer ({error})")) from error
        self._rest()

    def stop(self) -> None:
        """End QEMU; nothing of it stays behind. Keeps the console of a guest that did not live to be stopped."""
        machine, self.machine, self.channel = self.machine, None, None
        if machine:
            if not self.stuck and self._facts and not machine.trouble(self.paused):
                machine.console.unlink(missing_ok=True)
            machine.end()
        self.saved, self._facts, self.stuck, self.paused = {}, {}, "", False

    def alive(self) -> bool:
        """Whether the guest can take a request: QEMU runs, its processors do, and the agent is not stuck."""
        return self.machine is not None and not self.stuck and not self.machine.trouble(self.paused)

    # An idle guest whose clock is instructions burns a whole core and its time races ahead; a paused one does neither.

    def _rest(self) -> None:
        if self.machine and self.configuration["clock"] == "instructions":
            with contextlib.suppress(OSError):
                self.machine.qmp.ask("stop")
                self.paused = True

    def _wake(self) -> None:
        if self.machine and self.paused:
            try:
                self.machine.qmp.ask("cont")
            except OSError as error:
                raise HostError(self._last_words(f"the guest died ({error})")) from error
            self.paused = False

    # requests

    def request(
        self, operations: Sequence[Operation], session: str, deadline_s: float, wait: Wait
    ) -> list[dict[str, Any]]:
        """See `Host.request`. A guest that died or was stopped is noticed within `PULSE_S`."""
        if not self.channel:
            raise HostError("the guest is not running")
        self._wake()
        try:
            results = self.channel.request(operations, session, self.saved, deadline_s, self._watchful(wait))
        except DeadlineExceeded:
            raise  # it may still run: no rest before `cancel`
        except HostError as error:
            self.stuck = str(error)
            raise HostError(self._last_words(str(error))) from error
        self._rest()
        return results

    def cancel(self, session: str, daemons: Sequence[str]) -> None:
        """See `Host.cancel`. An agent that is stuck in the kernel is helped by QEMU's guest agent.

        Where that does not help either the host is no longer alive, so that the caller stops it.
        """
        if not self.machine or not self.channel or not self.alive():
            return
        try:
            self._wake()
            self.channel.cancel(session, daemons)
            if self._answers():
                return
            said = control.rescue(self.machine.rescue, control.kill_script(session, daemons))
            if not self._answers():
                self.stuck = f"the agent does not answer, and the rescue did not help: {said}"
        except (HostError, OSError) as error:
            self.stuck = str(error)

    def _answers(self) -> bool:
        assert self.channel
        try:
            self.channel.request([op.read("/proc/uptime")], "ping", {}, PING_S, self._watchful(uninterrupted))
        except DeadlineExceeded:
            return False
        return True

    def _watchful(self, wait: Wait) -> Wait:
        """`wait` that looks at the machine's state every two seconds: a stopped guest sends no sign of its own."""

        def watching(fds: Sequence[int], timeout_s: float | None) -> list[int]:
            end = None if timeout_s is None else time.monotonic() + timeout_s
            while True:
                left = PULSE_S if end is None else min(PULSE_S, end - time.monotonic())
                ready = wait(fds, max(left, 0))
                if ready or (end is not None and time.monotonic() >= end):
                    return ready
                trouble = self.machine.trouble() if self.machine else "the guest is not running"
                if trouble:
                    raise HostError(trouble)

        return watching

    def _last_words(self, what: str) -> str:
        return self.machine.last_words(what) if self.machine else what

    def facts(self) -> Mapping[str, Any]:
        """See `Host.facts`."""
        return {**self._facts, "host_load_average": os.getloadavg()[0]}
