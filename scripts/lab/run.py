"""Running commands of a lab's build: output into a log file, its end into the error."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from scripts.hosts.programs import search_path


class BuildError(Exception):
    """A stage of the build failed. The text may reach a table: where the log is stands in `log`, not in it."""

    def __init__(self, text: str, log: Path | str = ""):
        super().__init__(text)
        self.log = log

    def with_log(self) -> str:
        """The text for the person at this machine."""
        return f"{self} (log: {self.log})" if self.log else str(self)


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
            log.write(("\n$ " + " ".join(map(str, command)) + "\n").encode())
            log.flush()
            try:
                code = subprocess.run(
                    list(map(str, command)),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, "PATH": search_path(), "LC_ALL": "C.UTF-8", **(environment or {})},
                    check=False,
                ).returncode
            except OSError as error:
                raise BuildError(f"{stage}: {command[0]}: {error.strerror}") from error
        if code:
            text = path.read_text(errors="replace")
            said = [line.strip() for line in text.rpartition("\n$ ")[2].splitlines()[1:] if line.strip()]
            telling = [line for line in said if "rror" in line or line.startswith("E:")] or said
            raise BuildError(f"{stage}: exit code {code}: {' | '.join(telling[-3:])[:500]}", path)

    def stage(self, name: str, work: Callable[[], None]) -> None:
        """Do a stage and say how long it took."""
        start = time.monotonic()
        work()
        say(f"lab: {name}: {time.monotonic() - start:.0f} s (at {time.monotonic() - self.start:.0f} s)")


def say(text: str) -> None:
    """A line of progress."""
    sys.stderr.write(f"blkcampaign: {text}\n")
    sys.stderr.flush()
