"""Whether KVM works here: asked by booting, since an existing /dev/kvm (and even its ioctls) prove nothing.

The lab's kernel is booted without a root file system; only its clean complaint about that counts. The answer is cached
per boot of this machine, kernel and QEMU.
"""

import contextlib
import json
import os
import re
import select
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scripts.hosts.guest.boot import QEMU
from scripts.hosts.programs import find
from scripts.keeper.process import boot_id
from scripts.lab.cache import cache_directory

PROBE_S = 25
END = re.compile(rb"not syncing: VFS|KVM internal error|emulation failure|failed to initialize|[Oo]ops: |not syncing")


@dataclass(frozen=True)
class Accelerator:
    """`kvm` or `tcg`, and why."""

    name: str
    reason: str


def qemu_identity() -> str:
    """Which QEMU this is, without running it."""
    path = find(QEMU)
    if not path:
        return "none"
    found = Path(path).resolve().stat()
    return f"{found.st_size}-{found.st_mtime_ns}"


def accelerator(kernel: Path, say: Callable[[str], None] | None = None) -> Accelerator:
    """The accelerator to use with this kernel image; boots it once where there is a /dev/kvm to try."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return Accelerator("tcg", "no usable /dev/kvm")
    key = f"{boot_id()} {kernel} {qemu_identity()}"
    path = cache_directory() / "accelerator.json"
    with contextlib.suppress(OSError, ValueError, KeyError):
        cached = json.loads(path.read_bytes())
        if cached["key"] == key:
            return Accelerator(cached["name"], cached["reason"])
    if say:
        say(f"trying KVM by booting the kernel (once a boot of this machine, at most {PROBE_S} s)")
    found = probe(kernel)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        partial.write_text(json.dumps({"key": key, "name": found.name, "reason": found.reason}))
        partial.replace(path)
    return found


def probe(kernel: Path, timeout_s: float = PROBE_S) -> Accelerator:
    """Boot and look."""
    command = [
        "setpriv",
        "--pdeathsig",
        "KILL",
        "--",
        QEMU,
        "-accel",
        "kvm",
        "-cpu",
        "host",
        "-smp",
        "2",
        "-m",
        "512",
        "-nodefaults",
        "-display",
        "none",
    ]
    command += ["-no-reboot", "-serial", "stdio", "-kernel", str(kernel)]
    command += ["-append", "console=ttyS0 earlyprintk=serial,ttyS0,115200 panic=-1"]
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        return Accelerator("tcg", f"{QEMU}: {error.strerror}")
    assert process.stdout
    output, why, end = b"", f"no answer within {timeout_s:.0f} s", time.monotonic() + timeout_s
    try:
        while (left := end - time.monotonic()) > 0:
            if select.select([process.stdout], [], [], left)[0]:
                data = os.read(process.stdout.fileno(), 65536)
                if not data:
                    why = "QEMU ended: " + " ".join(output[-200:].decode(errors="replace").split())
                    break
                output += data
                if match := END.search(output):
                    why = match[0].decode()
                    break
    finally:
        process.kill()  # after an internal error it stays, paused
        process.wait()
        process.stdout.close()
    works = "not syncing: VFS" in why
    return Accelerator("kvm" if works else "tcg", "a kernel boots" if works else f"KVM does not work here: {why}")
