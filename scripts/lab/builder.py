"""The builder: a chroot with Debian's kernel toolchain. Builds zloop, rnull_mod and rublk; needs no kernel tree.

Debian's headers have no Rust metadata. Of linux-source only rust/, scripts/ and a few headers are unpacked into them,
and the metadata is made there by the kernel's own makefiles, without code generation: modules built against it are
bit-identical to those built against a full one.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from scripts.lab.run import BuildError, Log

ENTER = 'mount --rbind /dev "$0/dev" && mount --rbind /proc "$0/proc" && exec chroot "$0" /usr/bin/env -i "$@"'
ENVIRONMENT = ("PATH=/usr/bin:/usr/sbin", "HOME=/root", "LC_ALL=C.UTF-8")
PASSED = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "no_proxy")
LINKS = ("gcc", "cc", "x86_64-linux-gnu-gcc")

RUSTC = """#!/bin/bash
# Kernel crates: metadata only. Crate ids and encoded MIR are those of a full build, so what links against them is too.
object= target= host=
for argument; do
    case $argument in
    *target.json) target=1 ;;
    --emit=obj=*) object=${argument#--emit=obj=} ;;
    *rust/host/lib*.rlib) host=1 ;;
    esac
done
case "$*" in *--print* | *--version*) exec rustc "$@" ;; esac
if [ -n "$target" ] && [ -n "$object" ]; then
    rustc "$@" -Zno-codegen || exit
    [ -e "$object" ] || gcc-14 -x assembler -c /dev/null -o "$object"
elif [ -n "$host" ] || [[ "$*" == *proc-macro* ]]; then
    exec rustc "$@" -Copt-level=0
else
    exec rustc "$@"
