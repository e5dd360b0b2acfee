"""QEMU, which runs a program for another machine as a process of this one, and the libraries that such programs load.

An emulated program may start programs of this machine, because the kernel starts those: `cc` and `sh` are native, and
a script that starts QEMU stands for whatever the emulated program is to start again, itself above all.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.folders import cache_dir, locked
from ci.lib.machines import MACHINES
from ci.lib.messages import Missing, say
from ci.provision.debian import debian, unpack
from ci.provision.envs import build_env, tool_env

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci.lib.machines import Machine

SUITES = ("trixie", "sid")
"""Debian's suites with QEMU, from the first on that links it statically, and with the libraries."""
LIBRARIES = ("libc6", "libgcc-s1", "libstdc++6")  # libc loads libgcc to walk the stack
ROOT = "root"  # beside usr: what emulated programs see as / where it has a file


def emulation_dir() -> Path:
    return cache_dir() / "emulation"


def emulator(machine: Machine) -> Path:
    """Return the QEMU for a machine. Raises Missing."""
    folder = emulation_dir() / "qemu"
    with locked(folder.with_name(".qemu.lock")):
        if not (folder / f"qemu-{machine.name}").exists():
            say("QEMU: fetching Debian's ...")
            with _scratch() as scratch:
                _unpack_first("", ["qemu-user"], Path(scratch))
                kept = Path(scratch, "kept")
                kept.mkdir()
                for each in MACHINES.values():
                    Path(scratch, f"usr/bin/qemu-{each.name}").rename(kept / f"qemu-{each.name}")
                shutil.rmtree(folder, ignore_errors=True)
                kept.rename(folder)
    return folder / f"qemu-{machine.name}"


def runner(machine: Machine) -> Path:
    """Return the command that runs a program for a machine, which is its first argument. Raises Missing."""
    qemu = emulator(machine)
    folder = emulation_dir() / machine.label
    command = folder / "run"
    with locked(folder.with_name(f".{folder.name}.lock")):
        if not command.exists():
            say(f"{machine.label}: fetching Debian's C library ...")
            with _scratch() as scratch:
                made = Path(scratch, "made")
                made.mkdir()
                _unpack_first(machine.label, LIBRARIES, made)
                make_root(made, machine)
                write_script(made / "run", [qemu, "-L", folder / ROOT])
                shutil.rmtree(folder, ignore_errors=True)
                made.rename(folder)
    return command


def make_root(unpacked: Path, machine: Machine) -> None:
    """Make the folder that has the loader and the libraries of unpacked packages where loaders look, and no more.

    Were it the whole of the packages, emulated programs would see their files in place of this machine's.
    """
    libraries = unpacked / ROOT / "lib"
    libraries.mkdir(parents=True)
    (libraries / machine.triplet).symlink_to(Path("../../usr/lib", machine.triplet))
    loader = next(path for path in unpacked.glob(f"usr/lib/**/{machine.loader}"))
    (libraries / machine.loader).symlink_to(Path("../..", loader.relative_to(unpacked)))


def write_script(path: Path, words: Sequence[str | Path]) -> None:
    """Write a command that runs the words with its own arguments after them. A word of $0 is the command's name."""
    quoted = " ".join('"$0"' if word == "$0" else f"'{word}'" for word in words)
    path.write_text(f'#!/bin/sh\nexec {quoted} "$@"\n')
    path.chmod(0o755)


def write_ninja(folder: Path) -> None:
    """Write a command `ninja` that is this machine's: the one of an environment for another cannot be started here."""
    ninja = shutil.which("ninja", path=str(tool_env("tool-ninja", "ninja")))
    write_script(folder / "ninja", [ninja or "ninja"])


def zig_compiler(machine: Machine) -> list[str]:
    """Return the words that run zig as a C compiler for a machine. Raises Missing."""
    return [str(build_env() / "python"), "-m", "ziglang", "cc", "-target", machine.zig]


def _unpack_first(architecture: str, packages: Sequence[str], root: Path) -> None:
    """Unpack packages of the first suite whose archive is in order. Raises Missing."""
    reasons = []
    for suite in SUITES:
        try:
            return unpack(debian(suite, "deb", architecture), packages, root, cache_dir() / "logs" / "emulation.log")
        except Missing as reason:
            reasons.append(f"{suite}: {reason}")
    raise Missing("; ".join(reasons))


def _scratch() -> tempfile.TemporaryDirectory[str]:
    emulation_dir().mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=emulation_dir(), prefix=".new-")
