"""From a lab and a clock to the command line of QEMU."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.hosts.guest.initramfs import AGENT_PORT, RESCUE_PORT, ROOT_TAG
from scripts.hosts.programs import search_path

QEMU = "qemu-system-x86_64"
SHIFT = 1
INSTRUCTIONS_PER_GUEST_SECOND = 10**9 // 2**SHIFT
"""Under -icount shift=N every instruction takes 2^N ns of guest time."""
MACHINES = {
    "hardware": ["-accel", "kvm", "-cpu", "host"],
    "emulated": ["-accel", "tcg,thread=multi", "-cpu", "max"],
    "instructions": ["-accel", "tcg,thread=single", "-cpu", "max", "-icount", f"shift={SHIFT},sleep=off"],
}
# A kernel that oopses or stalls under a driver ends at once (panic=-1 and -no-reboot end QEMU) with a trace on the
# console, where a wounded one would only let the run's deadline pass.
KERNEL = "console=ttyS0 loglevel=6 panic=-1 oops=panic softlockup_panic=1 rdinit=/blk/init"


def command(
    configuration: Mapping[str, Any], kernel: Path, root: Path, initrd: int, ends: tuple[int, int, int]
) -> list[str]:
    """The command that runs one guest and dies with the thread that started it.

    Args:
        configuration: `clock`, `cpus`, `memory_bytes`.
        initrd: descriptor of the initramfs.
        ends: descriptors of connected stream sockets: our agent's port, the rescue agent's port, QMP.
    """
    agent, rescue, qmp = ends
    monitor = os.environ.get("BLK_GUEST_MONITOR")  # a path: a second QMP socket, to look at or disturb a guest by hand
    return [
        *("setpriv", "--pdeathsig", "KILL", "--"),
        *(QEMU, "-name", "blkcampaign", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-machine", "q35", *MACHINES[configuration["clock"]]),
        *("-smp", str(configuration["cpus"]), "-m", f"{configuration['memory_bytes'] >> 20}M"),
        *("-kernel", str(kernel), "-initrd", f"/proc/self/fd/{initrd}", "-append", KERNEL),
        *("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"),
        *("-chardev", f"socket,id=qmp,fd={qmp}", "-mon", "chardev=qmp,mode=control"),
        *("-fsdev", f"local,id=root,path={root},security_model=none,readonly=on,multidevs=remap"),
        *("-device", f"virtio-9p-pci,fsdev=root,mount_tag={ROOT_TAG}"),
        *("-device", "virtio-serial-pci"),
        *("-chardev", f"socket,id=agent,fd={agent}", "-device", f"virtserialport,chardev=agent,name={AGENT_PORT}"),
        *("-chardev", f"socket,id=rescue,fd={rescue}", "-device", f"virtserialport,chardev=rescue,name={RESCUE_PORT}"),
        *(("-qmp", f"unix:{monitor},server=on,wait=off") if monitor else ()),
    ]


def environment(mark: str) -> dict[str, str]:
    """For virtme-ng, whose tools are beside our Python, and QEMU: everything carries the keeper's mark."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{search_path()}"
    return {**os.environ, "PATH": path, "BLK_KEEPER": mark}
