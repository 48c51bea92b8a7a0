"""The agent: executes requests of operations on the machine it runs on. Standard library only; copied into guests with
marks.py.

    agent.py fd:<number> [COMMAND ...]     a connected socket, on the keeper's own machine
    agent.py /dev/virtio-ports/<name> [COMMAND ...]     the guest's end of a QEMU port

Lines of JSON in both directions. First `{"hello": {...}}`; then for each `{"id", "session", "saved", "operations"}` one
`{"id", "results", "saved"}`; `{"cancel": session, "daemons": [...]}` has no reply. One thread: while an operation runs,
the port is watched, so that a cancel works at once. When the other end is gone, everything started here is killed and
COMMAND is executed in place of the agent (the keeper's recovery; power-off in a guest).

Operations are documented in operations.py.
"""

import contextlib
import errno
import glob
import json
import os
import re
import select
import shutil
import signal
import sys
import time

from marks import POLL_S, kill_marked, kill_named, named, text_of

NAME = re.compile(r"\{(\w+)\}")
DEFAULTED = (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE)  # ignored by Python or here, and ignoring is inherited
FILES_OF_A_CHILD = ((os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),)


class Lost(Exception):
    """The other end of the port is gone."""


class Cancelled(Exception):
    """The session of the running request was cancelled."""


class Failed(Exception):
    """An operation failed; the text says what and why."""