fi
"""
METADATA = """set -e
make -s -f $srctree/scripts/Makefile.build obj=scripts need-builtin=1 scripts/target.json
exec make -j$(nproc) -f $srctree/scripts/Makefile.build obj=rust rust/kernel.o
"""
MAKEFILES = {"zloop": "obj-m := zloop.o\n", "rnull_mod": "obj-m := rnull_mod.o\nrnull_mod-y := rnull.o\n"}


class Builder:
    """A chroot at `root` for modules of kernel `release`."""

    def __init__(self, root: Path, release: str, log: Log):
        self.root, self.release, self.log = root, release, log
        self.common = release.removesuffix("-amd64")
        self.headers = f"/usr/src/linux-headers-{release}"

    def inside(self, stage: str, *command: str) -> None:
        """Run a command in the chroot, without root rights of this machine."""
        unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        passed = [f"{name}={os.environ[name]}" for name in PASSED if name in os.environ]
        self.log.run(stage, [*unshare, "sh", "-c", ENTER, str(self.root), *ENVIRONMENT, *passed, *command])

    def configure(self) -> None:
        """Compiler names, name resolution, certificates and the user's cargo registry."""
        for name in LINKS:
            link = self.root / "usr" / "bin" / name
            link.unlink(missing_ok=True)
            link.symlink_to("gcc-14")
        certificates = self.root / "etc" / "ssl" / "certs"
        certificates.mkdir(parents=True, exist_ok=True)
        files = [
            ("/etc/resolv.conf", "etc"),
            ("/etc/hosts", "etc"),
            ("/etc/ssl/certs/ca-certificates.crt", "etc/ssl/certs"),
        ]
        for source, target in files:
            if Path(source).is_file():
                shutil.copyfile(source, self.root / target / Path(source).name)
        cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
        (self.root / "oot" / "cargo").mkdir(parents=True, exist_ok=True)
        for name in ("config.toml", "config"):
            if (cargo / name).is_file():
                shutil.copyfile(cargo / name, self.root / "oot" / "cargo" / name)

    def take_source(self, deb: Path, series: str) -> None:
        """Unpack 16 of linux-source's 1,640 MB."""
        top = f"linux-source-{series}"
        wanted = ("rust", "scripts", "drivers/block", "drivers/base/base.h", "drivers/android/binder")
        target = self.root / "source"
        target.mkdir(exist_ok=True)
        path = self.log.directory / "linux-source.log"
        with path.open("ab") as out:
            inner = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE, stderr=out)
            member = f"./usr/src/{top}.tar.xz"
            xz = subprocess.Popen(["tar", "-xOf", "-", member], stdin=inner.stdout, stdout=subprocess.PIPE, stderr=out)
            plain = subprocess.Popen(["xz", "-T0", "-dc"], stdin=xz.stdout, stdout=subprocess.PIPE, stderr=out)
            names = [f"{top}/{name}" for name in wanted]
            unpack = ["tar", "-x", "-C", str(target), "--strip-components=1", "--no-same-owner", "-f", "-", *names]
            code = subprocess.run(unpack, stdin=plain.stdout, stderr=out, check=False).returncode
            for process in (inner, xz, plain):
                assert process.stdout
                process.stdout.close()
                process.wait()
        if code:
            raise BuildError(f"linux-source: tar ended with code {code}", path)

    def lay_out(self) -> None:
        """Put the source where the headers' makefiles look for it."""
        source, headers = self.root / "source", self.root / f"usr/src/linux-headers-{self.common}-common"
        shutil.copytree(source / "rust", headers / "rust", dirs_exist_ok=True, symlinks=True)
        (headers / "drivers" / "base").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / "drivers/base/base.h", headers / "drivers/base/base.h")
        shutil.copytree(source / "drivers/android/binder", headers / "drivers/android/binder", dirs_exist_ok=True)
        kbuild = self.root / f"usr/lib/linux-kbuild-{self.common}" / "scripts"
        self.log.run("lay-out", ["cp", "-an", f"{source}/scripts/.", str(kbuild)])
        for name, makefile in MAKEFILES.items():
            (self.root / "oot" / name).mkdir(parents=True)
            (self.root / "oot" / name / "Makefile").write_text(makefile)
        shutil.copy(source / "drivers/block/zloop.c", self.root / "oot" / "zloop")
        for path in (source / "drivers/block/rnull").glob("*.rs"):
            shutil.copy(path, self.root / "oot" / "rnull_mod")
        wrapper = self.root / "oot" / "rustc"
        wrapper.write_text(RUSTC)
        wrapper.chmod(0o755)
        (self.root / "oot" / "metadata.sh").write_text(METADATA)

    def rust_metadata(self) -> None:
        """Metadata of the kernel's crates."""
        # an older auto.conf.cmd would start syncconfig, which fails and takes autoconf.h with it
        (self.root / self.headers.lstrip("/") / "include/config/auto.conf.cmd").touch()
        # the first goal must be one that needs a compiler, else flags for bindgen are missing
        goals = ["include/config/auto.conf", "run-command", "KBUILD_RUN_COMMAND=bash -e /oot/metadata.sh"]
        self.inside("rust-metadata", "make", "-s", "-C", self.headers, *goals, "RUSTC=/oot/rustc", "objtool=true")

    def module(self, name: str, target: Path) -> None:
        """Build a module; only its debug information is stripped."""
        self.inside(f"module-{name}", "make", "-s", "-C", self.headers, f"M=/oot/{name}", "modules")
        self.inside(f"module-{name}", "strip", "-g", "-o", f"/oot/{name}.ko", f"/oot/{name}/{name}.ko")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.root / "oot" / f"{name}.ko", target / f"{name}.ko")

    def rublk(self, version: str, target: Path) -> None:
        """Build rublk in release mode, with the crate's own lock file."""
        install = f"cargo install rublk --version {version} --no-default-features --locked --root /opt/rublk"
        self.inside("rublk", "LIBCLANG_PATH=/usr/lib/llvm-19/lib", *shell(f"{install} --target-dir /oot/rublk-target"))
        self.inside("rublk", "strip", "-o", "/opt/rublk/stripped", "/opt/rublk/bin/rublk")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.root / "opt/rublk/stripped", target / "rublk")
        (target / "rublk").chmod(0o755)


def shell(command: str) -> Sequence[str]:
    """A command for the chroot's shell."""
    return ("CARGO_TERM_COLOR=never", "CARGO_HOME=/oot/cargo", "sh", "-c", command)
