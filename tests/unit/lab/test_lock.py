import json
from pathlib import Path

import pytest

from scripts.lab import lock
from scripts.lab.manifest import locate
from scripts.lab.packages import deviations
from scripts.lab.run import BuildError

REPOSITORY = Path(__file__).resolve().parents[3]


def test_the_shipped_lock_names_no_machine():
    found = lock.load(REPOSITORY)
    assert "://" not in found.text and found.packages["guest"]["fio"]["version"]


def changed(found, group, name):
    packages = json.loads(json.dumps(found.packages))
    packages[group][name]["sha256"] = "0" * 64
    return lock.Lock(found.kernel, found.rublk, packages, json.dumps(packages))


def test_identity_changes_with_what_a_number_depends_on():
    found = lock.load(REPOSITORY)
    kernel = next(iter(found.packages["kernel"]))
    header = next(iter(found.packages["build"]))
    plain = lock.identity(found, ["null_blk"])
    assert lock.identity(changed(found, "kernel", kernel), ["null_blk"]) != plain
    assert lock.identity(changed(found, "guest", "fio"), ["null_blk"]) != plain
    assert lock.identity(changed(found, "guest", "bash"), ["null_blk"]) == plain
    assert lock.identity(changed(found, "build", header), ["null_blk"]) == plain
    assert lock.identity(changed(found, "build", header), ["zloop"]) != lock.identity(found, ["zloop"])


def test_an_unfinished_lab_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    state = locate(REPOSITORY)
    assert not state.ready
    state.path.mkdir(parents=True)
    (state.path / "root").mkdir()
    assert not locate(REPOSITORY).ready
    (state.path / "manifest.json").write_text('{"unavailable": {"rublk": "why"}}')
    assert locate(REPOSITORY).unavailable == {"rublk": "why"}


def test_a_mirror_that_moved_on():
    locked = {"fio": {"version": "3.39", "sha256": "a"}, "bash": {"version": "5", "sha256": "b"}}
    found = {"fio": {"version": "3.39", "sha256": "a"}, "bash": {"version": "6", "sha256": "c"}}
    assert deviations(found, locked, ["fio"]) == ["bash: 6, locked is 5"]
    with pytest.raises(BuildError, match="make lab-update"):
        deviations({"fio": {"version": "3.40", "sha256": "z"}}, locked, ["fio"])


@pytest.mark.parametrize("text", ["", "{}", "[]", "x"])
def test_a_damaged_lock_is_said(tmp_path, text):
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "lab.lock.json").write_text(text)
    with pytest.raises(lock.LockError, match="lab-update"):
        lock.load(tmp_path)
