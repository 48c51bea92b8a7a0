"""The interface of a host: a place that executes operations, one request at a time."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from scripts.hosts.operations import Operation

Wait = Callable[[Sequence[int], float | None], list[int]]
"""`wait(fds, timeout_s)` -> readable descriptors ([] on timeout). Raises when the keeper must let go at once."""

Result = Mapping[str, Any]
"""One operation's outcome: `ok`, `output`, `error`, `exit_code` (exec only), `stderr` (exec only), `seconds`."""


class HostError(Exception):
    """The host failed, not the operation: it died, hangs, or could not be started. The text names the evidence."""


class DeadlineExceeded(HostError):
    """A request took longer than its deadline on this machine's clock."""


class Host(Protocol):
    """A place to execute operations. Only the keeper's single thread calls it."""

    def start(self, wait: Wait) -> None:
        """Make the host ready for requests (boot the guest); nothing to do when it is.

        Raises:
            HostError: it can not be started; the text says why and where the console is kept.
        """

    def request(
        self, operations: Sequence[Operation], session: str, deadline_s: float, wait: Wait
    ) -> list[dict[str, Any]]:
        """Execute operations in order; stop at the first failure (its result is the last one returned).

        Every process started carries `BLK_SESSION=<session>` in its environment.

        Raises:
            DeadlineExceeded: `deadline_s` of host time passed. The operation may still run: call `cancel`.
            HostError: the host died or hangs.
        """

    def cancel(self, session: str, daemons: Sequence[str]) -> None:
        """Kill what carries the session's mark: `daemons` (comm names) first, then everything else. Never raises."""

    def stop(self) -> None:
        """End the host (power off the guest). Idempotent, never raises."""

    def alive(self) -> bool:
        """Whether the host can take a request."""

    def facts(self) -> Mapping[str, Any]:
        """The environment as far as the host knows it (kernel, fio, cpu, memory, boot_id, accelerator ...).

        Flat: names with units where they have one, plain values. Valid between `start` and `stop`.
        """
