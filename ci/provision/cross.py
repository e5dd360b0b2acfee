"""Compilers for other machines, under the usual names: Debian's GCC for each, unpacked; and compilers for musl.

The compilers run on this machine, natively also when an emulated program starts them. With their folder first on PATH,
`cc` compiles for the emulated machine.
"""

from __future__ import annotations

import os
import platform
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.folders import cache_dir, locked
from ci.lib.machines import MACHINES
from ci.lib.messages import say
from ci.lib.process import output_of
from ci.provision.debian import Apt, release, unpack
from ci.provision.emulation import write_ninja, write_script
from ci.provision.musl import musl_tools
from ci.provision.upstream import MACHINE_VARIABLE

if TYPE_CHECKING:
    from ci.lib.machines import Machine
    from ci.lib.matrix import Interpreter

NAMES = {"cc": "gcc", "gcc": "gcc", "c++": "g++", "g++": "g++", "ld": "ld", "ar": "ar", "objcopy": "objcopy"}


def tools_for(interpreter: Interpreter) -> Path | None:
    """Return the folder of compilers whose libraries an interpreter can load; None if these are this machine's
    compilers.

    Raises Missing.
    """
    if interpreter.libc == "musl":
        return musl_tools()
    return cross_tools(MACHINES[interpreter.machine]) if interpreter.machine else None


def environ_for(interpreter: Interpreter, path: str) -> dict[str, str]:
    """Return the variables for a program that an interpreter runs, so that it finds tools for its machine. Raises
    Missing.

    `path` is the usual PATH.
    """
    tools = tools_for(interpreter)
    if tools is None:
        return {"PATH": path}
    found = {"PATH": f"{tools}{os.pathsep}{path}", "CC": str(tools / "cc"), "CXX": str(tools / "c++")}
    if interpreter.machine:
        found[MACHINE_VARIABLE] = MACHINES[interpreter.machine].name
    return found


def cross_tools(machine: Machine) -> Path:
    """Return the folder of commands. Raises Missing."""
    folder = cache_dir() / "cross" / machine.label
    with locked(folder.with_name(f".{machine.label}.lock")):
        if not folder.exists():
            say(f"{machine.label}: fetching Debian's compilers ...")
            with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as scratch:
                made = Path(scratch, "made")
                made.mkdir()
                _fill(made, folder, machine)
                made.rename(folder)
    return folder / "bin"


def _fill(made: Path, final: Path, machine: Machine) -> None:
    log = cache_dir() / "logs" / f"cross-{machine.label}.log"
    package = f"g++-{machine.name}-linux-gnu"
    apt = Apt(release(), "deb", status="/var/lib/dpkg/status")  # the compilers can use installed packages
    unpack(apt, apt.lacking([package], log), made, log)
    (made / "bin").mkdir()
    libraries = ["env", f"LD_LIBRARY_PATH={final / 'usr' / 'lib' / platform.machine()}-linux-gnu"]
    for name, tool in NAMES.items():
        command = final / "usr" / "bin" / f"{machine.triplet}-{tool}"
        # The C library's linker scripts contain absolute file names.
        more = [f"--sysroot={final}"] if tool in ("gcc", "g++") else []
        write_script(made / "bin" / name, [*libraries, command, *more])
    write_ninja(made / "bin")
    output_of([made / "usr" / "bin" / f"{machine.triplet}-gcc", "--version"])
