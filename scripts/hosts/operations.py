"""Operations: what drivers ask a host to do, as plain data.

One request to a host is a list of operations. They are executed in order by `agent.py`, in its own process (files,
sysfs, configfs) or by `execve` without a shell; the first that fails ends the request. Texts may contain `{name}`,
replaced by what an earlier operation of the same session stored with `save="name"`.

Common keywords of every function here:

* `label`: the result's name in the readings given to a driver's `describe()`.
* `save`: store the stripped output under this name for later operations.
* `optional`: a failure is recorded in the result and does not end the request.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict


class Operation(TypedDict, total=False):
    """One operation; which keys are set depends on `op`."""

    op: str
    path: str
    value: str
    argv: list[str]
    env: dict[str, str]
    names: list[str]
    count: int
    allow: list[int]
    label: str
    save: str
    optional: bool
    message: str


def _operation(op: str, common: Mapping[str, Any], **own: Any) -> Operation:
    unknown = set(common) - {"label", "save", "optional", "message"}
    if unknown:
        raise TypeError(f"unknown keyword of an operation: {sorted(unknown)}")
    return Operation(op=op, **own, **common)  # type: ignore[typeddict-item]


def read(path: str, **common: Any) -> Operation:
    """Read a file (sysfs, configfs, proc); the output is its text."""
    return _operation("read", common, path=path)


def read_part(path: str, offset: int, length: int, **common: Any) -> Operation:
    """Read `length` bytes of an ordinary file from `offset` on; fewer at its end."""
    return _operation("read", common, path=path, offset=offset, length=length)


def write(path: str, value: object, **common: Any) -> Operation:
    """Write `value` and a newline to an existing file with one write(2), as sysfs and configfs want it.

    Booleans are written as 1 and 0.
    """
    text = str(int(value)) if isinstance(value, bool) else str(value)
    return _operation("write", common, path=path, value=text)


def put(path: str, text: str, **common: Any) -> Operation:
    """Create or replace an ordinary file."""
    return _operation("put", common, path=path, value=text)


def listing(path: str, **common: Any) -> Operation:
    """Names in a directory, sorted, one a line."""
    return _operation("listing", common, path=path)


def glob(pattern: str, **common: Any) -> Operation:
    """Paths that match a shell pattern, sorted, one a line; no match is an empty output, not a failure."""
    return _operation("glob", common, path=pattern)


def link(path: str, **common: Any) -> Operation:
    """Where a symbolic link points to."""
    return _operation("link", common, path=path)


def make_directory(path: str, **common: Any) -> Operation:
    """mkdir; parents are made, an existing one is an error (configfs: a leftover device)."""
    return _operation("mkdir", common, path=path)


def remove_directory(path: str, **common: Any) -> Operation:
    """rmdir one (configfs) directory; a missing one is fine."""
    return _operation("rmdir", common, path=path)


def remove_tree(path: str, **common: Any) -> Operation:
    """Remove a file or a directory with all in it; a missing one is fine."""
    return _operation("rmtree", common, path=path)


def execute(
    *argv: object, env: Mapping[str, str] | None = None, allow: Sequence[int] = (0,), **common: Any
) -> Operation:
    """Run a program without a shell; the output is its stdout. Exit codes outside `allow` are failures."""
    own: dict[str, Any] = {"argv": [str(a) for a in argv], "allow": list(allow)}
    if env:
        own["env"] = dict(env)
    return _operation("exec", common, **own)


def wait_for(path: str, count: int = 200, **common: Any) -> Operation:
    """Look for `path` (a pattern) up to `count` times, 50 ms apart, until it is there."""
    return _operation("wait", common, path=path, count=count)


def wait_gone(path: str, count: int = 200, **common: Any) -> Operation:
    """Look for `path` (a pattern) up to `count` times, 50 ms apart, until nothing matches."""
    return _operation("wait_gone", common, path=path, count=count)


def processes(*names: str, **common: Any) -> Operation:
    """Process ids, one a line, whose comm is one of `names`; zombies do not count (a guest's init may not reap)."""
    return _operation("processes", common, names=list(names))


def wait_no_process(*names: str, count: int = 200, **common: Any) -> Operation:
    """Look up to `count` times, 50 ms apart, until no living (non-zombie) process has one of these comm names."""
    return _operation("wait_no_process", common, names=list(names), count=count)


def kill(*names: str, **common: Any) -> Operation:
    """SIGKILL every process of the session whose comm is one of `names`, in the order of the names."""
    return _operation("kill", common, names=list(names))


def absent(path: str, **common: Any) -> Operation:
    """Fail, naming what is there, when `path` (a pattern) matches anything."""
    return _operation("absent", common, path=path)
