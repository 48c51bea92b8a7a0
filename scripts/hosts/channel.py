"""The keeper's end of the agent's port: requests, replies and cancels as JSON lines over a stream socket."""

import contextlib
import itertools
import json
import os
import select
import socket
import time
from collections.abc import Sequence
from typing import Any

from scripts.hosts.base import DeadlineExceeded, HostError, Wait
from scripts.hosts.operations import Operation


class Channel:
    """A connected, non-blocking socket to one agent.

    Args:
        connection: a stream socket whose other end is (or leads to) the agent's port.
        watched: descriptors that become readable when the host dies (a pidfd of QEMU or of the agent).
        died: text of the error to raise when one of `watched` does.
    """

    def __init__(self, connection: socket.socket, watched: Sequence[int] = (), died: str = "the host died"):
        self.socket = connection
        self.socket.setblocking(False)
        self.watched = list(watched)
        self.died = died
        self.buffer = bytearray()
        self.numbers = itertools.count(1)

    def close(self) -> None:
        """Close the socket; the agent takes that as the end."""
        self.socket.close()

    def hello(self, deadline_s: float, wait: Wait) -> dict[str, Any]:
        """Wait for the agent's first line.

        Raises:
            DeadlineExceeded, HostError: as for `request`.
        """
        end = time.monotonic() + deadline_s
        while True:
            message = self._receive(end, wait)
            if "hello" in message:
                return dict(message["hello"])

    def request(
        self,
        operations: Sequence[Operation],
        session: str,
        saved: dict[str, str],
        deadline_s: float,
        wait: Wait,
    ) -> list[dict[str, Any]]:
        """Have operations executed; `saved` is updated with what they stored.

        Raises:
            DeadlineExceeded: no reply after `deadline_s` on this machine's clock; the request may still run.
            HostError: the other end is gone.
        """
        number = next(self.numbers)
        end = time.monotonic() + deadline_s
        self._send({"id": number, "session": session, "saved": saved, "operations": list(operations)}, end, wait)
        while True:
            message = self._receive(end, wait)
            if message.get("id") == number:  # an older one: the reply to a request that was given up
                saved.update(message["saved"])
                return list(message["results"])

    def cancel(self, session: str, daemons: Sequence[str]) -> None:
        """Ask the agent to kill the session's processes, daemons first. Never raises, does not wait."""
        line = json.dumps({"cancel": session, "daemons": list(daemons)}).encode() + b"\n"
        with contextlib.suppress(OSError):
            self.socket.send(line)

    def _send(self, message: dict[str, Any], end: float, wait: Wait) -> None:
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            try:
                data = data[self.socket.send(data) :]
            except BlockingIOError:
                # `wait` watches for input only; a full buffer empties within milliseconds unless the other side hangs
                wait(self.watched, 0.01)
                select.select([], [self.socket], [], 0.05)
            except OSError as error:
                raise HostError(f"{self.died}: {os.strerror(error.errno or 0)}") from error
            if time.monotonic() > end:
                raise DeadlineExceeded("the host does not take a request")

    def _receive(self, end: float, wait: Wait) -> dict[str, Any]:
        seen = 0
        while (end_of_line := self.buffer.find(b"\n", seen)) < 0:
            seen = len(self.buffer)
            left = end - time.monotonic()
            if left <= 0:
                raise DeadlineExceeded("no reply within the deadline")
            ready = wait([self.socket.fileno(), *self.watched], left)
            if self.socket.fileno() in ready:
                try:
                    data = self.socket.recv(1 << 20)
                except BlockingIOError:
                    continue
                except OSError as error:
                    raise HostError(f"{self.died}: {error.strerror}") from error
                if not data:
                    raise HostError(self.died)
                self.buffer += data
            elif ready:
                raise HostError(self.died)
        line = bytes(self.buffer[:end_of_line])
        del self.buffer[: end_of_line + 1]
        return dict(json.loads(line))
