#!/usr/bin/env python3
"""QEMU as far as a host sees it: a console on stdout, QMP, and our real agent at the port.

$FAKE_QEMU is a directory; files in it say how to behave: `no-start` (its text is printed, then the end), `silent` (no
agent; with a number: only for that many starts), `paused` (what query-status shows). `starts` counts.
"""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

HERE = Path(os.environ["FAKE_QEMU"])
AGENT = Path(__file__).resolve().parents[4] / "scripts" / "hosts" / "agent.py"


def end_of(name):
    """The descriptor that stands behind `socket,id=<name>,fd=` in our arguments."""
    prefix = f"socket,id={name},fd="
    return int(next(a for a in sys.argv if a.startswith(prefix)).removeprefix(prefix))


def main():
    starts = int((HERE / "starts").read_text() or 0) + 1 if (HERE / "starts").exists() else 1
    (HERE / "starts").write_text(str(starts))
    (HERE / "argv").write_text(json.dumps(sys.argv))
    if (HERE / "no-start").exists():
        sys.exit((HERE / "no-start").read_text())
    print("[    0.1] Linux version of a fake", flush=True)
    silent = HERE / "silent"
    if not silent.exists() or starts > int(silent.read_text()):
        port = end_of("agent")
        dies_with_us = ["setpriv", "--pdeathsig", "KILL", "--"]
        subprocess.Popen([*dies_with_us, sys.executable, "-S", "-E", str(AGENT), f"fd:{port}"], pass_fds=[port])
        os.close(port)
    else:
        print("[    0.2] Kernel panic - not syncing: fake", flush=True)
        sys.exit(0)
    qmp = socket.socket(fileno=end_of("qmp")).makefile("rwb")
    qmp.write(b'{"QMP": {}}\n')
    qmp.flush()
    for line in qmp:
        asked = json.loads(line)["execute"]
        if asked == "stop":
            (HERE / "paused").touch()
        elif asked == "cont":
            (HERE / "paused").unlink(missing_ok=True)
        answers = {
            "query-version": {"qemu": {"major": 7, "minor": 2, "micro": 0}},
            "query-status": {"running": not (HERE / "paused").exists(), "status": "paused"},
            "query-kvm": {"enabled": (HERE / "kvm").exists()},
        }
        qmp.write(b'{"event": "SOMETHING"}\n' + json.dumps({"return": answers.get(asked, {})}).encode() + b"\n")
        qmp.flush()
        if asked == "quit":
            sys.exit(0)


main()
