"""A real guest: it works, its death and its hanging are noticed in seconds, and nothing of it stays."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.hosts import operations as op
from scripts.hosts.base import DeadlineExceeded, HostError
from scripts.hosts.guest.host import uninterrupted
from scripts.keeper.process import marked

pytestmark = pytest.mark.guest
CONFIG = "/sys/kernel/config/nullb/nullb0"
NOTICED_S = 15  # generous: the machine may be busy; quiet it is 1 to 8


def ask(host, *operations, session="test", deadline_s=120):
    return host.request(list(operations), session, deadline_s, uninterrupted)


def gone(host):
    """Nothing of a stopped guest is left; its mark finds every process of it."""
    return not marked(f"BLK_KEEPER={host.mark}")


def cpu_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_measures_null_blk_and_leaves_nothing(boot):
    host = boot("emulated")
    facts = host.facts()
    assert facts["kernel"] == host.manifest["kernel"]
    assert (facts["clock"], facts["accelerator"], facts["cpus"]) == ("emulated", "QEMU TCG", 2)
    assert facts["fio_version"].startswith("fio-3")
    fio = ["fio", "--name=x", "--filename=/dev/nullb0", "--direct=1", "--rw=randread", "--bs=4k", "--number_ios=8"]
    results = ask(
        host,
        op.execute("modprobe", "null_blk", "nr_devices=0"),
        op.make_directory(CONFIG),
        op.write(f"{CONFIG}/memory_backed", 1),
        op.write(f"{CONFIG}/power", 1),
        op.execute(*fio, "--output-format=json", "--output=/run/fio.json"),
        op.read("/run/fio.json"),
        op.write(f"{CONFIG}/power", 0),
        op.remove_directory(CONFIG),
        op.execute("modprobe", "-r", "null_blk"),
        op.absent("/sys/module/null_blk"),
    )
    assert all(result["ok"] for result in results), results[-1]
    assert '"total_ios" : 8' in results[5]["output"]
    host.stop()
    assert gone(host)
    assert not list(host.consoles.iterdir())
    assert not host.alive()


def test_daemons_are_reaped(boot):
    host = boot("emulated")
    ask(host, op.execute("sh", "-c", "sleep 0.1 & echo started"))
    time.sleep(1)
    states = ask(host, op.execute("sh", "-c", "cat /proc/[0-9]*/stat | grep -c ') Z ' || true"))
    assert states[0]["output"].strip() == "0"


def test_panic_is_noticed_and_its_console_kept(boot):
    host = boot("emulated")
    start = time.monotonic()
    with pytest.raises(HostError, match=r"died.*panic"):
        ask(host, op.put("/proc/sysrq-trigger", "c"), op.execute("sleep", "1000"))
    assert time.monotonic() - start < NOTICED_S
    assert not host.alive()
    host.stop()
    assert gone(host)
    assert "sysrq triggered crash" in next(host.consoles.iterdir()).read_text()


def test_a_killed_qemu_is_noticed_and_the_host_boots_again(boot):
    host = boot("emulated")
    os.kill(host.machine.process.pid, signal.SIGKILL)
    start = time.monotonic()
    with pytest.raises(HostError, match="died"):
        ask(host, op.execute("sleep", "1000"))
    assert time.monotonic() - start < 2
    first = host.facts()["boot_id"]
    host.start(uninterrupted)
    assert host.alive()
    assert host.facts()["boot_id"] != first


def test_a_stopped_machine_is_noticed(boot):
    """Both ways to hang without a sign: the processors are stopped (QMP), QEMU itself is."""
    host = boot("emulated")
    host.machine.qmp.ask("stop")
    start = time.monotonic()
    with pytest.raises(HostError, match="hangs"):
        ask(host, op.execute("sleep", "1000"))
    assert time.monotonic() - start < NOTICED_S
    assert not host.alive()
    host.stop()
    host.start(uninterrupted)
    os.kill(host.machine.process.pid, signal.SIGSTOP)
    start = time.monotonic()
    with pytest.raises(HostError, match="does not answer"):
        ask(host, op.execute("sleep", "1000"))
    assert time.monotonic() - start < NOTICED_S
    host.stop()
    assert gone(host)


def test_cancel_ends_a_session_and_the_guest_lives_on(boot):
    host = boot("emulated")
    daemon = op.execute("sh", "-c", "setsid sleep 1001 </dev/null >/dev/null 2>&1 & true")
    with pytest.raises(DeadlineExceeded):
        ask(host, daemon, op.execute("sleep", "1000"), deadline_s=3)
    start = time.monotonic()
    host.cancel("test", ["sleep"])
    assert time.monotonic() - start < NOTICED_S
    assert host.alive()
    assert ask(host, op.processes("sleep"))[0]["output"] == ""


def test_rescue_helps_an_agent_that_waits_in_the_kernel(boot):
    host = boot("emulated")
    writer = op.execute("sh", "-c", "mkfifo /run/pipe; setsid sleep 1000 </dev/null >/run/pipe 2>&1 & true")
    with pytest.raises(DeadlineExceeded):
        ask(host, writer, op.read("/run/pipe"), deadline_s=4)
    host.cancel("test", [])  # the agent reads until the pipe's last writer is dead, deaf to its port
    assert host.alive(), host.stuck
    assert ask(host, op.processes("sleep"))[0]["output"] == ""


def test_an_agent_beyond_rescue_makes_the_host_dead(boot):
    host = boot("emulated")
    with pytest.raises(DeadlineExceeded):
        ask(host, op.execute("mkfifo", "/run/pipe"), op.read("/run/pipe"), deadline_s=3)
    host.cancel("test", [])
    assert not host.alive()
    host.stop()
    assert gone(host)


def test_a_killed_agent_ends_the_guest(boot):
    host = boot("emulated")
    with pytest.raises(HostError, match="died"):
        ask(host, op.execute("sh", "-c", "kill -9 $PPID; sleep 1000"))
    host.stop()
    assert "the agent ended" in next(host.consoles.iterdir()).read_text()


def test_a_killed_keeper_takes_its_guest_with_it(lab_directory, tmp_path):
    mark = f"test-{os.getpid()}-killed"
    program = f"""
import time
from pathlib import Path
from scripts.hosts.guest.host import GuestHost, uninterrupted
host = GuestHost({{"lab": {str(lab_directory)!r}, "clock": "emulated"}}, {mark!r}, Path({str(tmp_path)!r}))
host.start(uninterrupted)
print("up", flush=True)
time.sleep(1000)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as keeper:
        assert keeper.stdout.readline() == "up\n"
        assert len(marked(f"BLK_KEEPER={mark}")) == 1
        keeper.kill()
    end = time.monotonic() + 3
    while marked(f"BLK_KEEPER={mark}") and time.monotonic() < end:
        time.sleep(0.05)
    assert not marked(f"BLK_KEEPER={mark}")


def test_the_instructions_clock_stands_still_between_requests(boot):
    host = boot("instructions")
    assert host.facts()["instructions_per_guest_second"] == 5e8
    before = float(ask(host, op.read("/proc/uptime"))[0]["output"].split()[0])
    used = cpu_s(host.machine.process.pid)
    time.sleep(2)
    assert cpu_s(host.machine.process.pid) - used < 0.2
    assert host.alive()
    after = float(ask(host, op.read("/proc/uptime"))[0]["output"].split()[0])
    assert after - before < 0.5
