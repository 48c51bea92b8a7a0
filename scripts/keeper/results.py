"""Files of runs: written beside their place and renamed, so that a name is either a whole file or absent."""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

NAMES = ("fio.json", "run.json", "stderr.txt", "unload.json")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that its name never stands for a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def write_parts(path: Path, parts: Iterable[bytes]) -> str:
    """`write_whole` for what does not fit into memory; its sha256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    digest = hashlib.sha256()
    try:
        with partial.open("wb") as file:
            for part in parts:
                file.write(part)
                digest.update(part)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:  # a step that failed or was cancelled while the host was asked for the next part
        partial.unlink(missing_ok=True)
        raise
    return digest.hexdigest()


def as_json(document: Mapping[str, Any]) -> bytes:
    """Readable JSON with a newline at its end."""
    return json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"


def sha256(data: bytes) -> str:
    """Hex digest."""
    return hashlib.sha256(data).hexdigest()


def directory_of(work: Path, run: str) -> Path:
    """Where a run's files are, below the directory that has results/."""
    return work / "results" / "runs" / run


def publish(work: Path, run: str, files: Mapping[str, bytes]) -> None:
    """The files of a run, each whole, in `results/runs/<run>/` below `work`."""
    for name, data in files.items():
        write_whole(directory_of(work, run) / name, data)


def publish_unload(
    work: Path, run: str, measured: Mapping[str, bytes], logs: Mapping[str, str], session: Mapping[str, Any]
) -> None:
    """unload.json, which makes a run count: its session, and the hashes of what that session measured.

    Args:
        measured: files by name. logs: hashes of log files, which are in their place already. session: `session` (its
            id), `boot_id`, `steps_s`.
    """
    directory = directory_of(work, run)
    publish(work, run, {name: data for name, data in measured.items() if not (directory / name).is_file()})
    unload = {
        "format": 1,
        "run": run,
        "gone": True,
        "sha256": {name: sha256(data) for name, data in measured.items()} | dict(logs),
        "unloaded_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        **session,
    }
    write_whole(directory / "unload.json", as_json(unload))


def complete(directory: Path) -> bool:
    """Whether a run counts: unload.json says it is gone, and names exactly the files that lie beside it."""
    return unload_of(directory) is not None


def unload_of(directory: Path | str) -> bytes | None:
    """unload.json's bytes when the run counts, else None. Called 9,600 times at every start: no pathlib inside."""
    try:
        with open(f"{directory}/unload.json", "rb") as file:  # noqa: PTH123
            raw = file.read()
        unload = json.loads(raw)
        if unload["gone"] is not True:
            return None
        for name in ("fio.json", "run.json"):
            with open(f"{directory}/{name}", "rb") as file:  # noqa: PTH123
                if hashlib.sha256(file.read()).hexdigest() != unload["sha256"][name]:
                    return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return bytes(raw)


LOGS = "logs"
"""Folder of fio's log files in a run directory."""


def set_aside(run_directory: Path, kept: Path) -> None:
    """Copy what was measured before to `kept/<run>/<session>/`: Snakemake deletes outputs it is about to make."""
    found = [path for path in (run_directory / "fio.json", *(run_directory / LOGS).glob("*")) if path.is_file()]
    if not found:
        return
    try:
        session = json.loads((run_directory / "run.json").read_bytes())["session"]["id"]
    except (OSError, ValueError, KeyError, TypeError):
        session = f"unknown-{sha256(found[0].read_bytes())[:12]}"
    target = kept / run_directory.name / session
    if target.exists():
        forget_logs(run_directory)
        return
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    partial.mkdir(parents=True)
    for name in NAMES:
        if (run_directory / name).is_file():
            shutil.copy2(run_directory / name, partial / name)
    if (run_directory / LOGS).is_dir():
        shutil.copytree(run_directory / LOGS, partial / LOGS)
    partial.replace(target)
    forget_logs(run_directory)


def forget_logs(run_directory: Path) -> None:
    """Log files are no output of a rule: Snakemake would leave those of an earlier measurement."""
    shutil.rmtree(run_directory / LOGS, ignore_errors=True)


def move_logs(run_directory: Path, directory: Path) -> None:
    """Log files of a run that failed, to where the rest of it is kept."""
    if (run_directory / LOGS).is_dir():
        directory.mkdir(parents=True, exist_ok=True)
        (run_directory / LOGS).replace(directory / LOGS)
