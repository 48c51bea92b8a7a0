"""The host's lock and the host itself: one at a time, booted anew where a round begins."""

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scripts.hosts.base import Host, Wait
from scripts.keeper import journal, runtime
from scripts.keeper.hosts import make_host
from scripts.keeper.progress import duration
from scripts.keeper.recovery import recover

SERVER = Path(__file__).with_name("server.py")


class Hosting:
    """What a keeper measures on.

    Args:
        mark: value of BLK_KEEPER in everything the host starts. say: prints a line for the user.
    """

    def __init__(self, mark: str, say: Callable[[str], None]):
        self.mark, self.say = mark, say
        self.host: Host | None = None
        self.lock = -1
        self.text = ""
        self.round: Any = None
        self.boots = 0

    def take_lock(self, wait: Wait) -> None:
        """The host's lock, then whatever a killed keeper left. Nothing to do when it is held."""
        if self.lock >= 0:
            return
        fd = runtime.open_lock()
        said = False
        while not runtime.try_lock(fd):
            if not said:
                self.say(f"waiting: this machine is measuring for {runtime.lock_owner(fd)}")
                said = True
            wait([], 0.1)
        self.lock = fd
        recover(self.say)

    def ready(self, text: str, place: Mapping[str, Any], consoles: Path, wait: Wait) -> tuple[Host, float]:
        """A started host of this configuration, and the seconds its boot took (0 for one that ran already).

        Args:
            text: the configuration as JSON. place: of the run in the plan (`round`, `boots`). consoles: of guests.
        """
        new_round = place.get("boots") == "round" and self.round is not None and self.round != place.get("round")
        if self.host and (text != self.text or new_round or not self.host.alive()):
            self.stop()
        self.round = place.get("round")
        if self.host:
            return self.host, 0.0
        configuration = json.loads(text)
        guest = configuration["kind"] == "guest"
        recovery = [sys.executable, "-B", str(SERVER.resolve()), "--recover"]
        host = make_host({**configuration, "boot_count": self.boots + 1}, self.mark, recovery, consoles)
        start = time.monotonic()
        if guest:
            self.say(f"booting a guest (clock: {configuration['clock']})")
            journal.append({"event": "open", "session": self.mark, "host": "guest-process", "mark": self.mark})
        try:
            host.start(wait)
        except BaseException:
            host.stop()
            raise
        self.boots += 1
        self.host, self.text = host, text
        took = time.monotonic() - start
        if guest:
            self.say(f"guest is up after {duration(took)}")
        return host, took

    def stop(self) -> None:
        """End the guest (or the local agent); an idle guest whose clock is instructions burns a core."""
        if self.host:
            self.host.stop()
        self.host, self.text, self.round = None, "", None
