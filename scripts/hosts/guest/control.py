"""QEMU's two control channels: QMP (the machine's state) and its guest agent (rescue when our own agent is stuck)."""

import base64
import contextlib
import json
import socket
import time
from collections.abc import Sequence
from typing import Any


class Control:
    """A connected stream socket that speaks QEMU's JSON, one document a line.

    Args:
        connection: the socket. timeout_s: how long an answer may take; QEMU's are a matter of milliseconds.
    """

    def __init__(self, connection: socket.socket, timeout_s: float):
        self.socket = connection
        self.socket.settimeout(timeout_s)
        self.file = connection.makefile("rwb")
        self.broken = ""

    def ask(self, command: str, **arguments: Any) -> Any:
        """Send a command, return its `return`; events and late answers to nobody are skipped.

        Raises:
            OSError: no answer in time (then no further question is possible), an error, or the other end is gone.
        """
        if self.broken:
            raise OSError(self.broken)
        message: dict[str, Any] = {"execute": command}
        if arguments:
            message["arguments"] = arguments
        try:
            self.file.write(json.dumps(message).encode() + b"\n")
            self.file.flush()
            while line := self.file.readline():
                reply = json.loads(line.lstrip(b"\xff"))
                if "return" in reply:
                    return reply["return"]
                if "error" in reply:
                    break
            else:
                raise OSError("the connection is closed")
        except (OSError, ValueError) as error:
            self.broken = f"{command}: {error}"
            raise OSError(self.broken) from error
        raise OSError(f"{command}: {reply['error'].get('desc')}")

    def close(self) -> None:
        """Close."""
        with contextlib.suppress(OSError):
            self.file.close()
        self.socket.close()


def open_qmp(connection: socket.socket, timeout_s: float = 5) -> Control:
    """QMP on a fresh connection, ready for commands.

    Raises:
        OSError: QEMU does not greet.
    """
    qmp = Control(connection, timeout_s)
    if not qmp.file.readline():  # the greeting
        raise OSError("QEMU ended before it answered")
    qmp.ask("qmp_capabilities")
    return qmp


def rescue(agent: Control, script: str, timeout_s: float = 15) -> str:
    """Run Python in the guest through QEMU's guest agent; its output, or what went wrong. Never raises.

    Not a shell: each program that one starts takes 50 ms under emulation, for every process of the guest.
    """
    try:
        number = time.monotonic_ns() & 0x7FFFFFFF
        if agent.ask("guest-sync", id=number) != number:
            return "(guest agent: out of step)"
        argv = ["-S", "-E", "-c", f"import sys; sys.path.insert(0, '/run/blk'); {script}"]
        arguments: dict[str, Any] = {"path": "/usr/bin/python3", "arg": argv, "capture-output": True}
        pid = agent.ask("guest-exec", **arguments)["pid"]
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            status = agent.ask("guest-exec-status", pid=pid)
            if status.get("exited"):
                said = base64.b64decode(status.get("err-data", "")) + base64.b64decode(status.get("out-data", ""))
                return said.decode(errors="replace").strip()
            time.sleep(0.1)
        return "(guest agent: no end)"
    except (OSError, ValueError, KeyError) as error:
        return f"(guest agent: {error})"


def kill_script(session: str, daemons: Sequence[str]) -> str:
    """Python that kills everything with the session's mark in a guest: `daemons` first, as the agent itself would."""
    return f"import marks; marks.kill_marked({f'BLK_SESSION={session}'.encode()!r}, {list(daemons)!r})"
