"""Inputs of imports: everything that is safe is read, nothing that is not, and one bad file stops nothing."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile

import pytest

from scripts.dataset.imports import archives, sources
from scripts.dataset.imports.sources import NoInput, files_of, paths_of


def read(path):
    return {file.source: file for file in files_of(paths_of(str(path)))}


def tar(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for member, data in members:
            info = member if isinstance(member, tarfile.TarInfo) else tarfile.TarInfo(member)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def special(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_a_directory_gives_its_regular_files(tmp_path):
    (tmp_path / "a" / ".git").mkdir(parents=True)
    (tmp_path / "a" / ".git" / "config").write_text("no")
    (tmp_path / "a" / "1.json").write_text("one")
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(b"two"))
    (tmp_path / "c.json.bz2").write_bytes(bz2.compress(b"three"))
    (tmp_path / "link").symlink_to(tmp_path / "a" / "1.json")
    os.mkfifo(tmp_path / "pipe")
    found = {file.name: (file.data, file.refused) for file in read(tmp_path).values()}
    pipe = found.pop("pipe")
    assert pipe == (b"", "not a regular file")
    assert found == {"a/1.json": (b"one", ""), "b.json.gz": (b"two", ""), "c.json.bz2": (b"three", "")}


def test_patterns_lists_and_nothing(tmp_path):
    for name in ("x1.json", "x2.json", "y.json"):
        (tmp_path / name).write_text(name)
    assert len(read(f"{tmp_path}/x*.json")) == 2
    assert len(read(f"{tmp_path}/x1.json,{tmp_path}/y.json")) == 2
    for nothing in (f"{tmp_path}/z*.json", f"{tmp_path}/none"):
        with pytest.raises(NoInput, match="no such file"):
            read(nothing)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoInput, match="no file in it"):
        read(tmp_path / "empty")


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_is_read_as_a_stream(tmp_path, mode):
    path = tar(tmp_path / "r.tar", [("d/1.json", b"one"), ("d/.hidden", b"no"), ("d/2.json", b"two")], mode)
    assert {s.partition("!")[2]: f.data for s, f in read(path).items()} == {"d/1.json": b"one", "d/2.json": b"two"}
    assert os.listdir(tmp_path) == ["r.tar"]  # nothing was extracted


def test_a_zip_is_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "r.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("d/1.json", "one")
        archive.writestr("d/2.json.gz", gzip.compress(b"two"))
    found = read(tmp_path / "r.zip")
    assert [file.data for file in found.values()] == [b"one", b"two"]
    assert all(source.startswith(f"{tmp_path}/r.zip!d/") for source in found)


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        (special("l", tarfile.SYMTYPE, "/etc/passwd"), "is a link"),
        (special("l", tarfile.LNKTYPE, "good.json"), "is a link"),
        (special("d", tarfile.CHRTYPE), "neither a file"),
        (special("p", tarfile.FIFOTYPE), "neither a file"),
        ("/etc/x.json", "leads out"),
        ("a/../../x.json", "leads out"),
        ("..\\x.json", "leads out"),
        ("C:/x.json", "leads out"),
    ],
)
def test_an_unsafe_tar_is_refused_as_a_whole(tmp_path, member, reason):
    path = tar(tmp_path / "r.tar.gz", [("good.json", b"1"), (member, b"")])
    files = list(read(path).values())
    assert len(files) == 1 and reason in files[0].refused and files[0].source == str(path)


@pytest.mark.parametrize("name", ["../x", "/x"])
def test_an_unsafe_zip_is_refused_as_a_whole(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "r.zip", "w") as archive:
        archive.writestr("good.json", "1")
        archive.writestr(name, "2")
    assert [bool(file.refused) for file in read(tmp_path / "r.zip").values()] == [True]
    with zipfile.ZipFile(tmp_path / "l.zip", "w") as archive:
        link = zipfile.ZipInfo("l")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    assert "is a link" in next(iter(read(tmp_path / "l.zip").values())).refused


def test_bombs_are_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "RATIO_FROM_BYTES", 1 << 20)
    zeros = bytes(4 << 20)
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0", zeros)
    tar(tmp_path / "b.tar.gz", [("0", zeros)])
    for name in ("b.zip", "b.tar.gz"):
        assert "bytes or more in an archive" in next(iter(read(tmp_path / name).values())).refused
    monkeypatch.setattr(archives, "MAX_MEMBERS", 2)
    path = tar(tmp_path / "many.tar", [(str(i), b"") for i in range(3)], "w")
    assert "more than 2 members" in next(iter(read(path).values())).refused


@pytest.mark.parametrize("name", ["r.tar", "r.tar.gz", "r.json.gz"])
@pytest.mark.parametrize("kind", ["pax", "long name"])
@pytest.mark.parametrize("place", ["first", "later"])
def test_a_header_is_not_read_whatever_its_size(tmp_path, name, kind, place, monkeypatch):
    asked = []
    monkeypatch.setattr(tarfile.TarInfo, "_proc_pax", lambda *_: asked.append(1), raising=True)
    monkeypatch.setattr(tarfile.TarInfo, "_proc_gnulong", lambda *_: asked.append(1), raising=True)
    large = "x" * (2 << 20)
    mode = "w" if name.endswith(".tar") else "w:gz"
    form = tarfile.PAX_FORMAT if kind == "pax" else tarfile.GNU_FORMAT
    with tarfile.open(tmp_path / name, mode, format=form) as archive:
        if place == "later":
            archive.addfile(tarfile.TarInfo("good.json"))
        info = tarfile.TarInfo("b.json" if kind == "pax" else large)
        info.pax_headers = {"comment": large}
        archive.addfile(info)
    (found,) = read(tmp_path / name).values()
    assert "unsafe archive: a header of 2097" in found.refused and not asked


def test_a_sparse_member_is_refused(tmp_path):
    path = tar(tmp_path / "r.tar", [("good.json", b"1"), (special("s", tarfile.GNUTYPE_SPARSE), b"")], "w")
    (found,) = read(path).values()
    assert "is a sparse file" in found.refused


def test_damage_is_said_and_what_is_whole_is_kept(tmp_path):
    path = tar(tmp_path / "r.tar", [("1.json", b"one" * 1000), ("2.json", os.urandom(9000))], "w")
    path.write_bytes(path.read_bytes()[:6000])
    found = read(path)
    assert found.pop(f"{path}!1.json").data == b"one" * 1000
    assert any("damaged" in file.refused for file in found.values())
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04 and then nothing of a zip")
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(b"x" * 1000)[:-9])
    (tmp_path / "x.tgz").write_bytes(b"this is no tar")
    for name in ("x.zip", "x.json.gz", "x.tgz"):
        assert "damaged" in next(iter(read(tmp_path / name).values())).refused, name


def test_an_archive_in_an_archive_is_not_opened(tmp_path):
    inner = tar(tmp_path / "i.tar.gz", [("1.json", b"one")]).read_bytes()
    path = tar(tmp_path / "o.tar", [("i.tar.gz", inner), ("2.json", b"two")], "w")
    found = read(path)
    assert "not opened" in found[f"{path}!i.tar.gz"].refused
    assert found[f"{path}!2.json"].data == b"two"


def test_unreadable_files_are_refused_files(tmp_path, monkeypatch):
    (tmp_path / "1.json").write_text("1")
    paths = [*paths_of(str(tmp_path)), (f"{tmp_path}/gone.json", "gone.json")]
    assert [file.refused for file in files_of(paths)] == ["", "can not be read: No such file or directory"]


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_damage_in_the_middle_of_any_compression_is_said(tmp_path, kind):
    members = [(f"{n}.json", os.urandom(20_000)) for n in range(5)]
    path = tar(tmp_path / f"r.tar.{kind}", members, f"w:{kind}")
    raw = bytearray(path.read_bytes())
    for cut in (raw[: len(raw) // 2], raw[:3000] + bytes(400) + raw[3400:], raw[:20]):
        path.write_bytes(cut)
        found = list(read(path).values())
        assert any("damaged" in file.refused for file in found)
        assert all(file.data == dict(members)[file.name.rpartition("/")[2]] for file in found if not file.refused)


def test_names_that_are_not_utf_8_are_shown(tmp_path):
    (tmp_path / "a").mkdir()
    with open(os.fsencode(tmp_path) + b"/a/caf\xe9.json", "wb") as file:  # noqa: PTH123
        file.write(b"1")
    tar(tmp_path / "r.tar", [(os.fsdecode(b"b\xff.json"), b"2")], "w")
    names = {file.name: file.data for file in read(tmp_path).values()}
    assert names == {"a/caf\\xe9.json": b"1", "r.tar/b\\xff.json": b"2"}


def test_a_small_file_that_decompresses_to_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "RATIO_FROM_BYTES", 1 << 20)
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(b" " * (4 << 20)))
    assert "unsafe: more than" in next(iter(read(tmp_path / "x.json.gz").values())).refused


def named(given):
    return [name for _, name in paths_of(given)]


def test_names_of_several_inputs_are_relative_to_what_they_have_in_common(tmp_path, monkeypatch):
    for name in ("two/a/r.json", "two/b/r.json", "two/b/deep/r.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    assert named(f"{tmp_path}/two/*/r.json") == ["a/r.json", "b/r.json"]
    assert named(f"{tmp_path}/two/b/*.json") == ["r.json"]
    assert named(f"{tmp_path}/two/a,{tmp_path}/two/b") == ["a/r.json", "b/r.json", "b/deep/r.json"]
    assert named(f"{tmp_path}/two/a,{tmp_path}/two/b/../a") == ["a/r.json"]  # no file counts twice
    assert named(f"{tmp_path}/two/a") == ["r.json"]
    monkeypatch.chdir(tmp_path)
    assert named("two/*/r.json") == ["a/r.json", "b/r.json"] and named("two/a,two/b/deep") == [
        "a/r.json",
        "b/deep/r.json",
    ]


def test_a_directory_that_can_not_be_read_is_one_refused_file(tmp_path, monkeypatch):
    (tmp_path / "ok").mkdir()
    (tmp_path / "no").mkdir()
    (tmp_path / "ok" / "a.json").write_text("1")
    real = os.scandir, os.listdir

    def closed(which):
        def call(path="."):
            if str(path).endswith("no"):
                raise PermissionError(13, "Permission denied", str(path))
            return real[which](path)

        return call

    monkeypatch.setattr(os, "scandir", closed(0))
    monkeypatch.setattr(os, "listdir", closed(1))
    found = read(tmp_path)
    assert found[f"{tmp_path}/no"].refused == "can not be read: Permission denied"
    assert found[f"{tmp_path}/ok/a.json"].data == b"1"
    assert "Permission denied" in read(tmp_path / "no")[f"{tmp_path}/no"].refused


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_members_behind_damage_in_a_tar_are_not_lost_in_silence(tmp_path, mode):
    plain = tar(tmp_path / "p.tar", [("1.json", b"one"), ("2.json", b"two"), ("3.json", b"three")], "w")
    raw = bytearray(plain.read_bytes())
    broken = {"checksum": bytes(raw[:1024]) + b"X" + bytes(raw[1025:]), "zeros": bytes(raw[:1024]) + bytes(512) + bytes(raw[1536:]),
              "two tars": bytes(raw) + bytes(raw)}  # fmt: skip
    for what, data in broken.items():
        path = tmp_path / f"{what}.tar{'.gz' if mode == 'w:gz' else ''}"
        path.write_bytes(gzip.compress(data) if mode == "w:gz" else data)
        found = read(path)
        assert found[f"{path}!1.json"].data == b"one"
        assert "something that is no member follows" in found[str(path)].refused, what
    whole = tar(tmp_path / "whole.tar", [("1.json", b"one")], mode)
    assert [file.refused for file in read(whole).values()] == [""]


def test_what_compressed_members_hold_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "RATIO_FROM_BYTES", 10_000)
    monkeypatch.setattr(sources, "MAX_RATIO", 1)
    bomb = gzip.compress(b" " * 6000)
    path = tar(tmp_path / "b.tar.gz", [(f"{n}.json.gz", bomb) for n in range(50)])
    found = read(path)
    assert len(found) == 2 and "compressed members hold more than" in found[str(path)].refused


def test_content_says_what_a_file_is_whatever_its_name(tmp_path):
    (tmp_path / "a.tar").write_bytes(b' {"jobs": []}')
    (tmp_path / "a.tgz").write_bytes(gzip.compress(b'{"jobs": []}'))
    (tmp_path / "b.tar.xz").write_bytes(lzma.compress(b'{"jobs": []}'))
    assert {file.data.strip() for file in read(tmp_path).values()} == {b'{"jobs": []}'}
    (tmp_path / "c.tar").write_bytes(b"no archive at all")
    (file,) = read(tmp_path / "c.tar").values()
    assert "not an archive" in file.refused and "\n" not in file.refused
