"""One QEMU process: started, watched, ended. Nothing of it is in the file system but its console."""

import contextlib
import os
import select
import signal
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.hosts.base import HostError
from scripts.hosts.guest import boot
from scripts.hosts.guest.control import Control, open_qmp
from scripts.hosts.guest.initramfs import initramfs

TELLING = ("panic", "BUG:", "Oops", "oops", "lockup", "rror", "not found", "annot", "nable to", "blkcampaign:")


class Machine:
    """A running QEMU with its four connections: console (a file), QMP, our agent's port, the rescue agent's port.

    Args:
        configuration: `clock`, `cpus`, `memory_bytes`.
        lab: directory of the lab. manifest: its manifest.
        mark: value of BLK_KEEPER in QEMU's environment. console: file to write the serial console to.

    Raises:
        HostError: QEMU could not be started; the text has what it said.
    """

    def __init__(
        self, configuration: Mapping[str, Any], lab: Path, manifest: Mapping[str, Any], mark: str, console: Path
    ):
        self.console = console
        self.pidfd = -1
        environment = boot.environment(mark)
        kernel, root = lab / manifest["vmlinuz"], lab / manifest["root"]
        ours, theirs = zip(*(socket.socketpair() for _ in range(3)), strict=True)
        self.agent, rescue, qmp = ours
        initrd = -1
        try:
            initrd = initramfs(kernel, root, manifest["kernel"], environment)
            ends = (theirs[0].fileno(), theirs[1].fileno(), theirs[2].fileno())
            command = boot.command(configuration, kernel, root, initrd, ends)
            console.parent.mkdir(parents=True, exist_ok=True)
            with console.open("wb") as output:
                self.process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    pass_fds=[initrd, *ends],
                    start_new_session=True,
                    env=environment,
                    cwd="/",
                )
        except BaseException as error:
            for end in ours:
                end.close()
            if isinstance(error, OSError):
                raise HostError(f"{boot.QEMU} can not be started: {error}") from error
            raise
        finally:
            for end in theirs:
                end.close()
            if initrd >= 0:
                os.close(initrd)
        self.pidfd = os.pidfd_open(self.process.pid)
        self.rescue = Control(rescue, 8)
        try:
            self.qmp = open_qmp(qmp)
        except OSError as error:
            qmp.close()
            self._kill()
            words = self.last_words(f"QEMU did not start ({error})")
            self._close()
            raise HostError(words) from error

    def trouble(self, paused: bool = False) -> str:
        """Empty while the machine is as it should be, else what is wrong.

        Args:
            paused: whether it should be paused.
        """
        if select.select([self.pidfd], [], [], 0)[0]:
            return "the guest died"
        try:
            status = self.qmp.ask("query-status")
        except OSError as error:
            return f"QEMU does not answer ({error})"
        if status.get("running") or (paused and status.get("status") == "paused"):
            return ""
        return f"the guest hangs: it is stopped ({status.get('status')})"

    def qemu_version(self) -> str:
        """Of the QEMU that runs.

        Raises:
            OSError: no answer.
        """
        return "{major}.{minor}.{micro}".format(**self.qmp.ask("query-version")["qemu"])

    def end(self) -> None:
        """Quit, else kill; wait for the end. Idempotent, never raises."""
        if self.pidfd < 0:
            return
        with contextlib.suppress(OSError):
            self.qmp.socket.settimeout(2)
            self.qmp.ask("quit")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(2)
        self._kill()
        self._close()

    def _kill(self) -> None:
        if self.process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def _close(self) -> None:
        for end in (self.agent, self.rescue, *([self.qmp] if hasattr(self, "qmp") else [])):
            end.close()
        os.close(self.pidfd)
        self.pidfd = -1

    def last_words(self, what: str) -> str:
        """`what` with the console's telling lines and where it is kept."""
        lines: list[str] = []
        with contextlib.suppress(OSError):
            lines = [line.strip() for line in self.console.read_text(errors="replace").splitlines() if line.strip()]
        telling = [line for line in lines[-200:] if any(word in line for word in TELLING)]
        words = " | ".join((telling or lines)[-3:])[-500:]
        return f"{what}; console ({self.console}): {words}" if words else what
