"""rublk's null target with a fault to come: each session takes one line of the file named by BLK_TEST_FAULTS.

`daemon` kills rublk and `panic` crashes the kernel once fio runs; `stop` stops the guest's processors (QMP) before it.
`kill` and `freeze` are signals to QEMU, sent by the test itself; here they only mean: no other fault.
"""

import gc
import os
from pathlib import Path

from scripts.drivers import ublk
from scripts.hosts import operations as op
from scripts.hosts.guest.machine import Machine

MODULES, DAEMONS = ublk.MODULES, ublk.DAEMONS
requires, readback, describe, reset = ublk.requires, ublk.readback, ublk.describe, ublk.reset
destroy, gone, node = ublk.destroy, ublk.gone, ublk.node

IN_GUEST = {"daemon": "kill -9 $(cat /run/blk-test-daemon)", "panic": "echo c >/proc/sysrq-trigger"}
LATER = """
for stat in /proc/[0-9]*/comm; do
    read -r comm <"$stat" && [ "$comm" = rublk ] && basename "${stat%/comm}" >/run/blk-test-daemon
done
(until grep -qsx fio /proc/[0-9]*/comm; do sleep 0.2; done; sleep 1; FAULT) </dev/null >/dev/null 2>&1 &
"""
fault = ""


def next_fault() -> str:
    """Take the first line of the file."""
    path = Path(os.environ["BLK_TEST_FAULTS"])
    first, *rest = path.read_text().split() or [""]
    path.write_text("\n".join(rest))
    return first


def create(device):
    global fault
    fault = next_fault()
    later = [op.execute("sh", "-c", LATER.replace("FAULT", IN_GUEST[fault]))] if fault in IN_GUEST else []
    return [*ublk.create(device), *later]


def fio_options(device):
    """Called just before fio is started, in the keeper."""
    if fault == "stop":
        for found in gc.get_objects():
            if isinstance(found, Machine) and found.pidfd >= 0:
                found.qmp.ask("stop")
    return ublk.fio_options(device)
