"""From a lab and a clock to the command that boots a guest."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

AGENT_PORT = "blkcampaign.agent"
RESCUE_PORT = "org.qemu.guest_agent.0"
SHIFT = 1
INSTRUCTIONS_PER_GUEST_SECOND = 10**9 // 2**SHIFT
"""Under -icount shift=N every instruction takes 2^N ns of guest time."""

START = f"""modprobe -q configfs
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
port() {{ grep -l "^$1$" /sys/class/virtio-ports/*/name | cut -d/ -f5; }}
mkdir -p /run/blk
cp /lab/agent.py /run/blk/
python3 -S -E /run/blk/agent.py "/dev/$(port {AGENT_PORT})" \\
    /bin/sh -c 'echo o >/proc/sysrq-trigger' </dev/null >/lab/agent.log 2>&1 &
exec qemu-ga -m virtio-serial -p "/dev/$(port {RESCUE_PORT})" -t /run </dev/null >/dev/null 2>&1
"""


def write_share(directory: Path) -> None:
    """The folder that is /lab in the guest: our agent, and the script that starts it."""
    shutil.copyfile(Path(__file__).resolve().parents[1] / "agent.py", directory / "agent.py")
    (directory / "start.sh").write_text(START)


def command(configuration: Mapping[str, Any], kernel: Path, root: Path, directory: Path) -> list[str]:
    """The command line of vng.

    Args:
        configuration: `clock`, `cpus`, `memory_bytes`. directory: for sockets, and shared with the guest as /lab.
    """
    sockets = {"qmp": "qmp.sock", "agent": "agent.sock", "rescue": "rescue.sock"}
    paths = {name: directory / file for name, file in sockets.items()}
    options = [
        f"-qmp unix:{paths['qmp']},server=on,wait=off",
        f"-pidfile {directory}/qemu.pid",
        f"-chardev socket,path={paths['agent']},server=on,wait=off,id=blkagent",
        f"-device virtserialport,chardev=blkagent,name={AGENT_PORT}",
        f"-chardev socket,path={paths['rescue']},server=on,wait=off,id=blkrescue",
        f"-device virtserialport,chardev=blkrescue,name={RESCUE_PORT}",
    ]
    clock = configuration["clock"]
    if clock == "instructions":
        options.append(f"-icount shift={SHIFT},sleep=off")
    virtual = [] if clock == "hardware" else ["--disable-kvm"]
    return [
        str(Path(sys.executable).with_name("vng")),
        *virtual,
        "--disable-microvm",
        "--force-9p",
        *("--root", str(root), "--user", "root", "--run", str(kernel)),
        *("--cpus", str(configuration["cpus"]), "-m", f"{configuration['memory_bytes'] >> 20}M"),
        *("--rwdir", f"/lab={directory}"),
        f"--qemu-opts={' '.join(options)}",
        "--verbose",
        "--",
        "sh /lab/start.sh",
    ]


def environment(mark: str) -> dict[str, str]:
    """For vng: its own tools are beside our Python, everything carries the keeper's mark."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "BLK_KEEPER": mark}
