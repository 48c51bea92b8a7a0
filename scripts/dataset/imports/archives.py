"""Members of tar and zip archives, read as streams. An archive that could do harm is refused as a whole."""

import bz2
import contextlib
import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MAX_MEMBERS = 500_000
MAX_TOTAL_BYTES = 8 << 30
MAX_HEADER_BYTES = 1 << 20
"""A long name or the like in front of a member: tarfile takes it into memory before it says anything about it."""
MAX_RATIO = 300
"""How much larger than its archive the content may be; only looked at beyond RATIO_FROM_BYTES."""
RATIO_FROM_BYTES = 256 << 20
ARCHIVES = (
    ".tar",
    ".tgz",
    ".tbz",
    ".tbz2",
    ".txz",
    ".tar.gz",
    ".tar.bz2",
    ".tar.xz",
    ".zip",
    ".tar.zst",
    ".7z",
    ".rar",
)
BROKEN = (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, zlib.error, lzma.LZMAError, RuntimeError, ValueError)
"""What the readers of archives raise for damaged ones, and for a compression that they do not know."""
BEHIND = "something that is no member follows them"
BEFORE_A_MEMBER = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME,
                   tarfile.GNUTYPE_LONGLINK)  # fmt: skip
Member = tuple[str, bytes, str]
"""Name, content, why it is refused."""


class Unsafe(Exception):
    """The archive must not be read; the text says why."""


