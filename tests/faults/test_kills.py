"""Kills at any moment: nothing stays loaded, the same command completes the campaign, no run is lost or doubled."""

import concurrent.futures
import contextlib
import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.place import Place, check_order

ROUNDS = 100
WORKLOADS = {"only": {"rw": "randwrite", "bs": "4k"}}


def processes(place, *words):
    """Pids of living processes of this place whose command line has all words."""
    mark = f"BLK_HOST_DIR={place.host}".encode()
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                environment = Path(f"/proc/{entry}/environ").read_bytes().split(b"\0")
                line = Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                if mark in environment and all(word in line for word in words):
                    found.append(int(entry))
    return found


def wait_until(condition, timeout_s=20, step_s=0.01):
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(step_s)
    return False


def kill(pids, number=signal.SIGKILL):
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def nothing_is_left(place):
    """Within seconds and without another command, the device is gone."""
    assert wait_until(lambda: not (place.device / "loaded").exists(), 15), place.events()
    assert wait_until(lambda: not processes(place, "fixtures/fake/fio"), 15)


def completes(place, runs):
    """The same command again measures what is missing, and then nothing is missing."""
    code, output = place.run()
    assert code == 0, output
    assert len(place.complete()) == runs, output
    check_order(place.events(), whole=False)
    assert not (place.device / "loaded").exists()
    assert not list((place.work / "results" / "session").glob("*"))
    before = place.events()
    code, output = place.run()
    assert code == 0 and "Nothing to be done" in output
    assert place.events() == before


def has_event(place, name):
    return lambda: any(event[0] == name for event in place.events())


WHERE = {
    "load": lambda place: wait_until(has_event(place, "load")),
    "prep": lambda place: wait_until(has_event(place, "prep-begin")),
    "fio": lambda place: wait_until(has_event(place, "run-begin")),
    "unload": lambda place: wait_until(has_event(place, "run-end")) and time.sleep(0.15) is None,
}
VICTIMS = {
    "snakemake": lambda place, process: kill([process.pid]),
    "group": lambda place, process: os.killpg(process.pid, signal.SIGKILL),
    "ctrl-c": lambda place, process: os.killpg(process.pid, signal.SIGINT),
    "term": lambda place, process: kill([process.pid], signal.SIGTERM),
    "hup": lambda place, process: os.killpg(process.pid, signal.SIGHUP),
    "keeper": lambda place, process: kill(processes(place, "keeper/server.py")),
    "agent": lambda place, process: kill(processes(place, "hosts/agent.py")),
    "fio": lambda place, process: kill(processes(place, "fixtures/fake/fio")),
    "client": lambda place, process: kill(processes(place, "keeper/client.py")),
    "everything": lambda place, process: kill(processes(place)),
}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("victim", VICTIMS)
def test_named_kills(place, where, victim):
    (place.device / "fio_s").write_text("0.6")
    (place.device / "unload_s").write_text("0.3")
    place.campaign(workloads=WORKLOADS, repeats=1)
    process = place.start()
    assert WHERE[where](place)
    VICTIMS[victim](place, process)
    process.communicate(timeout=60)
    (place.device / "fio_s").unlink()
    (place.device / "unload_s").unlink()
    if victim != "everything":  # its recovery was killed too: that is the next command's
        nothing_is_left(place)
    completes(place, 2)


def one_round(root, seed):
    """Start, kill something at a random moment, perhaps twice, complete."""
    chance = random.Random(seed)
    place = Place(root / str(seed))
    place.campaign(workloads=WORKLOADS, repeats=1, seed=seed)
    (place.device / "fio_s").write_text(f"{chance.uniform(0, 0.3):.2f}")
    (place.device / "unload_s").write_text(f"{chance.uniform(0, 0.2):.2f}")
    history = []
    for _ in range(chance.choice([1, 1, 2])):
        process = place.start(cores=chance.choice([1, 4]))
        if chance.random() < 0.8:
            count = len(place.events())
            wait_until(lambda count=count, p=process: len(place.events()) > count or p.poll() is not None, 30)
        time.sleep(chance.uniform(0, 1.2))
        victim = chance.choice(list(VICTIMS))
        history.append(victim)
        with contextlib.suppress(OSError):
            VICTIMS[victim](place, process)
        process.communicate(timeout=120)
        if victim != "everything":
            nothing_is_left(place)
    completes(place, 2)
    return history


def test_random_kills(tmp_path):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rounds = {seed: pool.submit(one_round, tmp_path, seed) for seed in range(ROUNDS)}
        failures = {seed: repr(f.exception()) for seed, f in rounds.items() if f.exception()}
    assert not failures, json.dumps(failures, indent=1)
