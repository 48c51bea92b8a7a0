"""From the host's configuration in a request to a host."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.hosts.base import Host
from scripts.hosts.local import LocalHost


def make_host(configuration: Mapping[str, Any], mark: str, on_loss: Sequence[str], console: Path) -> Host:
    """A host, not started.

    Args:
        configuration: `kind` (`local` or `guest`) and that kind's own keys.
        mark: value of BLK_KEEPER in everything it starts.
        on_loss: command that cleans up when the keeper dies (local only; a guest dies with its keeper).
        console: directory for the guest's console logs.
    """
    if configuration["kind"] == "guest":
        from scripts.hosts.guest.host import GuestHost

        return GuestHost(configuration, mark, console)
    return LocalHost(mark, on_loss)
