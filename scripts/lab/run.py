"""Running commands of a lab's build: output into a log file, its end into the error."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path


class BuildError(Exception):
    """A stage of the build failed."""


class Log:
    """Folder of log files, one a stage."""

    def __init__(self, directory: Path):
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self.start = time.monotonic()

    def run(self, stage: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Run a command.

        Raises:
            BuildError: names the stage, the last lines and the log.
        """
        path = self.directory / f"{stage}.log"
        with path.open("ab") as log:
            log.write(("$ " + " ".join(map(str, command)) + "\n").encode())
            log.flush()
            try:
                code = subprocess.run(
                    list(map(str, command)),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, "LC_ALL": "C.UTF-8", **(environment or {})},
                    check=False,
                ).returncode
            except OSError as error:
                raise BuildError(f"{stage}: {command[0]}: {error.strerror}") from error
        if code:
            lines = path.read_text(errors="replace").splitlines()
            telling = [line for line in lines if "rror" in line or line.startswith("E:")] or lines
            raise BuildError(f"{stage}: exit code {code}: {' | '.join(telling[-3:])[:500]} (log: {path})")

    def stage(self, name: str, work: Callable[[], None]) -> None:
        """Do a stage and say how long it took."""
        start = time.monotonic()
        work()
        say(f"lab: {name}: {time.monotonic() - start:.0f} s (at {time.monotonic() - self.start:.0f} s)")


def say(text: str) -> None:
    """A line of progress."""
    sys.stderr.write(f"blkcampaign: {text}\n")
    sys.stderr.flush()
