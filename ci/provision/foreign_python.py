"""Interpreters for other machines: Debian's packages, unpacked, with a script in place of the executable.

The script has QEMU run the executable. Everything that uses the interpreter's path finds the script: the interpreter
itself (it starts itself through sys.executable), uv, and virtual environments, whose `python` is a link to the script.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ci.lib.machines import MACHINES
from ci.provision.debian import debian, unpack
from ci.provision.debian_python import LIBRARIES, place_pyconfig
from ci.provision.emulation import ROOT, emulator, make_root, write_script
from ci.provision.entries import add_entry, log_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ci.lib.matrix import Interpreter

SUFFIX = ".real"  # of the executable that the script runs


def from_foreign_packages(suite: str, packages: Sequence[str], executable: str, wanted: Interpreter) -> Path:
    """Unpack `packages` and LIBRARIES for the machine of `wanted`, of a Debian suite, into a cache entry."""
    machine = MACHINES[wanted.machine]

    def fill(staging: Path, final: Path) -> str:
        qemu = emulator(machine)
        unpack(debian(suite, "deb", machine.label), [*packages, *LIBRARIES], staging, log_of(wanted))
        place_pyconfig(staging)
        make_root(staging, machine)
        put_script(staging, final, executable, qemu)
        return executable

    return add_entry(wanted, fill)


def put_script(staging: Path, final: Path, executable: str, qemu: Path) -> None:
    """Put the script in the place of an executable, which will be in `final`."""
    real = (staging / executable).resolve()
    inside = real.relative_to(staging.resolve())
    real.rename(real.with_name(real.name + SUFFIX))
    run = final / inside.with_name(inside.name + SUFFIX)
    # argv[0] is the name of the link that started the interpreter, which finds its environment next to that link.
    write_script(real, [qemu, "-L", final / ROOT, "-0", "$0", run])