class Agent:
    """One port and what was received from it."""

    def __init__(self, port):
        self.port = port
        self.buffer = b""
        self.requests = []
        self.session = None
        self.sessions = set()
        self.saved = {}

    def send(self, message):
        data = json.dumps(message).encode() + b"\n"
        while data:
            try:
                data = data[os.write(self.port, data) :]
            except BlockingIOError:
                select.select([], [self.port], [], 1)
            except OSError as error:
                raise Lost from error

    def pump(self, timeout_s, also=()):
        """Take what the port has, waiting up to `timeout_s`; return which of the descriptors in `also` are readable."""
        ready, _, _ = select.select([self.port, *also], [], [], timeout_s)
        if self.port in ready:
            try:
                data = os.read(self.port, 1 << 20)
            except BlockingIOError:
                data = None
            except OSError as error:
                raise Lost from error
            if data == b"":
                raise Lost
            self.buffer += data or b""
            *lines, self.buffer = self.buffer.split(b"\n")
            cancelled = [self.received(json.loads(line)) for line in lines]
            if any(cancelled):
                raise Cancelled
        return [fd for fd in also if fd in ready]

    def received(self, message):
        """Queue a request, or kill a session at once; whether it was the running request's."""
        if "cancel" in message:
            session = message["cancel"]
            kill_marked(b"BLK_SESSION=" + session.encode(), message["daemons"])
            self.requests = [r for r in self.requests if r["session"] != session]
            return session == self.session
        if "operations" in message:
            self.requests.append(message)
        return False

    def serve(self):
        self.send({"hello": {"pid": os.getpid(), "python": sys.version.split()[0]}})
        while True:
            while not self.requests:
                self.pump(None)
            request = self.requests.pop(0)
            results = self.answer(request)
            self.send({"id": request["id"], "results": results, "saved": self.saved})

    def answer(self, request):
        """Execute one request; results up to and with the first failure."""
        self.session, self.saved = request["session"], request["saved"]
        self.sessions.add(self.session)
        results = []
        try:
            for operation in request["operations"]:
                result = {"ok": True, "output": "", "error": ""}
                if operation.get("label"):
                    result["label"] = operation["label"]
                results.append(result)
                start = time.monotonic()
                self.execute(operation, result)
                result["seconds"] = round(time.monotonic() - start, 6)
                if result["ok"] and operation.get("save"):
                    self.saved[operation["save"]] = result["output"].strip()
                if not result["ok"] and not operation.get("optional"):
                    break
        except Cancelled:
            results[-1].update(ok=False, error="cancelled")
        self.session = None
        return results

    def execute(self, operation, result):
        operation = {key: self.filled(value) for key, value in operation.items()}
        try:
            output = getattr(self, "do_" + operation["op"])(operation, result)
            if output is not None:
                result["output"] = output
        except Failed as error:
            result.update(ok=False, error=str(error))
        except OSError as error:
            value = f" = {operation['value']!r}" if operation["op"] == "write" else ""
            code = errno.errorcode.get(error.errno, error.errno)
            what = f"{operation['op']} {operation.get('path', '')}{value}"
            result.update(ok=False, error=f"{what}: {os.strerror(error.errno or 0)} ({code})")
        if not result["ok"] and operation.get("message"):
            result["error"] = f"{operation['message']}: {result['error']}"

    def filled(self, value):
        """Put saved outputs in place of their {names}."""
        if isinstance(value, str):
            return NAME.sub(lambda match: self.saved.get(match[1], match[0]), value)
        return [self.filled(item) for item in value] if isinstance(value, list) else value

    def do_read(self, operation, result):
        with open(operation["path"], "rb") as file:
            if "length" not in operation:
                return text_of(file.read())
            file.seek(operation["offset"])
            return text_of(file.read(operation["length"]))

    def do_write(self, operation, result):
        # without O_CREAT: a parameter this kernel lacks must be an error, also where a plain file could be made
        fd = os.open(operation["path"], os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(fd, operation["value"].encode() + b"\n")
        finally:
            os.close(fd)

    def do_put(self, operation, result):
        with open(operation["path"], "w", encoding="utf-8") as file:
            file.write(operation["value"])

    def do_listing(self, operation, result):
        return "\n".join(sorted(os.listdir(operation["path"])))

    def do_glob(self, operation, result):
        return "\n".join(sorted(glob.glob(operation["path"])))

    def do_link(self, operation, result):
        return os.readlink(operation["path"])

    def do_mkdir(self, operation, result):
        os.makedirs(os.path.dirname(operation["path"]) or ".", exist_ok=True)
        os.mkdir(operation["path"])

    def do_rmdir(self, operation, result):
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(operation["path"])

    def do_rmtree(self, operation, result):
        path = operation["path"]
        if os.path.islink(path) or os.path.isfile(path):
            os.unlink(path)
        elif os.path.exists(path):
            shutil.rmtree(path)

    def do_wait(self, operation, result):
        self.until(lambda: glob.glob(operation["path"]), operation, "{} did not appear")

    def do_wait_gone(self, operation, result):
        self.until(lambda: not glob.glob(operation["path"]), operation, "{} is still there")

    def do_wait_no_process(self, operation, result):
        operation["path"] = " ".join(operation["names"])
        self.until(lambda: not named(operation["names"]), operation, "{} still runs")

    def until(self, condition, operation, otherwise):
        for number in range(operation["count"]):
            if condition():
                return
            if number + 1 < operation["count"]:
                self.pump(POLL_S)
        raise Failed(otherwise.format(operation["path"]))

    def do_processes(self, operation, result):
        return "\n".join(map(str, named(operation["names"])))

    def do_kill(self, operation, result):
        kill_named(b"BLK_SESSION=" + self.session.encode(), operation["names"])

    def do_absent(self, operation, result):
        found = sorted(glob.glob(operation["path"]))
        if found:
            raise Failed("still there: " + " ".join(found))

    def do_exec(self, operation, result):
        argv = operation["argv"]
        environment = {**os.environ, **operation.get("env", {}), "BLK_SESSION": self.session}
        out, err = os.pipe(), os.pipe()
        actions = (*FILES_OF_A_CHILD, (os.POSIX_SPAWN_DUP2, out[1], 1), (os.POSIX_SPAWN_DUP2, err[1], 2))
        try:
            pid = os.posix_spawnp(argv[0], argv, environment, file_actions=actions, setsigdef=DEFAULTED)
        except OSError as error:
            os.close(out[0])
            os.close(err[0])
            raise Failed(f"{argv[0]}: {os.strerror(error.errno or 0)}") from error
        finally:
            os.close(out[1])
            os.close(err[1])
        pidfd = os.pidfd_open(pid)
        texts = {out[0]: [], err[0]: []}
        cancelled = False
        try:
            # A daemon may keep the pipes open after the program's end: the end is the program's, not the pipe's.
            open_pipes = list(texts)
            while True:
                try:
                    ready = self.pump(None, [pidfd, *open_pipes])
                except Cancelled:
                    cancelled = True
                    continue
                open_pipes = [fd for fd in open_pipes if fd not in ready or self.taken(fd, texts[fd])]
                if pidfd in ready:
                    break
            for fd in open_pipes:
                while select.select([fd], [], [], 0)[0] and self.taken(fd, texts[fd]):
                    pass
            _, status = os.waitpid(pid, 0)
        finally:
            for fd in (pidfd, *texts):
                os.close(fd)
        code = os.waitstatus_to_exitcode(status)
        output, stderr = (text_of(b"".join(texts[fd])) for fd in (out[0], err[0]))
        result.update(exit_code=code, stderr=stderr, output=output)
        if cancelled:
            raise Cancelled
        if code not in operation["allow"]:
            last = (stderr.strip() or output.strip())[-400:]
            how = f"exit code {code}" if code >= 0 else f"killed by signal {-code}"
            raise Failed(f"{argv[0]}: {how}: {last}" if last else f"{argv[0]}: {how}")

    def taken(self, fd, chunks):
        """Append what a pipe has; False at its end."""
        data = os.read(fd, 1 << 20)
        chunks.append(data)
        return bool(data)


def open_port(name):
    """File descriptor of the port, non-blocking."""
    if name.startswith("fd:"):
        port = int(name[3:])
        os.set_inheritable(port, False)
    else:
        port = os.open(name, os.O_RDWR | os.O_CLOEXEC)
    os.set_blocking(port, False)
    return port


def main(argv):
    """Serve until the other end is gone; then clean up and become COMMAND."""
    agent = Agent(open_port(argv[1]))
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        agent.serve()
    except Lost:
        for session in agent.sessions:
            kill_marked(b"BLK_SESSION=" + session.encode())
        if argv[2:]:
            os.execvp(argv[2], argv[2:])


if __name__ == "__main__":
    main(sys.argv)
