"""A lab from nothing: guest root, kernel, modules, rublk. Appears whole in the cache or not at all."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.lab import packages
from scripts.lab.builder import Builder
from scripts.lab.cache import cache_directory
from scripts.lab.lock import Lock, load
from scripts.lab.manifest import LabState, labs, locate
from scripts.lab.recipe import (
    BUILDER,
    GUEST,
    KERNEL_SERIES,
    MEASURED,
    MODULES,
    PROGRAMS,
    RECIPE,
    RUBLK,
    kernel_packages,
)
from scripts.lab.run import BuildError, Log, say


class Parallel:
    """Stages that run beside each other; the first error is raised at the end."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self.errors: list[BaseException] = []

    def start(self, work: Callable[[], None]) -> threading.Thread:
        """Start a stage."""

        def guarded() -> None:
            try:
                work()
            except BaseException as error:
                self.errors.append(error)

        thread = threading.Thread(target=guarded, daemon=True)
        thread.start()
        self.threads.append(thread)
        return thread

    def wait(self) -> None:
        """Wait for all stages."""
        for thread in self.threads:
            thread.join()
        if self.errors:
            raise self.errors[0]


def ensure(repository: Path, without: frozenset[str] = frozenset(), retry: bool = False) -> LabState:
    """The lab of the lock file, built when it is missing.

    Args:
        without: parts to leave out. retry: build again when parts are unavailable that are not left out here.

    Raises:
        BuildError, LockError: with what to do.
    """

    def good(state: LabState) -> bool:
        return state.ready and not (retry and set(state.unavailable) - without)

    state = locate(repository)
    if good(state):
        return state
    labs().mkdir(parents=True, exist_ok=True)
    with locked():
        state = locate(repository)  # somebody else may have built it meanwhile
        if good(state):
            return state
        for stale in labs().glob("build-*"):
            subprocess.run(["rm", "-rf", stale], check=False)
        work = labs() / f"build-{os.getpid()}"
        try:
            Build(work, load(repository), without).all()
            if state.ready:  # a guest may still run on it: it goes with the next build
                state.path.replace(labs() / f"build-replaced-{os.getpid()}")
            (work / "lab").replace(state.path)
        finally:
            subprocess.run(["rm", "-rf", work], check=False)
    return locate(repository)


def locked() -> Any:
    """One build at a time for a user."""

    @contextlib.contextmanager
    def hold() -> Any:
        fd = os.open(labs() / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("lab: another process is building it; waiting")
                fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)

    return hold()


