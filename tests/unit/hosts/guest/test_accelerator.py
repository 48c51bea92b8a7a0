"""The KVM probe with QEMUs that behave as real ones did: only a kernel that boots counts."""

import os
from pathlib import Path

import pytest

from scripts.hosts.guest import accelerator as module
from scripts.hosts.guest.accelerator import accelerator, probe


@pytest.fixture
def qemu(tmp_path, monkeypatch):
    """qemu(shell text): make it what is found in PATH; counts its starts in `starts`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(module.os, "access", lambda *_: True)

    def make(text: str) -> Path:
        program = tmp_path / module.QEMU
        program.write_text(f"#!/bin/sh\necho x >>{tmp_path}/starts\n{text}\n")
        program.chmod(0o755)
        return tmp_path / "starts"

    return make


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        ("echo 'Kernel panic - not syncing: VFS: Unable to mount root fs'; exec sleep 60", "kvm", "a kernel boots"),
        ("echo 'KVM internal error. Suberror: 1'; exec sleep 60", "tcg", "KVM internal error"),
        ("echo 'Kernel panic - not syncing: Fatal exception'; exec sleep 60", "tcg", "not syncing"),
        ("echo 'qemu: failed to initialize kvm: Permission denied'; exit 1", "tcg", "failed to initialize"),
        ("echo 'no such machine'; exit 1", "tcg", "QEMU ended: no such machine"),
        ("exec sleep 60", "tcg", "no answer within"),
    ],
)
def test_only_a_kernel_that_boots_counts(qemu, text, name, reason):
    qemu(text)
    found = probe(Path("vmlinuz"), timeout_s=1)
    assert found.name == name
    assert reason in found.reason


def test_the_answer_is_kept_for_this_boot_kernel_and_qemu(qemu, tmp_path, monkeypatch):
    starts = qemu("echo 'KVM internal error'")
    said = []
    for _ in range(3):
        assert accelerator(Path("vmlinuz"), said.append).name == "tcg"
    assert starts.read_text() == "x\n"
    assert len(said) == 1
    accelerator(Path("other"), said.append)
    assert starts.read_text() == "x\nx\n"
    monkeypatch.setattr(module, "boot_id", lambda: "another boot")
    accelerator(Path("other"))
    assert starts.read_text() == "x\nx\nx\n"
    qemu("echo 'Kernel panic - not syncing: VFS: of another QEMU'")
    assert accelerator(Path("other")).name == "kvm"


def test_without_a_device_nothing_is_tried(qemu, monkeypatch):
    starts = qemu("true")
    monkeypatch.setattr(module.os, "access", lambda *_: False)
    assert accelerator(Path("vmlinuz")).reason == "no usable /dev/kvm"
    assert not starts.exists()
