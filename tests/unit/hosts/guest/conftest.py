"""A lab without content and a QEMU that is none, first in PATH."""

import json
import os
import platform
import time
from pathlib import Path

import pytest

from scripts.hosts.guest import boot, environment, initramfs
from scripts.hosts.guest.host import GuestHost


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """The directory whose files say how QEMU behaves (see fake_qemu.py)."""
    programs = tmp_path / "programs"
    programs.mkdir()
    program = programs / boot.QEMU
    program.symlink_to(Path(__file__).with_name("fake_qemu.py"))
    fio = programs / "fio"
    fio.write_text("#!/bin/sh\necho fio-3.39\n")
    fio.chmod(0o755)
    directory = tmp_path / "fake"
    directory.mkdir()
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_QEMU", str(directory))
    monkeypatch.setattr(initramfs, "virtme_part", lambda *_: initramfs.newc([]))
    # what only some machines have
    monkeypatch.setitem(environment.FILES, "clocksource", "/proc/version")
    return directory


@pytest.fixture
def lab(tmp_path):
    directory = tmp_path / "lab"
    directory.mkdir()
    programs = {"fio": {"version": "3.39-1"}, "rublk": {"version": "0.2.15", "build": "release"}}
    manifest = {"kernel": platform.release(), "root": "root", "vmlinuz": "vmlinuz", "key": "k", "programs": programs}
    (directory / "manifest.json").write_text(json.dumps(manifest))
    return directory


@pytest.fixture
def make(fake, lab, tmp_path):
    """make(clock) -> a host that is not started; stopped at the end."""
    hosts = []

    def made(clock: str = "emulated", **configuration) -> GuestHost:
        mark = f"unit-{os.getpid()}-{time.monotonic_ns()}"
        configuration = {"lab": str(lab), "clock": clock, "memory_bytes": 1 << 30, "boot_count": 4, **configuration}
        hosts.append(GuestHost(configuration, mark, tmp_path / "consoles"))
        return hosts[-1]

    yield made
    for host in hosts:
        host.stop()