class Build:
    """One build in a directory of its own.

    Args:
        work: is made. lock: what to build; None resolves anew (`make lab-update`). without: parts left out on purpose.
    """

    def __init__(self, work: Path, lock: Lock | None, without: frozenset[str] = frozenset()):
        self.work, self.lock, self.without = work, lock, without
        work.mkdir(parents=True)
        self.lab = work / "lab"
        self.root = self.lab / "root"
        self.log = Log(cache_directory() / "logs" / f"lab-{os.getpid()}")
        self.apt = packages.Apt(work / "apt", self.log)
        self.unavailable: dict[str, str] = {name: "left out on request" for name in without}
        self.deviations: list[str] = []
        self.kernel = lock.kernel if lock else ""

    def all(self) -> None:
        """Everything."""
        say(f"lab: building (once; kept in {labs()})")
        self.log.stage("package lists", self.apt.update)
        parallel = Parallel()
        artefacts = self.artefacts()
        missing = [
            n for n in (*MODULES, "rublk") if n not in self.unavailable and not (artefacts / file_of(n)).is_file()
        ]
        kernel, _ = kernel_packages(self.kernel)
        parallel.start(lambda: self.log.stage("guest root", self.guest_root))
        debs: list[Path] = []
        self.log.stage("kernel packages", lambda: debs.extend(self.kernel_debs(kernel)))
        if missing:
            parallel.start(lambda: self.build_parts(artefacts, missing))
        parallel.wait()
        self.log.stage("guest kernel", lambda: packages.unpack(debs, self.root, self.log, "guest-kernel"))
        self.log.stage("install", lambda: self.install(artefacts))
        self.write_manifest(artefacts)

    def artefacts(self) -> Path:
        """Folder of what was built for this kernel, shared by labs that differ in other things."""
        assert self.lock
        parts = [RECIPE, self.kernel, self.lock.rublk["version"], self.lock.packages["build"]]
        for name in ("rustc", "gcc-14", "cargo"):
            parts.append(self.lock.packages["builder"].get(name))
        key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
        return cache_directory() / "artefacts" / key

    def kernel_debs(self, names: list[str]) -> list[Path]:
        """The guest's kernel."""
        debs = self.apt.download("kernel", names)
        self.check("kernel", debs, strict=True)
        return debs

    def check(self, group: str, debs: list[Path], strict: bool = False) -> None:
        """Compare downloaded packages with the lock file."""
        if self.lock:
            found = packages.described(debs)
            names = found if strict else MEASURED
            self.deviations += packages.deviations(found, self.lock.packages[group], names)

    def guest_root(self) -> None:
        """Download and unpack the guest's root."""
        debs = self.apt.resolve("guest", GUEST)
        self.check("guest", debs)
        packages.skeleton(self.root)
        packages.unpack(debs, self.root, self.log, "guest-root")
        packages.finish(self.root)

    def build_parts(self, artefacts: Path, missing: list[str]) -> None:
        """Builder, then modules and rublk beside each other. A part that fails is noted, not fatal."""
        builder = Builder(self.work / "builder", self.kernel, self.log)
        try:
            self.log.stage("builder", lambda: self.builder_root(builder))
        except BuildError as error:
            for name in missing:
                self.unavailable[name] = f"{name} could not be built: {error}"
            return
        artefacts.mkdir(parents=True, exist_ok=True)
        fresh = self.work / "fresh"
        parallel = Parallel()
        if "rublk" in missing:
            version = self.lock.rublk["version"] if self.lock else RUBLK
            parallel.start(lambda: self.part("rublk", lambda: builder.rublk(version, fresh), fresh, artefacts))

        def modules() -> None:
            if "zloop" in missing:
                self.part("zloop", lambda: builder.module("zloop", fresh), fresh, artefacts)
            if "rnull_mod" in missing:
                self.part("rnull_mod", lambda: rnull(builder, fresh), fresh, artefacts)

        parallel.start(modules)
        parallel.wait()

    def builder_root(self, builder: Builder) -> None:
        """Download and unpack the builder."""
        _, build = kernel_packages(self.kernel)
        headers = self.apt.download("build", build)
        self.check("build", headers, strict=True)
        debs = self.apt.resolve("builder", BUILDER)
        self.check("builder", debs)
        packages.skeleton(builder.root)
        source = [deb for deb in headers if deb.name.startswith("linux-source")]
        parallel = Parallel()
        (builder.root / "source").mkdir()
        parallel.start(lambda: builder.take_source(source[0], KERNEL_SERIES))
        packages.unpack(debs, builder.root, self.log, "builder")
        packages.unpack([deb for deb in headers if deb not in source], builder.root, self.log, "builder")
        packages.finish(builder.root)
        builder.configure()
        parallel.wait()
        builder.lay_out()

    def part(self, name: str, build: Callable[[], None], fresh: Path, artefacts: Path) -> None:
        """Build one part; it reaches the cache whole."""
        try:
            self.log.stage(name, build)
            partial = artefacts / f".{file_of(name)}.{os.getpid()}"
            shutil.copy2(fresh / file_of(name), partial)
            partial.replace(artefacts / file_of(name))
        except (BuildError, OSError) as error:
            self.unavailable[name] = f"{name} could not be built: {error}"
            say(f"lab: {name} could not be built: {error.with_log() if isinstance(error, BuildError) else error}")

    def install(self, artefacts: Path) -> None:
        """Modules and rublk into the guest's root."""
        extra = self.root / "usr/lib/modules" / self.kernel / "extra"
        extra.mkdir(exist_ok=True)
        for name in MODULES:
            if (artefacts / f"{name}.ko").is_file() and name not in self.unavailable:
                shutil.copy2(artefacts / f"{name}.ko", extra)
        if (artefacts / "rublk").is_file() and "rublk" not in self.unavailable:
            shutil.copy2(artefacts / "rublk", self.root / "usr/bin/rublk")
        self.log.run("depmod", ["depmod", "-b", str(self.root), self.kernel])

    def write_manifest(self, artefacts: Path) -> None:
        """The last file: with it the lab is complete."""
        assert self.lock
        base = self.root / "usr/lib/modules" / self.kernel
        names: set[str] = set()
        for file in ("modules.dep", "modules.builtin"):
            lines = (base / file).read_text().splitlines()
            names |= {Path(line.split(":")[0]).name.split(".ko")[0].replace("-", "_") for line in lines}
        bins = [self.root / "usr/bin", self.root / "usr/sbin"]
        programs = sorted(name for name in PROGRAMS if any((folder / name).exists() for folder in bins))
        built = {
            name: {"sha256": hashlib.sha256((artefacts / file_of(name)).read_bytes()).hexdigest()}
            for name in (*MODULES, "rublk")
            if name not in self.unavailable
        }
        manifest = {
            "format": 1,
            "key": self.lock.key,
            "kernel": self.kernel,
            "root": "root",
            "vmlinuz": f"root/usr/lib/modules/{self.kernel}/vmlinuz",
            "modules": {name: built[name] for name in MODULES if name in built},
            "programs": {
                "fio": {"version": self.lock.packages["guest"]["fio"]["version"]},
                **(
                    {"rublk": {"version": self.lock.rublk["version"], "build": "release", **built["rublk"]}}
                    if "rublk" in built
                    else {}
                ),
            },
            "module_names": sorted(names),
            "program_names": programs,
            "unavailable": self.unavailable,
            "deviations": self.deviations,
        }
        (self.lab / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


def rnull(builder: Builder, fresh: Path) -> None:
    """Metadata of the kernel's crates, then the module."""
    builder.rust_metadata()
    builder.module("rnull_mod", fresh)


def file_of(name: str) -> str:
    """File name of a built part."""
    return name if name == "rublk" else f"{name}.ko"
