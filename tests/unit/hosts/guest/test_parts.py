"""What the guest host is made of: the archive, QEMU's channels, the facts."""

import base64
import json
import socket
import threading

import pytest

from scripts.hosts.base import HostError
from scripts.hosts.guest import control, environment, initramfs


def entries(archive):
    """{name: (mode, content)} of a newc archive, read by the format's own rules."""
    found, at = {}, 0
    while True:
        assert archive[at : at + 6] == b"070701"
        field = [int(archive[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        name = archive[at + 110 : at + 110 + field[11] - 1].decode()
        at = (at + 110 + field[11] + 3) // 4 * 4
        if name == "TRAILER!!!":
            assert len(archive) % 4 == 0
            return found
        found[name] = (field[1], archive[at : at + field[6]])
        at = (at + field[6] + 3) // 4 * 4


def test_the_archive_has_init_agent_and_the_modules_that_are_not_built_in(tmp_path):
    overlay = tmp_path / "kernel" / "fs" / "overlayfs" / "overlay.ko.xz"
    overlay.parent.mkdir(parents=True)
    overlay.write_bytes(b"12345")
    found = entries(initramfs.own_part(tmp_path))
    assert next(iter(found)) == "blk"
    assert found["blk/overlay.ko.xz"] == (0o100644, b"12345")
    assert found["blk/init"][0] == 0o100755
    assert b"rdinit" not in found["blk/init"][1]
    for path in initramfs.AGENT:
        assert found[f"blk/{path.name}"][1] == path.read_bytes()
    assert len(found) == 6


def test_virtme_run_failing_is_an_error_with_its_words(tmp_path, monkeypatch):
    program = tmp_path / "virtme-run"
    program.write_text("#!/bin/sh\necho 'no busybox was found' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(initramfs.sys, "executable", str(tmp_path / "python"))
    with pytest.raises(HostError, match="virtme-run ended with code 1: no busybox was found"):
        initramfs.virtme_part(tmp_path / "vmlinuz", tmp_path, {})
    program.unlink()
    with pytest.raises(HostError, match="virtme-run: "):
        initramfs.virtme_part(tmp_path / "vmlinuz", tmp_path, {})


@pytest.fixture
def channel():
    """channel(answer) -> Control; `answer(message)` gives the lines the other end sends."""
    ends = []

    def make(answer, timeout_s=1.0):
        ours, theirs = socket.socketpair()
        ends.extend((ours, theirs))

        def serve():
            with theirs.makefile("rb") as file:
                for line in file:
                    for reply in answer(json.loads(line)):
                        theirs.sendall(json.dumps(reply).encode() + b"\n")

        threading.Thread(target=serve, daemon=True).start()
        return control.Control(ours, timeout_s)

    yield make
    for end in ends:
        end.close()


def test_events_are_skipped_and_errors_are_texts(channel):
    def answer(message):
        if message["execute"] == "bad":
            return [{"error": {"class": "GenericError", "desc": "not so"}}]
        return [{"event": "STOP"}, {"return": message.get("arguments", {})}]

    asked = channel(answer)
    assert asked.ask("good", a=1) == {"a": 1}
    with pytest.raises(OSError, match="bad: not so"):
        asked.ask("bad")
    assert asked.ask("good") == {}
    asked.close()


def test_after_a_missing_answer_nothing_more_is_asked(channel):
    """A late answer would otherwise be taken for that to the next question."""
    asked = channel(lambda message: [{"return": 1}] if message["execute"] == "second" else [], timeout_s=0.1)
    with pytest.raises(OSError, match="first"):
        asked.ask("first")
    with pytest.raises(OSError, match="first"):
        asked.ask("second")
    asked.close()


def test_rescue_runs_python_in_the_guest(channel):
    seen = []
    polls = iter([False, True])

    def answer(message):
        seen.append(message)
        match message["execute"]:
            case "guest-sync":
                return [{"return": message["arguments"]["id"]}]
            case "guest-exec":
                return [{"return": {"pid": 7}}]
        done = next(polls)
        return [{"return": {"exited": done, "out-data": base64.b64encode(b"said\n").decode()}}]

    asked = channel(answer)
    assert control.rescue(asked, control.kill_script("s1", ["rublk"])) == "said"
    arguments = seen[1]["arguments"]
    assert arguments["path"] == "/usr/bin/python3"
    assert "BLK_SESSION=s1" in arguments["arg"][-1] and "'rublk'" in arguments["arg"][-1]
    asked.close()


def test_rescue_never_raises(channel):
    asked = channel(lambda message: [], timeout_s=0.1)
    assert control.rescue(asked, "pass").startswith("(guest agent: ")
    asked.close()


CPUINFO = "processor\t: 0\nmodel name\t: QEMU TCG CPU version 2.5+\nprocessor\t: 1\nmodel name\t: QEMU\n"
OUTPUTS = {
    "kernel": "7.3.4\n",
    "kernel_version": "Linux version 7.3.4\n",
    "kernel_command_line": "panic=-1\n",
    "boot_id": "b\n",
    "clocksource": "tsc\n",
    "cpuinfo": CPUINFO,
    "meminfo": "MemTotal:        1024 kB\nMemFree: 5 kB\n",
    "mitigations": f"{environment.VULNERABILITIES}/spectre_v1:Mitigation: x\n{environment.VULNERABILITIES}/l1tf:Not affected\n",
    "fio_version": "fio-3.39\n",
}
MANIFEST = {"kernel": "7.3.4", "key": "k", "programs": {"rublk": {"version": "0.2.15"}, "fio": {"version": "3.39-1"}}}


def results(**changes):
    outputs = {**OUTPUTS, **changes}
    found = [{"ok": True, "label": name, "output": output} for name, output in outputs.items()]
    return [*found, {"ok": True, "output": "{}"}]


def test_facts_are_flat_and_have_units():
    facts = environment.answers(results(), "instructions", MANIFEST)
    assert facts["cpus"] == 2
    assert facts["cpu_model"] == "QEMU TCG CPU version 2.5+"
    assert facts["memory_bytes"] == 1 << 20
    assert facts["mitigations"] == "l1tf: Not affected; spectre_v1: Mitigation: x"
    assert facts["accelerator"] == "QEMU TCG -icount"
    assert facts["rublk_version"] == "0.2.15" and "rublk_build" not in facts
    assert facts["fio_version"] == "fio-3.39"
    assert not any(isinstance(value, (dict, list)) for value in facts.values())


def test_a_guest_without_fio_is_an_error():
    failed = [*results()[:-2], {"ok": False, "error": "fio: No such file or directory"}]
    with pytest.raises(HostError, match="can not describe itself: fio: No such file"):
        environment.answers(failed, "emulated", MANIFEST)
