"""What the three rules execute: one request to the keeper of this Snakemake process, started here when there is none.

    python -I -S client.py prepare RUN SESSION_FILE SPEC_JSON HOST_JSON ORDER_JSON
    python -I -S client.py run RUN SESSION_FILE
    python -I -S client.py unload RUN SESSION_FILE

The keeper writes all files. The connection lives as long as this process: when it dies, the keeper lets the session go.
Runs three times per measurement, so it imports next to nothing (10 ms in all).
"""

import sys

try:
    from _socket import AF_UNIX, SOCK_STREAM
    from _socket import socket as Socket
    from posix import environ as _environ
    from posix import getcwd

    ENVIRONMENT = {key.decode(): value.decode("utf-8", "surrogateescape") for key, value in _environ.items()}
except ImportError:  # a Python that is built otherwise
    from os import environ, getcwd
    from socket import AF_UNIX, SOCK_STREAM
    from socket import socket as Socket  # type: ignore[assignment]

    ENVIRONMENT = dict(environ)


def connect(path: str) -> "Socket | None":
    """A connection to the keeper, None when nobody listens."""
    connection = Socket(AF_UNIX, SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        return None
    return connection


def start(path: str) -> "Socket":
    """Start the keeper. The listening socket exists before it does: nobody has to wait for it to be ready."""
    import fcntl
    import os

    lock = os.open(path + ".start", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        existing = connect(path)
        if existing:
            return existing
        if os.path.lexists(path):
            os.unlink(path)
        listening = Socket(AF_UNIX, SOCK_STREAM)
        listening.bind(path)
        listening.listen(128)
        server = os.path.join(os.path.dirname(os.path.abspath(__file__)), "server.py")
        pid = os.fork()
        if pid == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            null = os.open("/dev/null", os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            os.dup2(listening.fileno(), 3)
            os.closerange(4, 4096)
            work = os.getcwd()
            os.chdir("/")
            os.execv(sys.executable, [sys.executable, "-B", server, path, work])
        os.waitpid(pid, 0)
        listening.close()
        connection = connect(path)
        if connection is None:
            raise OSError("the keeper's socket went away")
        return connection
    finally:
        os.close(lock)


def receive(connection: "Socket") -> int:
    """Print what the keeper says until it is done; acknowledge; the exit code."""
    buffer = b""
    while True:
        try:
            data = connection.recv(65536)
        except OSError:
            data = b""
        if not data:
            sys.stderr.write("blkcampaign: the keeper died; the next command cleans up and goes on\n")
            return 1
        buffer += data
        while b"\0" in buffer:
            frame, _, buffer = buffer.partition(b"\0")
            kind, text = frame[:1], frame[1:].decode("utf-8", "replace")
            if text:
                sys.stderr.write(f"blkcampaign: {text}\n")
                sys.stderr.flush()
            if kind == b"d":
                connection.sendall(b"ack")
                # Until the keeper has taken the acknowledgement: a step that is not acknowledged did not happen.
                return 0 if connection.recv(16) == b"end" else 1
            if kind == b"f":
                return 1


def main(arguments: "list[str]") -> int:
    """One request."""
    path = ENVIRONMENT.get("BLK_KEEPER_SOCKET")
    if not path:
        sys.stderr.write("blkcampaign: not started by the workflow: run snakemake, not this rule's command\n")
        return 1
    connection = connect(path) or start(path)
    body = "\0".join([*arguments, getcwd()]).encode("utf-8", "surrogateescape")
    connection.sendall(b"%08d" % len(body) + body)
    return receive(connection)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
