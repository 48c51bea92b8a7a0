"""Real guests: `pytest -m guest`. The lab is $BLK_TEST_LAB (a directory with manifest.json), or this checkout's own."""

import os
import time
from pathlib import Path

import pytest

from scripts.hosts.guest.host import GuestHost, uninterrupted

REPOSITORY = Path(__file__).resolve().parents[2]


def lab() -> Path | None:
    """A lab that is already built; tests here never build one."""
    named = os.environ.get("BLK_TEST_LAB")
    if named:
        return Path(named)
    from scripts.lab.manifest import locate

    state = locate(REPOSITORY)
    return state.path if state.ready else None


@pytest.fixture(scope="session")
def lab_directory() -> Path:
    found = lab()
    if not found:
        pytest.fail("no lab is built: make lab (make test does it)")
    return found


@pytest.fixture
def boot(lab_directory, tmp_path, request):
    """boot(clock) -> a started guest, which is stopped at the end of the test."""
    hosts = []

    def booted(clock: str = "emulated") -> GuestHost:
        mark = f"test-{os.getpid()}-{time.monotonic_ns()}"
        host = GuestHost({"lab": lab_directory, "clock": clock, "memory_bytes": 2 << 30}, mark, tmp_path / "consoles")
        hosts.append(host)
        host.start(uninterrupted)
        return host

    yield booted
    for host in hosts:
        host.stop()
