"""What the guest's kernel starts from: virtme-ng's initramfs (its modules, busybox) and our two scripts behind it.

virtme-ng knows which modules a kernel needs to reach its root over 9p. Its own init, made for interactive use, takes
two thirds of an emulated boot; ours mounts the lab's root read-only behind a tmpfs overlay and starts the agent.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from scripts.hosts.base import HostError

AGENT = tuple(Path(__file__).resolve().parents[1] / name for name in ("agent.py", "marks.py"))
AGENT_PORT = "blkcampaign.agent"
RESCUE_PORT = "org.qemu.guest_agent.0"
ROOT_TAG = "/dev/root"
MODULES = ("kernel/fs/overlayfs/overlay.ko", "kernel/fs/configfs/configfs.ko")
"""Needed here beyond virtme-ng's; absent files are built into the kernel."""

# The root never changes while a guest lives, so its files may stay in the guest's page cache (cache=loose): without
# that every start of fio fetches sixty libraries again.
INIT = f"""#!/bin/sh
mount -t proc proc /proc
cd / && . /modules/load_all.sh
for module in /blk/*.ko*; do [ -e "$module" ] && insmod "$module"; done
mkdir -p /lower /writable
mount -n -t 9p -o ro,version=9p2000.L,trans=virtio,access=any,msize=524288,cache=loose {ROOT_TAG} /lower
mount -t tmpfs writable /writable
mkdir /writable/upper /writable/work
mount -t overlay -o lowerdir=/lower,upperdir=/writable/upper,workdir=/writable/work root /newroot
mount -t devtmpfs dev /newroot/dev
mount -t proc proc /newroot/proc
mount -t sysfs sys /newroot/sys
mount -t tmpfs -o mode=755 run /newroot/run
mount -t tmpfs -o mode=1777 tmp /newroot/tmp
mkdir /newroot/run/blk
cp /blk/agent.py /blk/marks.py /blk/start /newroot/run/blk/
umount /proc
exec switch_root /newroot /bin/sh /run/blk/start
"""

# This shell is process 1: waiting for the agent it also reaps what daemons leave. Without the agent a guest is useless.
START = f"""export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t configfs configfs /sys/kernel/config
port() {{ for name in /sys/class/virtio-ports/*/name; do
    read -r found <"$name"
    if [ "$found" = "$1" ]; then name=${{name%/name}}; echo "/dev/${{name##*/}}"; fi
done; }}
python3 -S -E /run/blk/agent.py "$(port {AGENT_PORT})" </dev/null >/dev/console 2>&1 &
agent=$!
qemu-ga -m virtio-serial -p "$(port {RESCUE_PORT})" -t /run </dev/null >/dev/null 2>&1 &
ip link set lo up
wait "$agent"
echo "blkcampaign: the agent ended with code $?" >/dev/console
echo o >/proc/sysrq-trigger
sleep 60
"""


def newc(files: Sequence[tuple[str, bytes, int]]) -> bytes:
    """A cpio archive in the kernel's format.

    Args:
        files: (name without leading slash, content, mode with type bits); directories before what is in them.
    """
    parts = []
    for number, (name, content, mode) in enumerate([*files, ("TRAILER!!!", b"", 0)], 1):
        # ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor, rdevmajor, rdevminor, namesize, check
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + "".join(f"{field:08x}" for field in fields).encode() + name.encode() + b"\0"
        parts += [head, b"\0" * (-len(head) % 4), content, b"\0" * (-len(content) % 4)]
    return b"".join(parts)


def own_part(modules: Path) -> bytes:
    """Our archive: /blk with init, start, the agent, and the modules of `modules` (lib/modules/<release>)."""
    files = [("blk", b"", 0o040755)]
    files += [("blk/init", INIT.encode(), 0o100755), ("blk/start", START.encode(), 0o100755)]
    files += [(f"blk/{path.name}", path.read_bytes(), 0o100644) for path in AGENT]
    for module in MODULES:
        for path in sorted(modules.glob(f"{module}*")):
            files.append((f"blk/{path.name}", path.read_bytes(), 0o100644))
    return newc(files)


def virtme_part(kernel: Path, root: Path, environment: dict[str, str]) -> bytes:
    """virtme-ng's archive for this kernel.

    Raises:
        HostError: virtme-run failed; the text is its own.
    """
    with tempfile.TemporaryDirectory(prefix="blk-") as directory:
        path = Path(directory) / "initramfs"
        command = [str(Path(sys.executable).with_name("virtme-run")), "--dry-run", "--force-initramfs"]
        command += ["--save-initramfs", str(path), "--kimg", str(kernel), "--mods", "auto", "--root", str(root)]
        command += ["--user", "root", "--disable-kvm", "--disable-microvm", "--force-9p", "--script-sh", "true"]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, timeout=60, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise HostError(f"virtme-run: {error}") from error
        if done.returncode or not path.exists():
            said = (done.stderr or done.stdout).decode(errors="replace").strip()[-300:]
            raise HostError(f"virtme-run ended with code {done.returncode}: {said}")
        return path.read_bytes()


def initramfs(kernel: Path, root: Path, release: str, environment: dict[str, str]) -> int:
    """Descriptor of an anonymous file with the whole initramfs; the caller closes it.

    Args:
        kernel: image. root: of the lab, with usr/lib/modules/<release>. environment: for virtme-run.

    Raises:
        HostError: see `virtme_part`.
    """
    content = virtme_part(kernel, root, environment) + own_part(root / "usr" / "lib" / "modules" / release)
    fd = os.memfd_create("initramfs", os.MFD_CLOEXEC)
    with open(fd, "wb", closefd=False) as file:
        file.write(content)
    return fd
