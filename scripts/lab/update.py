"""`make lab-update`: resolve all versions anew and write the lock file."""

import os
import subprocess
from pathlib import Path

from scripts.lab import packages
from scripts.lab.build import Build, locked
from scripts.lab.lock import FILE, dump
from scripts.lab.manifest import labs
from scripts.lab.recipe import BUILDER, FLAVOUR, GUEST, KERNEL_SERIES, RUBLK, kernel_packages
from scripts.lab.run import BuildError


def update(repository: Path) -> str:
    """Resolve all versions anew and write the lock file; what changed, as a text."""
    labs().mkdir(parents=True, exist_ok=True)
    with locked():
        work = labs() / f"build-{os.getpid()}"
        try:
            build = Build(work, None)
            build.apt.update()
            names = build.apt.names(f"linux-binary-{KERNEL_SERIES}.")
            releases = [n.removeprefix("linux-binary-") for n in names if n.endswith(FLAVOUR)]
            if not releases:
                raise BuildError(f"the mirror has no kernel {KERNEL_SERIES}.*{FLAVOUR}")
            release = max(releases, key=lambda r: [int(p) for p in r.split("+")[0].split(".")])
            kernel, headers = kernel_packages(release)
            groups = {
                "kernel": packages.described(build.apt.download("kernel", kernel)),
                "build": packages.described(build.apt.download("build", headers)),
                "guest": packages.described(build.apt.resolve("guest", GUEST)),
                "builder": packages.described(build.apt.resolve("builder", BUILDER)),
            }
        finally:
            subprocess.run(["rm", "-rf", work], check=False)
    text = dump(release, {"version": RUBLK}, groups)
    path = repository / FILE
    old = path.read_text() if path.is_file() else ""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(text)
    partial.replace(path)
    return "nothing changed" if old == text else f"{FILE} is now kernel {release}, rublk {RUBLK}"
