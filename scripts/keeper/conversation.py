"""The keeper's end of one client's connection: arguments in; lines, a reply and its acknowledgement out.

A client sends eight digits and as many bytes: its arguments, separated by NUL. The keeper sends messages that end with
NUL: `s` a line to print, `f` failed, `d` done. The client acknowledges `d` with `ack`, and is told `end`.
"""

import contextlib
import socket

from scripts.hosts.base import Wait


class ClientGone(Exception):
    """The client of the running step died: its step did not happen."""


class Conversation:
    """One connected client."""

    def __init__(self, connection: socket.socket):
        connection.settimeout(10)
        self.connection = connection

    def fileno(self) -> int:
        """For poll()."""
        return self.connection.fileno()

    def arguments(self) -> list[str]:
        """What the client wants; empty when it died or is no client."""
        data = b""
        try:
            while len(data) < 8 or len(data) < 8 + int(data[:8]):
                more = self.connection.recv(1 << 16)
                if not more:
                    return []
                data += more
        except (OSError, ValueError):
            return []
        return data[8:].decode("utf-8", "surrogateescape").split("\0")

    def is_over(self) -> bool:
        """After poll() said there is something: whether that is the end."""
        return not self.connection.recv(16, socket.MSG_PEEK)

    def say(self, text: str, kind: bytes = b"s") -> None:
        """A line for the user; lost where nobody listens any more."""
        with contextlib.suppress(OSError):
            self.connection.sendall(kind + text.replace("\0", " ").encode("utf-8", "replace") + b"\0")

    def done(self, text: str, wait: Wait) -> None:
        """Reply, and wait for the acknowledgement.

        Raises:
            ClientGone: there was none.
        """
        self.say(text, b"d")
        wait([self.fileno()], 60)
        if self.connection.recv(16) != b"ack":
            raise ClientGone
        with contextlib.suppress(OSError):
            self.connection.sendall(b"end")

    def close(self) -> None:
        """Close."""
        self.connection.close()
