"""Whole campaigns in real guests: every way a guest, its device or its server can end, then the same command again."""

import json
import os
import signal
import threading

import pytest

from tests.guest.guest_place import GuestPlace

pytestmark = pytest.mark.guest
FAULTS = ("kill", "daemon", "panic", "stop", "freeze")
"""One a run: SIGKILL for QEMU, SIGKILL for rublk, sysrq-c in the guest, QMP stop, SIGSTOP for QEMU."""
REASONS = {
    "kill": "the guest died",
    "daemon": "fio",
    "panic": "sysrq triggered crash",
    "stop": "the guest hangs",
    "freeze": "does not answer",
}


def signal_qemu_in_fio(place, number, process):
    """Send a signal to QEMU as soon as the live session is in fio."""
    session_files = place.work / "results" / "session"
    while process.poll() is None and not list(session_files.glob("*.json")):
        threading.Event().wait(0.1)
    threading.Event().wait(1.5)
    for pid in place.qemu():
        os.kill(pid, number)


def test_every_end_of_a_guest_then_the_same_command(lab_directory, tmp_path):
    workloads = {f"b{i}": {"bs": 4096 * i} for i in range(1, len(FAULTS) + 2)}
    place = GuestPlace(
        tmp_path, variants={"one": {"driver": "faulty", "device": {"target": "null"}}}, workloads=workloads
    )
    place.faults.write_text("\n".join(FAULTS))
    process = place.start()
    lines, done = [], 0
    signals = {"kill": signal.SIGKILL, "freeze": signal.SIGSTOP}
    with process.stdout as said:
        for line in said:
            lines.append(line)
            if line.startswith("blkcampaign: [") and "preparing" in line:
                name, done = (FAULTS[done] if done < len(FAULTS) else ""), done + 1
                if name in signals:
                    arguments = (place, signals[name], process)
                    threading.Thread(target=signal_qemu_in_fio, args=arguments, daemon=True).start()
    assert process.wait() == 1, "".join(lines)
    output = "".join(lines)
    failures = place.failures()
    assert len(failures) == len(FAULTS), output
    for name in FAULTS:
        assert any(REASONS[name] in reason for reason in failures.values()), (name, failures)
    assert len(place.complete()) == 1, output  # the run after the last fault, in a guest booted anew
    assert not place.qemu()
    code, output = place.run()
    assert code == 0, output
    assert len(place.complete()) == len(workloads)
    assert not list((place.work / "results/session").glob("*"))
    assert not place.qemu()
    code, output = place.run()
    assert code == 0 and "Nothing to be done" in output
    sessions = [json.loads(p.read_text())["session"] for p in (place.work / "results/runs").glob("*/unload.json")]
    assert len(set(sessions)) == len(workloads)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_the_end_of_snakemake_in_fio_leaves_no_guest(lab_directory, tmp_path, number):
    variants = {"one": {"driver": "null_blk"}}
    place = GuestPlace(tmp_path, variants=variants, workloads={"b1": {"bs": "4k"}, "b2": {"bs": "8k"}})
    process = place.start()
    while process.poll() is None and not list((place.work / "results/session").glob("*.json")):
        threading.Event().wait(0.1)
    threading.Event().wait(1.5)
    assert len(place.qemu()) == 1
    os.kill(process.pid, number)
    process.communicate()
    for _ in range(100):
        if not place.qemu():
            break
        threading.Event().wait(0.1)
    assert not place.qemu()
    code, output = place.run()
    assert code == 0, output
    assert len(place.complete()) == 2
