#!/bin/sh
# Sets up what a command of the Makefile needs: Debian packages (through sudo, said before) and .venv from a lock file.
#   setup.sh run | dev
# Wheels are kept in the per-user cache, keyed by the lock file and the Python, so that a second checkout, or a machine
# that has lost its network, needs none.
set -eu
cd "$(dirname "$0")/.."
lock="requirements/$1.lock"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/blkcampaign"

packages="python3-venv qemu-system-x86 busybox-static fio file kmod xz-utils zstd util-linux"
[ "$1" = dev ] && packages="$packages chromium"

missing_packages() {
    for package in $packages; do
        dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || printf '%s ' "$package"
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    missing="$(missing_packages)"
    if [ -n "$missing" ]; then
        if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
            echo "setup: these Debian packages are missing, and there is no sudo: $missing" >&2
            echo "setup: as root: apt-get install $missing" >&2
            exit 1
        fi
        echo "setup: installing Debian packages$([ "$(id -u)" = 0 ] || echo ' with sudo'): $missing"
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >"${TMPDIR:-/tmp}/blkcampaign-apt.$$" 2>&1 ||
            { as_root apt-get update -q && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing; } >>"${TMPDIR:-/tmp}/blkcampaign-apt.$$" 2>&1 ||
            { tail -20 "${TMPDIR:-/tmp}/blkcampaign-apt.$$" >&2; echo "setup: apt-get could not install: $missing" >&2; exit 1; }
        rm -f "${TMPDIR:-/tmp}/blkcampaign-apt.$$"
    fi
else
    for program in qemu-system-x86_64 busybox fio file depmod xz zstd unshare; do
        command -v "$program" >/dev/null || absent="${absent:-} $program"
    done
    if [ -n "${absent:-}" ]; then
        echo "setup: this is not Debian, so install yourself what provides:$absent" >&2
        echo "setup: (QEMU for x86, a static busybox, fio, file, kmod, xz, zstd, util-linux; the guest also needs apt and dpkg to be built)" >&2
        exit 1
    fi
fi

# The distribution's own Python first: `python3` may be a shim of a version manager.
for python in /usr/bin/python3 python3; do
    "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break
    python=""
done
if [ -z "$python" ]; then
    echo "setup: needs Python 3.11 or newer with the venv module; found: $(python3 --version 2>&1 || true)" >&2
    exit 1
fi

key="$({ cat "$lock"; "$python" -VV; uname -m; } | sha256sum | cut -c1-16)"
if [ "$(cat .venv/blkcampaign-key 2>/dev/null || true)" = "$key" ]; then
    exit 0
fi
# An environment with the developers' packages also serves a run.
if [ "$1" = run ] && [ -e .venv/blkcampaign-key ] && [ "$(cat .venv/blkcampaign-key)" = \
    "$({ cat requirements/dev.lock; "$python" -VV; uname -m; } | sha256sum | cut -c1-16)" ]; then
    exit 0
fi
echo "setup: Python environment .venv from $lock"
rm -rf .venv
"$python" -m venv .venv
wheels="$cache/wheels/$key"
if [ ! -d "$wheels" ]; then
    mkdir -p "$cache/wheels"
    partial="$(mktemp -d "$cache/wheels/partial-XXXXXX")"
    trap 'rm -rf "$partial"' EXIT
    .venv/bin/python -m pip wheel -q --disable-pip-version-check --use-pep517 --require-hashes -r "$lock" -w "$partial"
    mv -T "$partial" "$wheels" 2>/dev/null || [ -d "$wheels" ] # somebody else was faster
fi
.venv/bin/python -m pip install -q --disable-pip-version-check --no-index --no-deps "$wheels"/*.whl
echo "$key" >.venv/blkcampaign-key
