"""The keeper: owner of kernel state. One process per Snakemake process, started by its first prepare_device.

    server.py SOCKET_PATH WORK_DIRECTORY     descriptor 3 is the listening socket
    server.py --recover                      tear down what a killed keeper left, under the host's lock

It holds the host's lock and the one live session. Every step is request, reply, acknowledgement; a client that dies, an
owner that dies, a step that fails: the session is torn down and verified at once. One thread: a parent-death signal
would fire on a thread's death.
"""

import contextlib
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from scripts.hosts.base import HostError
from scripts.keeper import results, runtime
from scripts.keeper.conversation import ClientGone, Conversation
from scripts.keeper.hosting import Hosting
from scripts.keeper.process import kill_marked, open_pidfd
from scripts.keeper.progress import Progress, si
from scripts.keeper.recovery import plain_wait, recover_alone
from scripts.keeper.session import Session, StepFailed

GRACE_S = 5.0  # how long an idle session may stand in the way of another prepare
IDLE_S = 5.0  # how long a guest may idle between sessions: under icount it burns a core


class OwnerGone(Exception):
    """The Snakemake process is gone, or we were told to end."""


class Keeper:
    """See the module's text."""

    def __init__(self, path: str, work: str, listening: socket.socket):
        self.path, self.work, self.listening = path, Path(work), listening
        self.owner = open_pidfd(os.environ["BLK_OWNER"])
        self.mark = Path(path).name
        self.wake, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake_write)
        signal.signal(signal.SIGTERM, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        self.hosting = Hosting(self.mark, self.say)
        self.session: Session | None = None
        self.session_file: Path | None = None
        self.last_activity = time.monotonic()
        self.client: Conversation | None = None
        self.progress = Progress(int(os.environ.get("BLK_MISSING", "0") or 0))

    # waiting

    def wait(self, fds: Sequence[int], timeout_s: float | None) -> list[int]:
        """poll() that also watches owner, client and signals (see hosts.base.Wait)."""
        poll = select.poll()
        watched = [self.owner, self.wake, *([self.client.fileno()] if self.client else [])]
        for fd in {*fds, *watched}:
            poll.register(fd, select.POLLIN)
        ready = [fd for fd, _ in poll.poll(None if timeout_s is None else max(0, timeout_s * 1000))]
        if self.owner in ready or self.wake in ready:
            raise OwnerGone
        if self.client and self.client.fileno() in ready and self.client.is_over():
            raise ClientGone
        return [fd for fd in ready if fd in fds]

    # talking

    def say(self, text: str, kind: bytes = b"s") -> None:
        """A line for the user, printed by the client."""
        if self.client:
            self.client.say(text, kind)

    def done(self, text: str) -> None:
        """Reply, and wait for the acknowledgement."""
        assert self.client
        self.client.done(text, self.wait)

    # the loop

    def serve(self) -> None:
        """Until the owner is gone."""
        if self.owner < 0:
            return
        try:
            while True:
                if self.session is None and self.hosting.host and time.monotonic() - self.last_activity > IDLE_S:
                    self.hosting.stop()
                if self.wait([self.listening.fileno()], IDLE_S if self.hosting.host else None):
                    self.handle(self.listening.accept()[0])
        except OwnerGone:
            self.listening.close()
        finally:
            self.tear_down()
            self.hosting.stop()
            with contextlib.suppress(OSError):
                os.unlink(self.path)

    def handle(self, connection: socket.socket) -> None:
        """One client."""
        self.client = client = Conversation(connection)
        try:
            arguments = client.arguments()
            if arguments:
                self.step(*arguments)
        except ClientGone:
            self.tear_down()
        except StepFailed as error:
            self.fail(error)
        except (OSError, HostError) as error:
            self.fail(StepFailed(str(error)))
        except OwnerGone:
            raise
        except Exception as error:  # a fault of a driver or of ours must not leave a device behind
            self.fail(StepFailed(f"{type(error).__name__}: {error}"))
        finally:
            self.client = None
            client.close()
            self.last_activity = time.monotonic()

    def step(self, verb: str, run: str, session_file: str, *rest: str) -> None:
        """One of the three verbs."""
        work = Path(rest[-1])
        if verb == "prepare":
            self.prepare(run, work / session_file, work, rest[:-1])
            return
        self.require_session(run, work / session_file)
        if verb == "run":
            self.measure(run, work)
        elif verb == "unload":
            self.unload(run, work)
        else:
            raise StepFailed(f"unknown request {verb!r}")

    def require_session(self, run: str, session_file: Path) -> None:
        """Refuse any session but the live one."""
        try:
            named = json.loads(session_file.read_bytes())["session"]
        except (OSError, ValueError, KeyError, TypeError):
            named = "(no session file)"
        if not self.session or self.session.run != run or self.session.id != named:
            live = f"the live one is {self.session.id} of {self.session.run}" if self.session else "none is live"
            raise StepFailed(f"{run}: session {named} is over; {live}. Run the same command again.")

    def prepare(self, run: str, session_file: Path, work: Path, texts: Sequence[str]) -> None:
        """Load, configure, read back, prefill; `texts` are the specification, the host and the order as JSON."""
        spec, host, order = texts
        self.yield_to(run)
        self.hosting.take_lock(self.wait)
        place = json.loads(order)
        specification = json.loads(spec)
        self.work = work
        results.set_aside(results.directory_of(work, run), work / "results" / "superseded")
        started, boot_s = self.hosting.ready(host, place, work / "results" / "consoles", self.wait)
        what = " ".join(str(place.get(key, "")) for key in ("variant", "cell"))
        self.say(f"{self.progress.head()} {what}, sample {place.get('round')}: preparing{self.progress.left()}")
        kind = json.loads(host)["kind"]
        scratch = "/run" if kind == "guest" else str(runtime.directory())
        self.session = Session(run, specification, place, started, scratch)
        self.session_file = session_file
        if boot_s:
            self.session.steps_s["boot"] = round(boot_s, 3)
        content = self.session.prepare(self.wait)
        results.write_whole(session_file, results.as_json(content))
        self.done("")

    def yield_to(self, run: str) -> None:
        """A session whose next step does not come gives way: its client was killed before it could connect."""
        if self.session is None:
            return
        if self.session.run != run:
            end = time.monotonic() + GRACE_S
            waiting = self.client
            while self.session and time.monotonic() < end:
                ready = self.wait([self.listening.fileno()], end - time.monotonic())
                if ready:
                    self.handle(self.listening.accept()[0])
                    self.client = waiting
                    end = time.monotonic() + GRACE_S
        self.tear_down()

    def measure(self, run: str, work: Path) -> None:
        """Run fio and publish what it wrote."""
        assert self.session
        verdict, raw, record, stderr = self.session.measure(results.directory_of(work, run), self.wait)
        if verdict.status != "ok":
            raise StepFailed(verdict.reason, raw=raw, record=record, stderr=stderr)
        self.session.measured = {"fio.json": raw, "run.json": results.as_json(record)}
        results.publish(work, run, {**self.session.measured, "stderr.txt": stderr.encode("utf-8", "surrogateescape")})
        self.done("")

    def unload(self, run: str, work: Path) -> None:
        """Tear down, verify, and say so in unload.json."""
        session = self.session
        assert session
        if not session.measured:
            raise StepFailed(f"{run}: nothing was measured in this session")
        session.tear_down(self.wait)
        self.session = None
        unload = {
            "session": session.id,
            "boot_id": session.host.facts().get("boot_id"),
            "steps_s": session.steps_s,
        }
        results.publish_unload(work, run, session.measured, session.logs, unload)
        self.forget_session_file()
        from scripts.fio.evidence import totals

        iops, bandwidth = totals(session.measured["fio.json"])
        head = self.progress.head()
        self.progress.ended += 1
        self.done(f"{head} {si(iops)} IOPS, {si(bandwidth)}B/s{self.progress.left()}")
        if self.progress.ended == self.progress.total:
            self.hosting.stop()  # nothing more to measure; an idle guest under icount burns a core

    # failing and ending

    def fail(self, error: StepFailed) -> None:
        """Keep the evidence, tear down, tell the client."""
        if self.session:
            self.keep_failure(error)
            self.progress.ended += 1
        left = self.tear_down()
        self.say(str(error) + (f"\nblkcampaign: and {left}" if left else ""), b"f")

    def keep_failure(self, error: StepFailed) -> None:
        """results/failed/<run>/<session>/: the same files as a run's, and the reason."""
        session = self.session
        assert session
        record = dict(error.evidence.get("record") or session.record(None))
        record["reason"] = str(error)
        directory = self.work / "results" / "failed" / session.run / session.id
        files = {"fio.json": error.evidence.get("raw"), "stderr.txt": error.evidence.get("stderr")}
        with contextlib.suppress(OSError):
            results.move_logs(results.directory_of(self.work, session.run), directory)
            for name, content in {**files, "run.json": results.as_json(record)}.items():
                if content:
                    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
                    results.write_whole(directory / name, data)

    def forget_session_file(self) -> None:
        """The session file never outlives its session."""
        if self.session_file:
            with contextlib.suppress(OSError):
                self.session_file.unlink()
        self.session_file = None

    def tear_down(self) -> str:
        """End the session, if there is one; what could not be removed, as a text."""
        session, self.session = self.session, None
        self.forget_session_file()
        if not session:
            return ""
        try:
            session.host.cancel(session.id, session.driver.DAEMONS)
            session.tear_down(plain_wait)
        except Exception as error:
            if getattr(session.host, "kind", "guest") == "guest":
                self.hosting.stop()
                session.host_is_gone()
                return ""
            return self.second_try(session, error)
        return ""

    def second_try(self, session: Session, error: Exception) -> str:
        """The agent died or hangs: kill what carries its mark, take a new one."""
        try:
            session.host.stop()
            kill_marked(f"BLK_SESSION={session.id}")
            session.host.start(plain_wait)
            session.tear_down(plain_wait)
        except Exception as second:
            return f"the device could not be removed: {second} (before: {error})"
        return ""


def main(arguments: list[str]) -> None:
    """See the module's text."""
    if arguments[1:] == ["--recover"]:
        recover_alone()
        return
    listening = socket.socket(fileno=3)
    os.set_inheritable(3, False)
    keeper = Keeper(arguments[1], arguments[2], listening)
    keeper.serve()


if __name__ == "__main__":
    main(sys.argv)
