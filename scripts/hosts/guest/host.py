"""The guest as a host: boot, requests, signs of life, end."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.hosts import operations as op
from scripts.hosts.base import DeadlineExceeded, HostError, Wait
from scripts.hosts.channel import Channel
from scripts.hosts.guest import boot, sockets
from scripts.hosts.operations import Operation

TRIES = 3  # a two-processor TCG guest panics in about one of 34 boots (a race in text patching)
BOOT_S = 180
PULSE_S = 2.0


class GuestHost:
    """A guest booted from a lab.

    Args:
        configuration: `lab` (directory with manifest.json), `clock`, `cpus`, `memory_bytes`, `boot_count`.
        mark: value of BLK_KEEPER in the environment of every process of the guest on this machine.
        consoles: folder where the consoles of dead guests are kept.
    """

    kind = "guest"

    def __init__(self, configuration: Mapping[str, Any], mark: str, consoles: Path):
        self.configuration, self.mark, self.consoles = dict(configuration), mark, consoles
        self.lab = Path(configuration["lab"])
        self.manifest: dict[str, Any] = json.loads((self.lab / "manifest.json").read_bytes())
        self.directory: Path | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.channel: Channel | None = None
        self.qmp: sockets.JsonLines | None = None
        self.pidfd = -1
        self.vigil = -1
        self.saved: dict[str, str] = {}
        self._facts: dict[str, Any] = {}

    # life

    def start(self, wait: Wait) -> None:
        """Boot; up to three tries."""
        if self.alive():
            return
        reasons = []
        for _ in range(TRIES):
            try:
                self._boot(wait)
                return
            except HostError as error:
                reasons.append(str(error))
                self.stop()
            except BaseException:
                self.stop()
                raise
        raise HostError(f"the guest did not boot in {TRIES} tries: {reasons[-1]}")

    def _boot(self, wait: Wait) -> None:
        from scripts.keeper import runtime

        self.stop()
        self.directory = runtime.directory() / f"guest-{self.mark}"
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(mode=0o700)
        boot.write_share(self.directory)
        self._start_vigil()
        root = self.lab / self.manifest["root"]
        kernel = self.lab / self.manifest["vmlinuz"]
        command = boot.command(self.configuration, kernel, root, self.directory)
        with (self.directory / "console").open("wb") as console, (self.directory / "output").open("wb") as output:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=console,
                start_new_session=True,
                env=boot.environment(self.mark),
                cwd="/",
            )
        end = time.monotonic() + BOOT_S
        agent = self._connect("agent.sock", end, wait)
        pid = int((self.directory / "qemu.pid").read_text())
        try:
            self.pidfd = os.pidfd_open(pid)
        except OSError as error:
            raise HostError(self._last_words("QEMU ended")) from error
        self.channel = Channel(agent, [self.pidfd], "the guest died")
        self.qmp = sockets.open_qmp(self.directory / "qmp.sock")
        try:
            self.channel.hello(end - time.monotonic(), self._watchful(wait))
        except HostError as error:
            raise HostError(self._last_words(str(error))) from error
        self._learn(wait)

    def _start_vigil(self) -> None:
        read_end, self.vigil = os.pipe2(os.O_CLOEXEC)
        script = Path(__file__).with_name("vigil.py")
        environment = {k: v for k, v in os.environ.items() if k != "BLK_KEEPER"}
        subprocess.Popen(
            [sys.executable, "-B", str(script), str(read_end), f"BLK_KEEPER={self.mark}", str(self.directory)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[read_end],
            start_new_session=True,
            env=environment,
            cwd="/",
        )
        os.close(read_end)

    def _connect(self, name: str, end: float, wait: Wait) -> socket.socket:
        assert self.directory and self.process
        while time.monotonic() < end:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.connect(str(self.directory / name))
                return connection
            except OSError:
                connection.close()
            if self.process.poll() is not None:
                raise HostError(self._last_words(f"vng ended with code {self.process.returncode}"))
            wait([], 0.1)
        raise HostError(self._last_words("QEMU did not start"))

    def stop(self) -> None:
        """End QEMU; nothing of it stays behind. Keeps the console of a guest that did not live to be stopped."""
        from scripts.keeper.process import kill_marked

        dead = self.process is not None and not self.alive()
        if self.qmp:
            with contextlib.suppress(OSError, ValueError):
                self.qmp.socket.settimeout(2)
                self.qmp.ask("quit")
            self.qmp.close()
        if self.channel:
            self.channel.close()
        if self.process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(3 if not dead else 0.5)
            kill_marked(f"BLK_KEEPER={self.mark}")
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if self.pidfd >= 0:
            os.close(self.pidfd)
        if dead:
            self._keep_console()
        if self.directory:
            shutil.rmtree(self.directory, ignore_errors=True)
        if self.vigil >= 0:
            os.close(self.vigil)
        self.process, self.channel, self.qmp, self.pidfd, self.vigil = None, None, None, -1, -1
        self.saved, self._facts = {}, {}

    def alive(self) -> bool:
        """Whether QEMU runs and its processor is not stopped."""
        if not self.channel or self.pidfd < 0:
            return False
        import select

        if select.select([self.pidfd], [], [], 0)[0]:
            return False
        return self._pulse() == ""

    def _pulse(self) -> str:
        """Empty while the machine runs, else what is wrong."""
        if not self.qmp:
            return "no QMP connection"
        try:
            status = self.qmp.ask("query-status")
        except (OSError, ValueError) as error:
            return f"QEMU does not answer ({error})"
        return "" if status.get("running") else f"the guest is stopped ({status.get('status')})"

    # requests

    def request(
        self, operations: Sequence[Operation], session: str, deadline_s: float, wait: Wait
    ) -> list[dict[str, Any]]:
        """See `Host.request`."""
        if not self.channel:
            raise HostError("the guest is not running")
        try:
            return self.channel.request(operations, session, self.saved, deadline_s, self._watchful(wait))
        except DeadlineExceeded:
            raise
        except HostError as error:
            raise HostError(self._last_words(str(error))) from error

    def cancel(self, session: str, daemons: Sequence[str]) -> None:
        """See `Host.cancel`. An agent that is stuck in the kernel is helped by QEMU's guest agent."""
        if not self.channel or not self.alive():
            return
        from scripts.keeper.server import Keeper

        self.channel.cancel(session, daemons)
        try:
            self.channel.request([op.read("/proc/uptime")], "ping", {}, 10, Keeper.plain_wait)
        except (HostError, OSError):
            assert self.directory
            mark = f"BLK_SESSION={session}"
            kill = (
                'for p in /proc/[0-9]*; do if tr "\\0" "\\n" <$p/environ 2>/dev/null | grep -qx "$MARK"; '
                'then kill -9 "${p#/proc/}"; fi; done'
            )
            names = "; ".join(f"pkill -9 -x {name}" for name in daemons) or ":"
            sockets.rescue(self.directory / "rescue.sock", f"MARK={mark}; {names}; {kill}")

    def _watchful(self, wait: Wait) -> Wait:
        """`wait` that looks at the machine's state every two seconds: a stopped guest sends no sign of its own."""

        def watching(fds: Sequence[int], timeout_s: float | None) -> list[int]:
            end = None if timeout_s is None else time.monotonic() + timeout_s
            while True:
                left = PULSE_S if end is None else min(PULSE_S, end - time.monotonic())
                ready = wait(fds, max(left, 0))
                if ready or (end is not None and time.monotonic() >= end):
                    return ready
                if wrong := self._pulse():
                    raise HostError(wrong)

        return watching

    # evidence

    def _console(self) -> str:
        try:
            return (self.directory / "console").read_text(errors="replace") if self.directory else ""
        except OSError:
            return ""

    def _last_words(self, what: str) -> str:
        lines = [line.strip() for line in self._console().splitlines() if line.strip()]
        telling = [line for line in lines if any(w in line for w in ("panic", "BUG", "Oops", "rror", "not found"))]
        words = " | ".join((telling or lines)[-3:])
        return f"{what}; console: {words[-500:]}" if words else what

    def _keep_console(self) -> None:
        text = self._console()
        if text:
            with contextlib.suppress(OSError):
                self.consoles.mkdir(parents=True, exist_ok=True)
                name = f"{time.strftime('%Y%m%dT%H%M%S')}-{self.mark}-{self.configuration.get('boot_count', 1)}.log"
                (self.consoles / name).write_text(text)

    def _learn(self, wait: Wait) -> None:
        reads = {
            "kernel": op.read("/proc/sys/kernel/osrelease"),
            "kernel_version": op.read("/proc/version"),
            "kernel_command_line": op.read("/proc/cmdline"),
            "boot_id": op.read("/proc/sys/kernel/random/boot_id"),
            "cpuinfo": op.read("/proc/cpuinfo"),
            "meminfo": op.read("/proc/meminfo"),
            "fio_version": op.execute("fio", "--version"),
        }
        results = self.request(list(reads.values()), "facts", 120, wait)
        if len(results) != len(reads) or not results[-1]["ok"]:
            raise HostError(f"the guest's facts: {results[-1]['error']}")
        found = {name: result["output"].strip() for name, result in zip(reads, results, strict=True)}
        cpuinfo, meminfo = found.pop("cpuinfo"), found.pop("meminfo")
        clock = self.configuration["clock"]
        self._facts = {
            **found,
            "cpu_model": next((x.split(":")[1].strip() for x in cpuinfo.splitlines() if "model name" in x), ""),
            "cpus": cpuinfo.count("processor\t"),
            "memory_bytes": int(meminfo.split()[1]) * 1024,
            "virtualisation": "qemu",
            "accelerator": "KVM"
            if clock == "hardware"
            else "QEMU TCG" + (" -icount" if clock == "instructions" else ""),
            "clock": clock,
            "lab": self.manifest.get("key", ""),
            "boot_count": self.configuration.get("boot_count"),
            **{
                f"{name}_version": p.get("version")
                for name, p in self.manifest.get("programs", {}).items()
                if name != "fio"
            },
            **{
                f"{name}_build": p.get("build")
                for name, p in self.manifest.get("programs", {}).items()
                if p.get("build")
            },
        }
        if clock == "instructions":
            self._facts["instructions_per_guest_second"] = boot.INSTRUCTIONS_PER_GUEST_SECOND

    def facts(self) -> Mapping[str, Any]:
        """See `Host.facts`."""
        return {**self._facts, "host_load_average": os.getloadavg()[0]}
