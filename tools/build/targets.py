"""The systems that a wheel can be built for on any machine: their names for zig and for pip."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import BuildError
from .systems import SYSTEMS

if TYPE_CHECKING:
    from .systems import System

VARIABLE = "FFI_HPY_TARGET"


@dataclass(frozen=True)
class Target:
    """One system."""

    name: str  # the value of FFI_HPY_TARGET: machine, system, and on Linux the C library
    zig: str  # with the oldest C library that has all symbols that we use
    platform_tag: str  # of the wheel, which on Linux works with two C libraries
    glibc: str = ""  # on Linux the first glibc version on that machine: the version of all older symbols

    @property
    def machine(self) -> str:
        return self.name.partition("-")[0]

    @property
    def system(self) -> System:
        return SYSTEMS[self.name.split("-")[1]]


TARGETS = (
    Target(
        "x86_64-linux-gnu",
        "x86_64-linux-gnu.2.17",
        "manylinux_2_17_x86_64.musllinux_1_2_x86_64",
        "GLIBC_2.2.5",
    ),
    Target(
        "aarch64-linux-gnu",
        "aarch64-linux-gnu.2.17",
        "manylinux_2_17_aarch64.musllinux_1_2_aarch64",
        "GLIBC_2.17",
    ),
    # the index accepts wheels for this machine with glibc 2.31 and later
    Target(
        "riscv64-linux-gnu",
        "riscv64-linux-gnu.2.31",
        "manylinux_2_31_riscv64.musllinux_1_2_riscv64",
        "GLIBC_2.27",
    ),
    Target("aarch64-macos", "aarch64-macos.11.0", "macosx_11_0_arm64"),
    Target("x86_64-macos", "x86_64-macos.11.0", "macosx_11_0_x86_64"),
    Target("x86_64-windows", "x86_64-windows-gnu", "win_amd64"),
    Target("aarch64-windows", "aarch64-windows-gnu", "win_arm64"),
)

_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_PLATFORMS = {"linux": "linux-gnu", "darwin": "macos", "win32": "windows"}
_ELSEWHERE = f"{VARIABLE} names another system to build for"


def find_target() -> Target | None:
    """Return the target that FFI_HPY_TARGET names, or else this machine's target; None for a Linux without one.

    Raises BuildError if FFI_HPY_TARGET names an unknown target, or for a system that ffi_hpy does not support.
    """
    named = os.environ.get(VARIABLE)
    return _find_named(named) if named else _find_of_machine()


def _find_named(name: str) -> Target:
    found = _find(name)
    if found is None:
        known = ", ".join(target.name for target in TARGETS)
        raise BuildError(f"{VARIABLE} is {name!r}; known targets: {known}")
    return found


def _find_of_machine() -> Target | None:
    """Return the target of this machine. A 32-bit Python may run on a 64-bit machine, and its wheels are for 32
    bits."""
    if sys.platform not in _PLATFORMS:
        raise BuildError(f"ffi_hpy is built on {', '.join(_PLATFORMS)} only, and this is {sys.platform}")
    machine = platform.machine().lower()
    if sys.maxsize <= 2**32:
        raise BuildError(f"only systems of 64 bits are served, and this Python, on {machine}, has 32; {_ELSEWHERE}")
    if sys.byteorder != "little":
        raise BuildError(f"only little-endian machines are served, and {machine} is big-endian; {_ELSEWHERE}")
    system = _PLATFORMS[sys.platform]
    found = _find(f"{_MACHINES.get(machine, machine)}-{system}")
    if found is None and sys.platform != "linux":
        known = " and ".join(target.machine for target in TARGETS if target.name.endswith(f"-{system}"))
        raise BuildError(f"with {system} only {known} are served, and this machine is {machine}; {_ELSEWHERE}")
    return found


def _find(name: str) -> Target | None:
    return next((target for target in TARGETS if target.name == name), None)


def is_named() -> bool:
    """Return whether the caller asked for a target, and so for a compiler that supports it."""
    return bool(os.environ.get(VARIABLE))
