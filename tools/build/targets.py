"""The systems that a wheel can be built for, whatever the machine of the build is: in zig's words, and in pip's."""

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

    name: str  # as FFI_HPY_TARGET calls it: machine, system, and on Linux the C library
    zig: str  # with the oldest C library that has what we take
    platform_tag: str  # of the wheel, which on Linux serves two C libraries
    glibc: str = ""  # on Linux the first version of it on that machine: what all names have that are as old

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
    # the index takes wheels for this machine and glibc since 2.31
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


def find_target() -> Target | None:
    """Return the target that FFI_HPY_TARGET names, else that of this machine; None for a machine that has none.

    Raises BuildError where FFI_HPY_TARGET names no target, and on a system that has none.
    """
    named = os.environ.get(VARIABLE)
    if not named and sys.platform not in _PLATFORMS:
        raise BuildError(f"ffi_hpy is built on {', '.join(_PLATFORMS)} only, and this is {sys.platform}")
    machine = platform.machine().lower()
    wanted = named or f"{_MACHINES.get(machine, machine)}-{_PLATFORMS[sys.platform]}"
    found = next((target for target in TARGETS if target.name == wanted), None)
    if named and found is None:
        known = ", ".join(target.name for target in TARGETS)
        raise BuildError(f"{VARIABLE} is {named!r}; known targets: {known}")
    return found


def is_named() -> bool:
    """Return whether the caller has asked for a target, and with that for a compiler that has it."""
    return bool(os.environ.get(VARIABLE))
