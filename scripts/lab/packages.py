"""Debian packages without root: apt with a state of its own, dpkg-deb and tar. No maintainer script runs."""

import concurrent.futures
import hashlib
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from scripts.lab.recipe import BASE, SUITES
from scripts.lab.run import BuildError, Log

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
EXCLUDED = ("doc", "man", "locale", "info")
TAR = ("tar", "-x", "--keep-directory-symlink", "--no-same-owner", "--no-same-permissions")


def mirror() -> str:
    """The Debian mirror of this machine's own apt configuration.

    Raises:
        BuildError: there is none.
    """
    command = ["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages", "Label: Debian"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BuildError(f"apt-get: {error.strerror}; the lab is made of Debian packages") from error
    sites = sorted(set(done.stdout.split()))
    if not sites:
        raise BuildError("no Debian mirror in this machine's apt configuration (has apt-get update been run?)")
    return sites[0]


class Apt:
    """apt with private lists and an empty status.

    Args:
        directory: for lists, archives and state.
    """

    def __init__(self, directory: Path, log: Log):
        self.directory, self.log = directory, log
        (directory / "lists" / "partial").mkdir(parents=True, exist_ok=True)

    def options(self, name: str) -> list[str]:
        """Options that keep apt inside the directory; `name` has an archive folder and a status of its own."""
        cache = self.directory / name
        (cache / "archives" / "partial").mkdir(parents=True, exist_ok=True)
        (cache / "state").mkdir(exist_ok=True)
        (cache / "status").touch()
        pairs = {
            "Dir::Etc::sourceparts": "-",
            "Dir::Etc::sourcelist": self.directory / "sources.list",
            "Dir::State": cache / "state",
            "Dir::State::lists": self.directory / "lists",
            "Dir::State::status": cache / "status",
            "Dir::Cache": cache,
            "Dir::Cache::archives": cache / "archives",
            "Debug::NoLocking": 1,
            "APT::Sandbox::User": "",
            "APT::Install-Recommends": "false",
            "Acquire::Languages": "none",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
            "Acquire::Queue-Mode": "access",
            "Acquire::Retries": 3,
        }
        return [part for key, value in pairs.items() for part in ("-o", f"{key}={value}")]

    def update(self) -> None:
        """Fetch the lists of the lab's suites from the machine's mirror."""
        site = mirror()
        lines = [f"deb [signed-by={KEYRING}] {site} {suite} main\n" for suite in SUITES]
        (self.directory / "sources.list").write_text("".join(lines))
        self.log.run("apt-update", ["apt-get", *self.options("update"), "-qq", "update"])

    def names(self, prefix: str) -> list[str]:
        """Package names with a prefix."""
        command = ["apt-cache", *self.options("update"), "pkgnames", prefix]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    def download(self, name: str, packages: Sequence[str]) -> list[Path]:
        """Download packages alone, without what they depend on."""
        folder = self.directory / name / "archives"
        options = self.options(name)
        log = self.log.directory / f"{name}-download.log"
        with log.open("ab") as out:
            command = ["apt-get", *options, "-qq", "download", *packages]
            code = subprocess.run(command, cwd=folder, stdout=out, stderr=out, check=False).returncode
        if code:
            raise BuildError(f"{name}: {' '.join(log.read_text(errors='replace').split()[-40:])}")
        return sorted(folder.glob("*.deb"))

    def resolve(self, name: str, packages: Sequence[str]) -> list[Path]:
        """Download packages with all they depend on, and the essential ones."""
        command = ["apt-get", *self.options(name), "-y", "-qq", "--download-only", "install", *BASE, *packages]
        self.log.run(f"{name}-download", command)
        return sorted((self.directory / name / "archives").glob("*.deb"))


def described(debs: Iterable[Path]) -> dict[str, dict[str, str]]:
    """{name: {"version", "sha256"}} of package files."""

    def one(path: Path) -> tuple[str, dict[str, str]]:
        name, version, _ = unquote(path.name).removesuffix(".deb").split("_")
        with path.open("rb") as file:
            return name, {"version": version, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(sorted(pool.map(one, debs)))


def deviations(
    found: Mapping[str, Mapping[str, str]], locked: Mapping[str, Mapping[str, str]], strict: Iterable[str]
) -> list[str]:
    """Packages whose files are not the locked ones, as texts.

    Raises:
        BuildError: one of them can change a number.
    """
    different = []
    for name, entry in found.items():
        expected = locked.get(name)
        if expected is None or expected["sha256"] != entry["sha256"]:
            was = expected["version"] if expected else "nothing"
            different.append(f"{name}: {entry['version']}, locked is {was}")
    wrong = [text for text in different if text.split(":")[0] in set(strict)]
    if wrong:
        raise BuildError(
            "the mirror no longer has what config/lab.lock.json names: " + "; ".join(wrong) + ". "
            "make lab-update locks what it has now; everything measured on that kernel is then measured anew"
        )
    return different


def unpack(debs: Sequence[Path], root: Path, log: Log, stage: str) -> None:
    """Unpack package files into a root, as this user.

    Raises:
        BuildError: one of them could not be unpacked.
    """
    exclude = [f"--exclude=./usr/share/{name}" for name in EXCLUDED]

    def one(deb: Path) -> None:
        with (log.directory / f"{stage}.log").open("ab") as out:
            data = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE, stderr=out)
            tar = subprocess.run([*TAR, "-C", root, *exclude, "-f", "-"], stdin=data.stdout, stderr=out, check=False)
            assert data.stdout
            data.stdout.close()
            if data.wait() or tar.returncode:
                raise BuildError(f"{stage}: {deb.name} could not be unpacked", out.name)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, debs))


def skeleton(root: Path) -> None:
    """Directories and links that have to be there before packages are unpacked."""
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(f"usr/{name}")


def finish(root: Path) -> None:
    """What maintainer scripts would have made."""
    awk = root / "usr" / "bin" / "awk"
    awk.unlink(missing_ok=True)
    awk.symlink_to("mawk")
    for name in ("dev", "proc", "sys", "run", "tmp", "root", "lab", "mnt", "etc"):
        (root / name).mkdir(exist_ok=True)
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")
    (root / "etc" / "group").write_text("root:x:0:\n")
