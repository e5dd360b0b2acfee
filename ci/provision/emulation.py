"""QEMU, which runs a program for another machine as a process of this one, and the libraries that such programs load.

An emulated program may start programs of this machine, because the kernel starts them: `cc` and `sh` are native. Each
program that the emulated program must start emulated, first of all itself, is a script that starts QEMU.
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
"""Debian's suites with QEMU and the libraries, from the first suite that links QEMU statically."""
LIBRARIES = ("libc6", "libgcc-s1", "libstdc++6")  # libc loads libgcc to walk the stack
ROOT = "root"  # a folder next to usr: emulated programs see its files under /


def emulation_dir() -> Path:
    return cache_dir() / "emulation"


def emulator(machine: Machine) -> Path:
    """Return the path of QEMU for a machine. Raises Missing."""
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
    """Return the command that runs its first argument, a program for a machine. Raises Missing."""
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
    """Make a folder with only the loader and the libraries of unpacked packages, at the paths where loaders look.

    With all files of the packages in it, emulated programs would see the packages' files in place of this machine's
    files.
    """
    libraries = unpacked / ROOT / "lib"
    libraries.mkdir(parents=True)
    (libraries / machine.triplet).symlink_to(Path("../../usr/lib", machine.triplet))
    loader = next(path for path in unpacked.glob(f"usr/lib/**/{machine.loader}"))
    (libraries / machine.loader).symlink_to(Path("../..", loader.relative_to(unpacked)))


def write_script(path: Path, words: Sequence[str | Path]) -> None:
    """Write a command that runs the words, followed by its own arguments. The word $0 stands for the command's name."""
    quoted = " ".join('"$0"' if word == "$0" else f"'{word}'" for word in words)
    path.write_text(f'#!/bin/sh\nexec {quoted} "$@"\n')
    path.chmod(0o755)


def write_ninja(folder: Path) -> None:
    """Write a command `ninja` that runs this machine's: the ninja of a foreign environment cannot start here."""
    ninja = shutil.which("ninja", path=str(tool_env("tool-ninja", "ninja")))
    write_script(folder / "ninja", [ninja or "ninja"])


def zig_compiler(machine: Machine) -> list[str]:
    """Return the command words of zig as a C compiler for a machine. Raises Missing."""
    return [str(build_env() / "python"), "-m", "ziglang", "cc", "-target", machine.zig]


def _unpack_first(architecture: str, packages: Sequence[str], root: Path) -> None:
    """Unpack packages from the first suite that provides them. Raises Missing."""
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
