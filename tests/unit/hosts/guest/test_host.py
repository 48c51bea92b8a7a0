"""The guest host without a guest: QEMU is a fake, the agent is ours."""

import json
import os
import signal
import time

import pytest

from scripts.hosts import operations as op
from scripts.hosts.base import DeadlineExceeded, HostError
from scripts.hosts.guest import host as module
from scripts.hosts.guest.host import GuestHost, uninterrupted
from scripts.keeper.process import marked


def ask(host, *operations, session="unit", deadline_s=20):
    return host.request(list(operations), session, deadline_s, uninterrupted)


def started(host):
    host.start(uninterrupted)
    return host


def left(host, timeout_s=2):
    """Processes of a stopped guest; the fake's agent takes a moment to follow its QEMU."""
    end = time.monotonic() + timeout_s
    while (found := marked(f"BLK_KEEPER={host.mark}")) and time.monotonic() < end:
        time.sleep(0.01)
    return found


def consoles(host):
    return sorted(host.consoles.iterdir()) if host.consoles.exists() else []


def arguments(fake):
    return json.loads((fake / "argv").read_text())


def test_executes_operations_and_tells_facts(make, tmp_path):
    host = started(make())
    result = ask(host, op.put(str(tmp_path / "file"), "x"), op.read(str(tmp_path / "file")))
    assert result[1]["output"] == "x"
    facts = host.facts()
    assert facts["qemu_version"] == "7.2.0"
    assert facts["rublk_version"] == "0.2.15"
    assert facts["fio_version"] == "fio-3.39"
    assert (facts["clock"], facts["accelerator"], facts["boot_count"]) == ("emulated", "QEMU TCG", 4)
    assert "instructions_per_guest_second" not in facts
    assert facts["memory_bytes"] > 1 << 20


def test_stop_leaves_no_process_and_no_console(make):
    host = started(make())
    assert marked(f"BLK_KEEPER={host.mark}")
    host.stop()
    host.stop()
    assert not left(host)
    assert not consoles(host)
    assert not host.alive()
    with pytest.raises(HostError, match="not running"):
        ask(host, op.read("/proc/version"))


def test_starting_twice_boots_once(make, fake):
    host = started(make())
    host.start(uninterrupted)
    assert (fake / "starts").read_text() == "1"


@pytest.mark.parametrize(
    ("clock", "wanted"),
    [("emulated", "tcg,thread=multi"), ("instructions", "shift=1,sleep=off"), ("hardware", "kvm")],
)
def test_the_clock_chooses_the_machine(make, fake, clock, wanted):
    (fake / "kvm").touch()
    host = started(make(clock, cpus=3))
    given = arguments(fake)
    assert wanted in given
    assert given[given.index("-smp") + 1] == "3"
    assert given[given.index("-m") + 1] == "1024M"
    assert host.facts()["clock"] == clock


def test_hardware_without_kvm_is_refused(make):
    with pytest.raises(HostError, match="without KVM"):
        started(make("hardware"))


def test_a_boot_that_panics_is_tried_again_and_its_console_kept(make, fake):
    (fake / "silent").write_text("2")
    host = started(make())
    assert (fake / "starts").read_text() == "3"
    host.stop()
    assert len(consoles(host)) == 2
    assert "Kernel panic" in consoles(host)[0].read_text()


def test_a_guest_that_never_boots_is_an_error_with_its_last_words(make, fake):
    (fake / "silent").write_text("9")
    with pytest.raises(HostError, match=r"in 3 tries.*Kernel panic - not syncing: fake"):
        started(make())


def test_a_qemu_that_refuses_says_why(make, fake):
    (fake / "no-start").write_text("qemu-system-x86_64: cannot set up guest memory 'pc.ram'")
    with pytest.raises(HostError, match="cannot set up guest memory"):
        started(make())


def test_no_qemu_is_an_error(make, monkeypatch):
    host = make()
    monkeypatch.setattr("scripts.hosts.guest.boot.QEMU", "qemu-that-is-not-here")
    with pytest.raises(HostError, match="qemu-that-is-not-here: No such file"):
        host.start(uninterrupted)


def test_no_lab_is_an_error(tmp_path):
    with pytest.raises(HostError, match="no usable lab"):
        GuestHost({"lab": str(tmp_path / "none")}, "m", tmp_path)


def test_another_kernel_than_the_labs_is_refused(make, lab):
    manifest = json.loads((lab / "manifest.json").read_text())
    (lab / "manifest.json").write_text(json.dumps({**manifest, "kernel": "1.2.3"}))
    with pytest.raises(HostError, match=r"its lab says 1\.2\.3"):
        started(make())


def test_a_dead_qemu_is_noticed_at_once(make):
    host = started(make())
    os.kill(host.machine.process.pid, signal.SIGKILL)
    start = time.monotonic()
    with pytest.raises(HostError, match="died"):
        ask(host, op.execute("sleep", "5"))
    assert time.monotonic() - start < 1
    assert not host.alive()
    host.stop()
    assert len(consoles(host)) == 1


def test_a_stopped_guest_is_noticed(make, fake, monkeypatch):
    monkeypatch.setattr(module, "PULSE_S", 0.2)
    host = started(make())
    (fake / "paused").touch()
    with pytest.raises(HostError, match=r"hangs: it is stopped \(paused\)"):
        ask(host, op.execute("sleep", "3"))
    assert not host.alive()


def test_under_the_instructions_clock_the_guest_rests_between_requests(make, fake):
    host = started(make("instructions"))
    assert host.facts()["instructions_per_guest_second"] == 500_000_000
    assert (fake / "paused").exists()
    assert host.alive()
    state = op.glob(str(fake / "paused"))
    assert ask(host, state)[0]["output"] == ""
    assert (fake / "paused").exists()


def test_cancel_kills_the_session_and_the_host_lives_on(make):
    host = started(make())
    with pytest.raises(DeadlineExceeded):
        ask(host, op.execute("sleep", "77"), session=f"{host.mark}-s", deadline_s=0.3)
    host.cancel(f"{host.mark}-s", ["sleep"])
    assert host.alive()
    assert not marked(f"BLK_SESSION={host.mark}-s")


def test_an_agent_that_stays_deaf_makes_the_host_dead(make, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PING_S", 0.3)
    monkeypatch.setattr(module.control, "rescue", lambda *_: "(no rescue)")
    host = started(make())
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DeadlineExceeded):
        ask(host, op.read(str(tmp_path / "pipe")), deadline_s=0.3)
    host.cancel("unit", [])
    assert not host.alive()
    assert "no rescue" in host.stuck
    agent = marked(f"BLK_KEEPER={host.mark}")
    host.stop()
    assert len(agent) == 2
    assert not left(host)


def test_letting_go_during_the_boot_leaves_nothing(make, fake):
    class Gone(Exception):
        pass

    def interrupted(fds, timeout_s):
        raise Gone

    host = make()
    with pytest.raises(Gone):
        host.start(interrupted)
    assert not left(host)
