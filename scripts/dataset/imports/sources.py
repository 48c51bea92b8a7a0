"""Input -> files: a directory, a pattern, single files, tar and zip archives. Nothing is ever extracted to disk.

A file is named as the user would name it (`input/path`), a member of an archive behind a `!`.
"""

import bz2
import glob
import gzip
import io
import lzma
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from scripts.dataset.imports.archives import MAX_RATIO, Unsafe, archive_kind, members
from scripts.fio.logs import log_name

START_BYTES = 64 << 10
"""Read at once: most results are smaller."""
MAX_FILE_BYTES = 512 << 20
"""Larger than any output of fio; such a file is not read."""
RATIO_FROM_BYTES = 64 << 20
"""A compressed file may hold that much whatever its size, and MAX_RATIO times its size beyond."""
COMPRESSED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}


class NoInput(Exception):
    """There is nothing to import; the text says what was looked for."""


@dataclass(frozen=True)
class File:
    """One file: its content, or why there is none.

    Attributes:
        source: as the user would name it. name: relative to the input, for mappings. path: of a log of fio, which can
            be too large to be taken into memory; `data` is empty then.
    """

    source: str
    name: str
    data: bytes = b""
    refused: str = ""
    path: str = ""

    def open(self) -> BinaryIO:
        """The content as a stream."""
        return open(self.path, "rb") if self.path else io.BytesIO(self.data)  # noqa: PTH123

    def __post_init__(self) -> None:
        """Names that are not UTF-8 are shown with a backslash."""
        for key in ("source", "name", "refused"):
            text = getattr(self, key)
            if not text.isascii():
                shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
                object.__setattr__(self, key, shown)


def paths_of(given: str) -> list[tuple[str, str]]:
    """(path, name) of every regular file, sorted. Hidden files and links are left alone.

    A name is relative to the directory that was given, or to what all of several inputs have in common.

    Raises:
        NoInput: nothing is there.
    """
    parts = [part for part in given.split(",") if part] if not os.path.exists(given) else [given]
    roots: list[str] = []
    for part in parts:
        expanded = os.path.expanduser(part)
        matches = [expanded] if os.path.exists(expanded) else sorted(glob.glob(expanded, recursive=True))
        if not matches:
            raise NoInput(f"{part}: no such file or directory, and no file matches it as a pattern")
        roots += matches
    found: dict[str, tuple[str, str]] = {}
    above = "" if len(roots) == 1 else os.path.commonpath([os.path.dirname(os.path.abspath(root)) for root in roots])
    for root in roots:
        place = os.path.relpath(os.path.abspath(root), above) if above else ""
        if os.path.isdir(root):
            listed = [(path, f"{place}/{name}" if place else name) for path, name in walk(root)]
        else:
            listed = [(root, place or os.path.basename(root))]
        for path, name in listed:
            found.setdefault(os.path.abspath(path) if above else path, (path, name))
    if not found:
        raise NoInput(f"{given}: there is no file in it")
    return list(found.values())


def walk(directory: str) -> Iterator[tuple[str, str]]:
    """Regular files below a directory, and the directories that can not be read."""
    closed: list[OSError] = []
    for base, folders, files in os.walk(directory, onerror=closed.append):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__MACOSX")
        inside = "" if base == directory else os.path.relpath(base, directory) + "/"
        with os.scandir(base) as entries:
            links = {entry.name for entry in entries if entry.is_symlink()}
        for name in sorted(files):
            if not name.startswith(".") and name not in links:
                yield f"{base}/{name}", inside + name
    for error in closed:
        yield error.filename, os.path.relpath(error.filename, directory)


def files_of(paths: list[tuple[str, str]]) -> Iterator[File]:
    """All files with their content; archives are opened, and one that is unsafe is one refused file."""
    for path, name in paths:
        try:
            kind, file = opened(path, name)
        except OSError as error:
            yield File(path, name, refused=f"can not be read: {error.strerror}")
            continue
        if not kind:
            yield file
            continue
        try:
            more, allowed = 0, max(RATIO_FROM_BYTES, MAX_RATIO * Path(path).stat().st_size)
            for member, data, refused in members(Path(path), kind, MAX_FILE_BYTES):
                source = f"{path}!{member}" if member else path
                inner = File(source, f"{name}/{member}" if member else name, data, refused)
                found = inner if refused else decompressed(inner)
                more += len(found.data) if found is not inner else 0
                if more > allowed:
                    raise Unsafe(f"its compressed members hold more than {allowed} bytes; the rest of them is not read")
                yield found
        except Unsafe as error:
            yield File(path, name, refused=f"unsafe archive: {error}")


def opened(path: str, name: str) -> tuple[str, File]:
    """Kind of an archive that this is, or an empty text and the file with its content.

    With the kernel's calls alone: they are a third of the time of an import of thousands of files.

    Raises:
        OSError: it can not be read.
    """
    found = os.stat(path)  # before it is opened: a FIFO would wait for its writer, and a device may do anything
    if stat.S_ISDIR(found.st_mode):
        os.listdir(path)  # it is here because that fails
    if not stat.S_ISREG(found.st_mode):
        return "", File(path, name, refused="not a regular file")
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if path.endswith((".log", ".fz")) and log_name(path):
            return "", File(path, name, path=path)
        data = os.read(handle, START_BYTES)
        if kind := archive_kind(data[:512], path):
            return kind, File(path, name)
        if found.st_size > MAX_FILE_BYTES:
            text = f"{found.st_size} bytes: more than the {MAX_FILE_BYTES} an output of fio can have"
            return "", File(path, name, refused=text)
        if len(data) == START_BYTES or len(data) < found.st_size:
            with open(handle, "rb", buffering=0, closefd=False) as file:
                data += file.readall()
        return "", decompressed(File(path, name, data))
    finally:
        os.close(handle)


def decompressed(file: File) -> File:
    """The file, or what a compressed one holds."""
    for magic, opener in COMPRESSED.items():
        if file.data.startswith(magic):
            try:
                limit = min(MAX_FILE_BYTES, max(RATIO_FROM_BYTES, MAX_RATIO * len(file.data)))
                with opener(io.BytesIO(file.data)) as inner:
                    data = bytes(inner.read(limit + 1))
            except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
                return File(file.source, file.name, refused=f"compressed, and damaged: {error}")
            if len(data) > limit:
                return File(file.source, file.name, refused=f"unsafe: more than {limit} bytes when decompressed")
            return File(file.source, file.name, data)
    return file
