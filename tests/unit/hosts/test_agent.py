"""The agent through a real socket and real processes."""

import os
import select
import threading
import time
from pathlib import Path

import pytest

from scripts.hosts import operations as op
from scripts.hosts.base import DeadlineExceeded, HostError
from scripts.hosts.local import LocalHost


def wait(fds, timeout_s):
    return select.select(list(fds), [], [], timeout_s)[0]


@pytest.fixture
def host(monkeypatch):
    host = LocalHost("test-mark")
    host.start(wait)
    yield host
    host.stop()


def run(host, *operations, deadline_s=20, session="s1"):
    return host.request(list(operations), session, deadline_s, wait)


def test_files_and_saved_names(host, tmp_path):
    results = run(
        host,
        op.put(f"{tmp_path}/a", "12"),
        op.read(f"{tmp_path}/a", save="size", label="size"),
        op.put(f"{tmp_path}/b-{{size}}", "{size}0"),
        op.write(f"{tmp_path}/a", True),
        op.glob(f"{tmp_path}/*"),
    )
    assert [r["ok"] for r in results] == [True] * 5
    assert (tmp_path / "b-12").read_text() == "120"
    assert (tmp_path / "a").read_text() == "1\n"
    assert results[-1]["output"].split("\n") == [f"{tmp_path}/a", f"{tmp_path}/b-12"]


def test_bytes_come_back_as_they_were(host, tmp_path):
    data = bytes(range(256)) * 10
    (tmp_path / "raw").write_bytes(data)
    (result,) = run(host, op.read(f"{tmp_path}/raw"))
    assert result["output"].encode("utf-8", "surrogateescape") == data


def test_stops_at_first_failure_and_says_why(host, tmp_path):
    results = run(host, op.read("/nonexistent", optional=True), op.write(f"{tmp_path}/x", 4096), op.put("/y", ""))
    assert [r["ok"] for r in results] == [False, False]
    assert f"write {tmp_path}/x = '4096': No such file or directory (ENOENT)" in results[1]["error"]


def test_exit_codes_and_stderr(host):
    results = run(
        host,
        op.execute("sh", "-c", "echo out; echo err >&2; exit 3", allow=[3]),
        op.execute("sh", "-c", "echo why >&2; exit 4", optional=True),
        op.execute("no-such-program-here"),
    )
    assert results[0]["exit_code"] == 3
    assert (results[0]["output"], results[0]["stderr"]) == ("out\n", "err\n")
    assert "exit code 4: why" in results[1]["error"]
    assert results[2]["error"] == "no-such-program-here: No such file or directory"


def test_a_daemon_that_keeps_its_output_open_does_not_hang_us(host):
    start = time.monotonic()
    run(host, op.execute("sh", "-c", "sleep 60 & echo started"))
    assert time.monotonic() - start < 10
    assert run(host, op.processes("sleep"))[0]["output"]
    run(host, op.kill("sleep"))
    assert run(host, op.wait_no_process("sleep"))[0]["ok"]


def test_processes_carry_the_marks(host):
    (result,) = run(host, op.execute("env"))
    assert "BLK_SESSION=s1\n" in result["output"]
    assert "BLK_KEEPER=test-mark\n" in result["output"]


def test_cancel_ends_a_running_program_and_spares_other_sessions(host):
    threading.Timer(0.3, host.cancel, ("other", [])).start()
    threading.Timer(0.8, host.cancel, ("s1", ["sleep"])).start()
    start = time.monotonic()
    results = run(host, op.execute("sleep", 60), op.read("/proc/uptime"))
    assert 0.7 < time.monotonic() - start < 10
    assert [r["ok"] for r in results] == [False]
    assert run(host, op.read("/proc/uptime"))[0]["ok"]


def test_deadline_then_the_late_reply_is_not_taken_for_the_next(host):
    with pytest.raises(DeadlineExceeded):
        run(host, op.execute("sleep", 60), deadline_s=0.3)
    host.cancel("s1", [])
    assert run(host, op.execute("echo", "next"))[0]["output"] == "next\n"


def test_waiting_operations(host, tmp_path):
    threading.Timer(0.2, (tmp_path / "late").touch).start()
    assert run(host, op.wait_for(f"{tmp_path}/la*"))[0]["ok"]
    results = run(host, op.wait_gone(f"{tmp_path}/late", count=2), op.put("/y", ""))
    assert results[-1]["error"] == f"{tmp_path}/late is still there"
    assert "still there" in run(host, op.absent(f"{tmp_path}/l*"))[0]["error"]


def test_death_of_the_agent_is_an_error_at_once(host):
    threading.Timer(0.2, lambda: os.kill(host.process.pid, 9)).start()
    start = time.monotonic()
    with pytest.raises(HostError, match="agent on this machine died"):
        run(host, op.execute("sleep", 30))
    assert time.monotonic() - start < 5
    host.process.wait(5)  # the socket can be closed a moment before the process is gone
    assert not host.alive()
    host.start(wait)
    assert run(host, op.read("/proc/uptime"))[0]["ok"]


def test_when_the_keeper_is_gone_the_session_is_killed_and_the_command_runs(tmp_path):
    host = LocalHost("m2", on_loss=["touch", f"{tmp_path}/recovered"])
    host.start(wait)
    with pytest.raises(DeadlineExceeded):
        run(host, op.execute("sleep", 600), session="lost", deadline_s=0.2)
    host.channel.close()  # as the kernel does for a killed keeper
    for _ in range(200):
        if (tmp_path / "recovered").exists():
            break
        time.sleep(0.02)
    assert (tmp_path / "recovered").exists()
    mark = b"BLK_SESSION=lost"
    left = [p for p in os.listdir("/proc") if p.isdigit() and mark in environment(p)]
    assert left == []
    host.process.wait()
    host.stop()


def environment(pid):
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
