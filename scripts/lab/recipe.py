"""What the lab consists of. A change here is a changed lab: raise RECIPE."""

RECIPE = 1
SUITES = ("trixie", "trixie-backports")
KERNEL_SERIES = "7.3"
FLAVOUR = "+deb13-amd64"
RUBLK = "0.2.15"

GUEST = (
    "bash", "coreutils", "mount", "kmod", "procps", "psmisc", "util-linux", "mawk", "qemu-guest-agent", "fio",
    "xfsprogs", "nbd-client", "nbdkit", "nbd-server", "qemu-utils", "zbd-utils", "nvme-cli", "dmsetup", "iproute2",
    "python3-minimal",
)  # fmt: skip
"""Debian packages of the guest's root, beside the essential ones."""

BUILDER = (
    "gcc-14", "libc6-dev", "binutils", "make", "perl", "mawk", "kmod", "xz-utils", "python3-minimal", "rustc",
    "rust-src", "bindgen", "libclang-19-dev", "libelf1t64", "libssl3t64", "pahole", "cargo", "ca-certificates",
)  # fmt: skip
"""Debian packages of the builder: Debian's own kernel toolchain, so that symbols match, and cargo."""

BASE = ("base-files", "base-passwd", "dash", "?essential")
MEASURED = ("fio", "xfsprogs", "rustc", "cargo", "gcc-14")
"""Besides the kernel's packages: a version other than the locked one would change a number."""

PROGRAMS = (
    "rublk", "mkfs.xfs", "blkzone", "losetup", "nbd-client", "nbd-server", "nbdkit", "qemu-nbd", "dmsetup", "nvme",
    "fio",
)  # fmt: skip
"""Programs that drivers may ask for."""

MODULES = {"zloop": "drivers/block/zloop.c", "rnull_mod": "drivers/block/rnull"}
"""Modules built out of tree, and where their source is in linux-source."""


def kernel_packages(release: str) -> tuple[list[str], list[str]]:
    """(packages of the guest's kernel, packages to build modules for it)."""
    common = release.removesuffix("-amd64")
    series = ".".join(release.split(".")[:2])
    build = [
        f"linux-headers-{release}",
        f"linux-headers-{common}-common",
        f"linux-kbuild-{common}",
        f"linux-source-{series}",
    ]
    return [f"linux-{part}-{release}" for part in ("base", "binary", "modules")], build
