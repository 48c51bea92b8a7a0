"""QEMU's two control sockets: QMP (the machine's state) and the guest agent (rescue when our own agent is stuck)."""

import contextlib
import json
import socket
import time
from pathlib import Path
from typing import Any


class JsonLines:
    """A unix socket with one JSON document a line."""

    def __init__(self, path: Path, timeout_s: float):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout_s)
        self.socket.connect(str(path))
        self.file = self.socket.makefile("rwb")

    def ask(self, command: str, **arguments: Any) -> Any:
        """Send a command, return its `return`; events are skipped.

        Raises:
            OSError: no answer in time, an error, or the other end is gone.
        """
        message: dict[str, Any] = {"execute": command}
        if arguments:
            message["arguments"] = arguments
        self.file.write(json.dumps(message).encode() + b"\n")
        self.file.flush()
        while line := self.file.readline():
            reply = json.loads(line.lstrip(b"\xff"))
            if "return" in reply:
                return reply["return"]
            if "error" in reply:
                raise OSError(str(reply["error"].get("desc")))
        raise OSError("closed")

    def close(self) -> None:
        """Close."""
        with contextlib.suppress(OSError):
            self.file.close()
        self.socket.close()


def open_qmp(path: Path, timeout_s: float = 5) -> JsonLines:
    """A QMP connection, ready for commands."""
    qmp = JsonLines(path, timeout_s)
    qmp.file.readline()  # greeting
    qmp.ask("qmp_capabilities")
    return qmp


def rescue(path: Path, script: str, timeout_s: float = 8) -> str:
    """Run a shell script in the guest through QEMU's guest agent; its output, or what went wrong. Never raises."""
    try:
        agent = JsonLines(path, timeout_s)
    except OSError as error:
        return f"(guest agent: {error})"
    try:
        agent.ask("guest-sync", id=int(time.time()))
        arguments: dict[str, Any] = {"path": "/bin/sh", "arg": ["-c", script], "capture-output": True}
        pid = agent.ask("guest-exec", **arguments)["pid"]
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            status = agent.ask("guest-exec-status", pid=pid)
            if status.get("exited"):
                import base64

                return base64.b64decode(status.get("out-data", "")).decode(errors="replace")
            time.sleep(0.1)
        return "(guest agent: no end)"
    except (OSError, ValueError, KeyError) as error:
        return f"(guest agent: {error})"
    finally:
        agent.close()
