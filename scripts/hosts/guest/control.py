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


def rescue(agent: Control, script: str, timeout_s: float = 8) -> str:
    """Run a shell script in the guest through QEMU's guest agent; its output, or what went wrong. Never raises."""
    try:
        number = time.monotonic_ns() & 0x7FFFFFFF
        agent.file.write(b"\xff")  # empties the guest's parser of half a line
        if agent.ask("guest-sync", id=number) != number:
            return "(guest agent: out of step)"
        pid = agent.ask("guest-exec", path="/bin/sh", arg=["-c", script], **{"capture-output": True})["pid"]
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            status = agent.ask("guest-exec-status", pid=pid)
            if status.get("exited"):
                return base64.b64decode(status.get("out-data", "")).decode(errors="replace")
            time.sleep(0.1)
        return "(guest agent: no end)"
    except (OSError, ValueError, KeyError) as error:
        return f"(guest agent: {error})"


def kill_script(session: str, daemons: Sequence[str]) -> str:
    """Shell text that kills everything with the session's mark: `daemons` (comm names) first, then the rest."""
    marked = f"tr '\\0' '\\n' <$p/environ 2>/dev/null | grep -qx 'BLK_SESSION={session}'"
    names = " ".join(name[:15] for name in daemons)
    one_of = f"""case " {names} " in *" $(cat $p/comm) "*) true;; *) false;; esac"""
    loop = "for p in /proc/[0-9]*; do if {}; then kill -9 ${{p#/proc/}}; fi; done"
    return "; ".join(loop.format(test) for test in (f"{marked} && {one_of}", marked))
