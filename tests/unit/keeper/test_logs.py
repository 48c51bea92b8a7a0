"""Log files of fio on their way from the host to the results: part by part, and whole or not at all."""

import hashlib
import select

import pytest

from scripts.hosts.local import LocalHost
from scripts.keeper import session as session_module
from scripts.keeper.results import move_logs, write_parts
from scripts.keeper.session import Session, StepFailed

CONTENT = b"1, 2, 0, 4096\n" * 50 + "é".encode() * 9 + b"\xff\x00\n"


def wait(fds, timeout_s):
    return select.select(list(fds), [], [], timeout_s)[0]


@pytest.fixture
def session(tmp_path, monkeypatch):
    monkeypatch.setattr(session_module, "LOG_PART_BYTES", 64)
    host = LocalHost("test-logs")
    host.start(wait)
    (tmp_path / "on-host").mkdir()
    yield Session("run", {"driver": "null", "device": {}}, {}, host, str(tmp_path))
    host.stop()


def test_parts_make_the_file_whatever_its_bytes(session, tmp_path):
    lengths = [len(CONTENT), 64, 0, 1]
    for number, length in enumerate(lengths):
        (tmp_path / f"on-host/fio_bw.{number}.log").write_bytes(CONTENT[:length])
    session.take_logs(f"{tmp_path}/on-host", tmp_path / "run", wait)
    assert not (tmp_path / "on-host").exists()
    for number, length in enumerate(lengths):
        name = f"logs/fio_bw.{number}.log"
        assert (tmp_path / "run" / name).read_bytes() == CONTENT[:length]
        assert session.logs[name] == hashlib.sha256(CONTENT[:length]).hexdigest()


def test_a_host_that_fails_on_the_way_leaves_no_part(session, tmp_path):
    (tmp_path / "on-host/fio_bw.1.log").write_bytes(CONTENT)
    parts = session.parts(f"{tmp_path}/on-host/fio_bw.1.log", wait)
    next(parts)
    (tmp_path / "on-host/fio_bw.1.log").unlink()
    with pytest.raises(StepFailed, match="No such file"):
        write_parts(tmp_path / "run/logs/fio_bw.1.log", parts)
    assert list((tmp_path / "run/logs").iterdir()) == []


def test_a_place_that_can_not_be_written_is_said(session, tmp_path):
    (tmp_path / "on-host/fio_bw.1.log").write_bytes(CONTENT)
    (tmp_path / "run").write_text("a file")
    with pytest.raises(StepFailed, match=r"run/logs/fio_bw\.1\.log: Not a directory"):
        session.take_logs(f"{tmp_path}/on-host", tmp_path / "run", wait)


def test_logs_of_a_failed_run_go_where_the_rest_of_it_is(tmp_path):
    write_parts(tmp_path / "run/logs/a.log", iter([b"1"]))
    move_logs(tmp_path / "run", tmp_path / "failed/run/session")
    move_logs(tmp_path / "run", tmp_path / "failed/run/session")
    assert (tmp_path / "failed/run/session/logs/a.log").read_bytes() == b"1"
    assert not (tmp_path / "run/logs").exists()
