"""The name of this system, and the folder of its binaries: the folder of the package or, in the wheel for every system,
a folder below `_systems`.

This module uses file names only. A system is a machine and an operating system, as in `x86_64-linux`. The C library
does not count, because the binaries for Linux serve both glibc and musl.
"""

from __future__ import annotations

import os
import sys

__all__ = ["SYSTEMS", "describe_lack", "find_binaries", "is_of_another", "name_system"]

SYSTEMS = "_systems"
"""The folder in the package that contains a folder for each system."""

_NAMES = {"darwin": "macos", "win32": "windows"}
_MACHINES = {
    **dict.fromkeys(("amd64", "x86_64h"), "x86_64"),
    **dict.fromkeys(("arm64", "arm64e"), "aarch64"),
    "intel": "i686",  # the name in 32-bit Python for Windows
}
_PERSONALITIES = {
    **dict.fromkeys(("i386", "i486", "i586", "i686"), "x86_64"),
    "armv8l": "aarch64",
    "armv8b": "aarch64_be",
    **dict.fromkeys(("riscv", "riscv32"), "riscv64"),
}
"""32-bit machines that Linux can report to a 64-bit process (`setarch i686`), and the actual machines."""


def name_system() -> str:
    """Return the name of the system that this process runs on. There may be no binaries for it."""
    system = _NAMES.get(sys.platform, sys.platform)
    if hasattr(sys, "getandroidapilevel"):  # Linux with a C library that is neither glibc nor musl
        system = "android"
    if sys.platform == "win32":  # from Python's build: an emulator does not change the required DLLs
        machine = sys.version.rpartition("(")[2].partition(")")[0]
    else:
        machine = os.uname().machine
    machine = _MACHINES.get(machine.lower(), machine.lower())
    if sys.maxsize < 2**32:
        return f"{machine}-{system}-32-bit"
    return f"{_PERSONALITIES.get(machine, machine)}-{system}"


def find_binaries(package: str) -> str:
    """Return the folder of the binaries for this system. The folder does not exist if there are none: see
    describe_lack()."""
    systems = os.path.join(package, SYSTEMS)  # noqa: PTH118 - pathlib costs 5 ms of import time
    return os.path.join(systems, name_system()) if os.path.isdir(systems) else package  # noqa: PTH112, PTH118


def describe_lack(package: str) -> str:
    """Return the end of a sentence about a package without binaries for this system: its name, and the systems with
    binaries."""
    there = ", ".join(sorted(os.listdir(os.path.join(package, SYSTEMS))))  # noqa: PTH118, PTH208
    return f"has no binaries for this system, {name_system()}; it has those for {there}"


def is_of_another(path: str, package: str) -> bool:
    """Return whether a file of the package is for another system."""
    systems, binaries = os.path.join(package, SYSTEMS, ""), os.path.join(find_binaries(package), "")  # noqa: PTH118
    return path.startswith(systems) and not path.startswith(binaries)