class Header(tarfile.TarInfo):
    """A header that is refused before anything is read because of it."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "Header":
        """See tarfile.

        Raises:
            Unsafe: it says that far too much belongs to it.
        """
        found = super().frombuf(buf, encoding, errors)
        if found.type in BEFORE_A_MEMBER and found.size > MAX_HEADER_BYTES:
            raise Unsafe(f"a header of {found.size} bytes")
        if found.type == tarfile.GNUTYPE_SPARSE:
            raise Unsafe(f"{found.name!r} is a sparse file")
        return found


def archive_kind(start: bytes, path: str) -> str:
    """`tar`, `zip`, or an empty text for a file that is no archive.

    Args:
        start: the first 512 bytes. path: its suffixes tell a compressed tar from another compressed file.
    """
    if start.startswith(b"PK\x03\x04") or start.startswith(b"PK\x05\x06"):
        return "zip"
    if start[257:262] == b"ustar":
        return "tar"
    name = path.lower()
    if start[:2] == b"\x1f\x8b" or start[:3] == b"BZh" or start[:6] == b"\xfd7zXZ\x00":
        if is_tar_inside(path) or (name.endswith(ARCHIVES) and not is_text_inside(path)):
            return "tar"
    elif name.endswith(ARCHIVES) and not is_text(start):
        return "zip" if name.endswith(".zip") else "tar"
    return ""


def is_text(start: bytes) -> bool:
    """Whether a file begins as JSON does: its name is not what it is."""
    return start.lstrip()[:1] == b"{"


def is_text_inside(path: str) -> bool:
    """The same for a compressed file."""
    for module in (gzip, bz2, lzma):
        with contextlib.suppress(*BROKEN), module.open(path) as file:
            return is_text(file.read(512))
    return False


def is_tar_inside(path: str) -> bool:
    """Whether a compressed file is a tar under another name."""
    try:
        tarfile.open(path, tarinfo=Header).close()
    except BROKEN:
        return False
    except Unsafe:
        return True
    return True


def members(path: Path, kind: str, max_file_bytes: int) -> Iterator[Member]:
    """All regular members; the archive itself, under an empty name, where it is damaged or holds nothing.

    Raises:
        Unsafe: links, devices, paths that lead out of it, or far too much content. Nothing was yielded then.
    """
    try:
        yield from (tar_members if kind == "tar" else zip_members)(path, max_file_bytes)
    except BROKEN as error:
        yield "", b"", f"not an archive, or a damaged one: {' '.join(str(error).split())}"


class Limits:
    """Counts what an archive says it holds."""

    def __init__(self, path: Path):
        self.archive_bytes = max(path.stat().st_size, 1)
        self.members = 0
        self.total_bytes = 0

    def add(self, name: str, size: int) -> None:
        """One member.

        Raises:
            Unsafe: its path leads out of the archive, or the archive holds too much.
        """
        parts = name.replace("\\", "/").split("/")
        if name.startswith(("/", "\\")) or ".." in parts or (len(parts[0]) == 2 and parts[0][1] == ":"):
            raise Unsafe(f"{name!r} leads out of it")
        self.members += 1
        if self.members > MAX_MEMBERS:
            raise Unsafe(f"more than {MAX_MEMBERS} members")
        self.grow(size)

    def grow(self, size: int) -> None:
        """So many bytes more.

        Raises:
            Unsafe: too many.
        """
        self.total_bytes += size
        if self.total_bytes > MAX_TOTAL_BYTES:
            raise Unsafe(f"more than {MAX_TOTAL_BYTES} bytes")
        if self.total_bytes > max(RATIO_FROM_BYTES, MAX_RATIO * self.archive_bytes):
            raise Unsafe(f"{self.total_bytes} bytes or more in an archive of {self.archive_bytes}")


def tar_members(path: Path, max_file_bytes: int) -> Iterator[Member]:
    """See `members`."""
    limits, damage = Limits(path), ""
    last: dict[str, int] = {}
    with tarfile.open(path, tarinfo=Header) as archive:  # a first look at the headers alone
        iterator = iter(archive)
        while True:
            try:
                info = next(iterator)
            except StopIteration:
                break
            except BROKEN as error:
                damage = f"damaged after {len(last)} members: {error}"
                break
            if info.issym() or info.islnk():
                raise Unsafe(f"{info.name!r} is a link")
            if not (info.isreg() or info.isdir()):
                raise Unsafe(f"{info.name!r} is neither a file nor a directory")
            limits.add(info.name, info.size)
            last[info.name] = info.offset
        wrong = "" if damage else rest_of(archive.fileobj, limits)
        if wrong == BEHIND:
            damage = f"damaged after {len(last)} members: {wrong}"
        elif wrong:
            yield "", b"", f"damaged, and it can not be said where: {wrong}"
            return
    if last:
        with tarfile.open(path, tarinfo=Header) as archive:
            while True:
                try:
                    found = archive.next()
                    if found is None:
                        break
                    if not found.isreg() or wanted_name(found.name) is None or last.get(found.name) != found.offset:
                        continue
                    if found.size > max_file_bytes:
                        yield found.name, b"", f"{found.size} bytes: more than an output of fio can have"
                        continue
                    stream = archive.extractfile(found)
                    data = stream.read() if stream else b""
                except BROKEN as error:
                    damage = damage or f"damaged: {error}"
                    break
                yield found.name, data, nested(found.name, data)
                archive.members = []  # type: ignore[attr-defined]  # tarfile keeps every header otherwise
    if damage:
        yield "", b"", damage
    elif not last:
        yield "", b"", "an archive without members"


def rest_of(file: Any, limits: Limits) -> str:
    """Read what follows the last member: zeros, and in a compressed tar its checksum. What is wrong, or nothing.

    tarfile takes a header that is damaged for the end.

    Raises:
        Unsafe: far too much follows.
    """
    try:
        while chunk := file.read(1 << 20):
            limits.grow(len(chunk))
            if chunk.strip(b"\0"):
                return BEHIND
    except BROKEN as error:
        return str(error)
    return ""


def zip_members(path: Path, max_file_bytes: int) -> Iterator[Member]:
    """See `members`."""
    with zipfile.ZipFile(path) as archive:
        limits = Limits(path)
        infos = {}
        for info in archive.infolist():
            kind = info.external_attr >> 28
            if kind == 0o12:
                raise Unsafe(f"{info.filename!r} is a link")
            if kind not in (0, 0o4, 0o10):
                raise Unsafe(f"{info.filename!r} is neither a file nor a directory")
            limits.add(info.filename, info.file_size)
            infos[info.filename] = info  # of members with the same name the last one counts, as on extraction
        for info in infos.values():
            if info.is_dir() or wanted_name(info.filename) is None:
                continue
            if info.file_size > max_file_bytes:
                yield info.filename, b"", f"{info.file_size} bytes: more than an output of fio can have"
                continue
            if info.flag_bits & 1:
                yield info.filename, b"", "encrypted"
                continue
            try:
                with archive.open(info) as stream:
                    data = stream.read(info.file_size + 1)  # never more than was counted, whatever is in it
            except BROKEN as error:
                yield info.filename, b"", f"damaged: {error}"
                continue
            yield info.filename, data, nested(info.filename, data)
        if not infos:
            yield "", b"", "an archive without members"


def wanted_name(name: str) -> str | None:
    """None for hidden files and for what macOS adds to archives."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return None if any(part.startswith(".") or part == "__MACOSX" for part in parts) else name


def nested(name: str, data: bytes) -> str:
    """Why a member is refused unread: an archive in an archive."""
    inside = data[:4] == b"PK\x03\x04" or data[257:262] == b"ustar" or name.lower().endswith(ARCHIVES)
    return "an archive in an archive is not opened" if inside else ""
