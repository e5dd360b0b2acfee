"""C programs for 64-bit ARM: zig compiles them, Debian's QEMU and C library run them."""

from __future__ import annotations

import shutil
from pathlib import Path

from ci.lib.folders import cache_dir, locked
from ci.lib.messages import Missing, say
from ci.lib.process import output_of
from ci.provision.debian import Apt, release, unpack
from ci.provision.envs import build_env

TARGET = "aarch64-linux-gnu.2.17"
PACKAGES = ("qemu-user", "libc6-arm64-cross", "libgcc-s1-arm64-cross")  # libc loads libgcc to walk the stack


def arm64_compiler() -> list[str]:
    """Return the words that run a C compiler for 64-bit ARM. Raises Missing."""
    return [str(build_env() / "python"), "-m", "ziglang", "cc", "-target", TARGET]


def arm64_runner() -> Path:
    """Return the command that runs a program of that compiler, which is its first argument. Raises Missing."""
    folder = cache_dir() / "emulation"
    runner = folder / "run-arm64"
    with locked(folder.with_name(".emulation.lock")):
        if not runner.exists():
            shutil.rmtree(folder, ignore_errors=True)
            say("QEMU: fetching Debian's ...")
            try:
                _fetch(folder, runner, cache_dir() / "logs" / "emulation.log")
            except Missing as reason:
                raise Missing(f"no QEMU from Debian: {reason}") from None
    return runner


def _fetch(folder: Path, runner: Path, log: Path) -> None:
    apt = Apt(release(), "deb", status="/var/lib/dpkg/status")  # QEMU can use what is installed
    root = folder / "root"
    root.mkdir(parents=True)
    unpack(apt, list(dict.fromkeys([*PACKAGES, *apt.lacking(PACKAGES, log)])), root, log)
    script = folder / "new"
    script.write_text(
        '#!/bin/sh\nroot="$(dirname "$0")/root"\n'
        'LD_LIBRARY_PATH="$(echo "$root"/usr/lib/*-linux-gnu)" '
        'exec "$root/usr/bin/qemu-aarch64" -U LD_LIBRARY_PATH -L "$root/usr/aarch64-linux-gnu" "$@"\n'
    )
    script.chmod(0o755)
    output_of([script, "--version"])
    script.rename(runner)
