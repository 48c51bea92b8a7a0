"""This machine as a host: the agent runs beside the keeper and executes operations as they are."""

import contextlib
import os
import platform
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.hosts.base import HostError, Wait
from scripts.hosts.channel import Channel
from scripts.hosts.operations import Operation
from scripts.hosts.programs import find, search_path

AGENT = Path(__file__).with_name("agent.py")


def first_line(path: str, default: str = "") -> str:
    """First line of a file, stripped; `default` where it can not be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - called hundreds of times
            return file.readline().strip()
    except OSError:
        return default


def field_of(path: str, name: str) -> str:
    """Value of `name : value` in a file such as /proc/cpuinfo or /proc/meminfo."""
    with contextlib.suppress(OSError):
        for line in Path(path).read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == name:
                return value.strip()
    return ""


def fio_version(fio: str = "fio") -> str:
    """What `fio --version` prints, empty where there is none."""
    program = find(fio)
    if not program:
        return ""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def machine_facts() -> dict[str, Any]:
    """The part of the environment that any machine's kernel tells, in flat form."""
    memory_kib = field_of("/proc/meminfo", "MemTotal").split(" ")[0]
    mitigations = {
        path.name: first_line(str(path)) for path in sorted(Path("/sys/devices/system/cpu/vulnerabilities").glob("*"))
    }
    return {
        "kernel": platform.release(),
        "kernel_version": first_line("/proc/version"),
        "kernel_command_line": first_line("/proc/cmdline"),
        "architecture": platform.machine(),
        "cpu_model": field_of("/proc/cpuinfo", "model name"),
        "cpus": os.cpu_count(),
        "memory_bytes": int(memory_kib) * 1024 if memory_kib.isdigit() else None,
        "governor": first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "turbo": first_line("/sys/devices/system/cpu/intel_pstate/no_turbo"),
        "mitigations": "; ".join(f"{name}: {text}" for name, text in mitigations.items()),
        "boot_id": first_line("/proc/sys/kernel/random/boot_id"),
        "virtualisation": virtualisation(),
    }


def virtualisation() -> str:
    """Name of the hypervisor as far as the machine shows it, or `none`."""
    if "hypervisor" not in field_of("/proc/cpuinfo", "flags").split():
        return "none"
    return first_line("/sys/class/dmi/id/sys_vendor") or "hypervisor"


class LocalHost:
    """The machine the keeper runs on.

    Args:
        mark: value of BLK_KEEPER in the environment of everything started, for the next keeper's sweep.
        on_loss: command the agent executes when this keeper dies (its recovery).
    """

    kind = "local"

    def __init__(self, mark: str, on_loss: Sequence[str] = ()):
        self.mark = mark
        self.on_loss = list(on_loss)
        self.channel: Channel | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.pidfd = -1
        self.saved: dict[str, str] = {}
        self._facts: dict[str, Any] = {}

    def start(self, wait: Wait) -> None:
        """Start the agent; nothing to do when it lives."""
        if self.alive():
            return
        self.stop()
        ours, theirs = socket.socketpair()
        descriptor = theirs.fileno()
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-E", str(AGENT), f"fd:{descriptor}", *self.on_loss],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[descriptor],
            start_new_session=True,
            cwd="/",
            env={**os.environ, "PATH": search_path(), "BLK_KEEPER": self.mark},
        )
        theirs.close()
        self.pidfd = os.pidfd_open(self.process.pid)
        self.channel = Channel(ours, [self.pidfd], "the agent on this machine died")
        self.channel.hello(30, wait)
        if not self._facts:
            self._facts = {**machine_facts(), "fio_version": fio_version(os.environ.get("BLK_FIO", "fio"))}

    def request(
        self, operations: Sequence[Operation], session: str, deadline_s: float, wait: Wait
    ) -> list[dict[str, Any]]:
        """See `Host.request`."""
        if not self.channel:
            raise HostError("the agent on this machine is not running")
        return self.channel.request(operations, session, self.saved, deadline_s, wait)

    def cancel(self, session: str, daemons: Sequence[str]) -> None:
        """See `Host.cancel`."""
        if self.channel:
            self.channel.cancel(session, daemons)

    def stop(self) -> None:
        """Kill the agent: it must not take the closed socket for the keeper's death and recover."""
        if self.process and self.process.poll() is None:
            with contextlib.suppress(OSError):
                self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        if self.channel:
            self.channel.close()
        if self.pidfd >= 0:
            os.close(self.pidfd)
        self.channel, self.process, self.pidfd = None, None, -1
        self.saved = {}

    def alive(self) -> bool:
        """Whether the agent runs."""
        return self.process is not None and self.process.poll() is None

    def facts(self) -> Mapping[str, Any]:
        """See `Host.facts`."""
        return {**self._facts, "load_average": os.getloadavg()[0], "uptime_s": round(time.monotonic(), 1)}
