"""Which system this is, and where the binaries for it are: in the folder of the package, or, in the wheel that has
those of many systems, in one of the folders below `_systems`.

This module knows files only. A system is a machine and what runs on it, as in `x86_64-linux`; a C library is no part of
it, because the binaries for Linux serve glibc and musl alike.
"""

from __future__ import annotations

import os
import sys

__all__ = ["SYSTEMS", "describe_lack", "find_binaries", "is_of_another", "name_system"]

SYSTEMS = "_systems"
"""The folder in the package that has a folder for each system."""

_NAMES = {"darwin": "macos", "win32": "windows"}
_MACHINES = {
    **dict.fromkeys(("amd64", "x86_64h"), "x86_64"),
    **dict.fromkeys(("arm64", "arm64e"), "aarch64"),
    "intel": "i686",  # what Python for Windows says with 32 bits
}
_PERSONALITIES = {
    **dict.fromkeys(("i386", "i486", "i586", "i686"), "x86_64"),
    "armv8l": "aarch64",
    "armv8b": "aarch64_be",
    **dict.fromkeys(("riscv", "riscv32"), "riscv64"),
}
"""Machines of 32 bits as which Linux can present itself to a process of 64 bits (`setarch i686`), and what they are."""


def name_system() -> str:
    """Return the name of the system that this process runs on, which need not be one that there are binaries for."""
    system = _NAMES.get(sys.platform, sys.platform)
    if hasattr(sys, "getandroidapilevel"):  # Linux with a C library that is neither of the two
        system = "android"
    if sys.platform == "win32":  # asked of Python: an emulator does not change what its DLLs have to be
        machine = sys.version.rpartition("(")[2].partition(")")[0]
    else:
        machine = os.uname().machine
    machine = _MACHINES.get(machine.lower(), machine.lower())
    if sys.maxsize < 2**32:
        return f"{machine}-{system}-32-bit"
    return f"{_PERSONALITIES.get(machine, machine)}-{system}"


def find_binaries(package: str) -> str:
    """Return the folder of the binaries for this system. It is not there if there are none: see describe_lack()."""
    systems = os.path.join(package, SYSTEMS)  # noqa: PTH118 - pathlib costs 5 ms of import time
    return os.path.join(systems, name_system()) if os.path.isdir(systems) else package  # noqa: PTH112, PTH118


def describe_lack(package: str) -> str:
    """Return the end of a sentence about a package without binaries for this system: which it is, and what there is."""
    there = ", ".join(sorted(os.listdir(os.path.join(package, SYSTEMS))))  # noqa: PTH118, PTH208
    return f"has no binaries for this system, {name_system()}; it has those for {there}"


def is_of_another(path: str, package: str) -> bool:
    """Return whether a file of the package is for another system than this one."""
    systems, binaries = os.path.join(package, SYSTEMS, ""), os.path.join(find_binaries(package), "")  # noqa: PTH118
    return path.startswith(systems) and not path.startswith(binaries)
