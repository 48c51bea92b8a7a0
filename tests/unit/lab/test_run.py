"""Commands of a build: found where an ordinary user's PATH does not look, and errors that say what failed."""

import json

import pytest

from scripts.lab import build
from scripts.lab.manifest import locate
from scripts.lab.run import BuildError, Log
from tests.place import REPOSITORY


def test_programs_of_the_system_are_found_without_sbin_in_the_path(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/games")  # Debian's for ordinary users
    log = Log(tmp_path / "logs")
    log.run("chroot", ["chroot", "--version"])
    log.run("shell", ["sh", "-c", "exec chroot --version"])
    log.run("depmod", ["depmod", "--version"])


def test_an_error_has_the_last_words_and_neither_command_nor_log_in_its_text(tmp_path):
    log = Log(tmp_path / "logs")
    log.run("part", ["sh", "-c", "echo E: of an earlier command"])
    with pytest.raises(BuildError) as caught:
        log.run("part", ["sh", "-c", "echo first; echo it broke; exit 3"])
    assert str(caught.value) == "part: exit code 3: first | it broke"
    assert str(tmp_path) in caught.value.with_log()


def test_what_could_not_be_built_is_tried_again_on_request_only(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tries = []

    class FakeBuild:
        def __init__(self, work, lock, without):
            self.lab = work / "lab"

        def all(self):
            self.lab.mkdir(parents=True)
            missing = {} if tries else {"rublk": "rublk could not be built: no network"}
            (self.lab / "manifest.json").write_text(json.dumps({"unavailable": missing}))
            tries.append(1)

    monkeypatch.setattr(build, "Build", FakeBuild)
    assert build.ensure(REPOSITORY).unavailable
    assert build.ensure(REPOSITORY).unavailable and len(tries) == 1
    assert build.ensure(REPOSITORY, frozenset({"rublk"}), retry=True).unavailable and len(tries) == 1
    assert not build.ensure(REPOSITORY, retry=True).unavailable and len(tries) == 2
    assert not build.ensure(REPOSITORY, retry=True).unavailable and len(tries) == 2
    assert not locate(REPOSITORY).unavailable
