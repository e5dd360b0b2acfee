"""The systems that a wheel can be built for, whatever the machine of the build is: in zig's words, and in pip's."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass

from .errors import BuildError

VARIABLE = "FFI_HPY_TARGET"


@dataclass(frozen=True)
class Target:
    """One system."""

    name: str  # as FFI_HPY_TARGET and a compiler call it: machine, system, C library
    zig: str  # with the oldest C library that has what we take
    glibc: str  # the first version of it on that machine: what all names have that are as old
    platform_tag: str  # of the wheel, which serves two C libraries

    @property
    def machine(self) -> str:
        return self.name.partition("-")[0]


TARGETS = (
    Target(
        "x86_64-linux-gnu",
        "x86_64-linux-gnu.2.17",
        "GLIBC_2.2.5",
        "manylinux_2_17_x86_64.musllinux_1_2_x86_64",
    ),
    Target(
        "aarch64-linux-gnu",
        "aarch64-linux-gnu.2.17",
        "GLIBC_2.17",
        "manylinux_2_17_aarch64.musllinux_1_2_aarch64",
    ),
    # the index takes wheels for this machine and glibc since 2.31
    Target(
        "riscv64-linux-gnu",
        "riscv64-linux-gnu.2.31",
        "GLIBC_2.27",
        "manylinux_2_31_riscv64.musllinux_1_2_riscv64",
    ),
)


def find_target() -> Target | None:
    """Return the target that FFI_HPY_TARGET names, else that of this machine; None for a machine that has none.

    Raises BuildError where FFI_HPY_TARGET names no target.
    """
    named = os.environ.get(VARIABLE)
    wanted = named or f"{platform.machine()}-{sys.platform}-gnu"
    found = next((target for target in TARGETS if target.name == wanted), None)
    if named and found is None:
        known = ", ".join(target.name for target in TARGETS)
        raise BuildError(f"{VARIABLE} is {named!r}; known targets: {known}")
    return found


def is_named() -> bool:
    """Return whether the caller has asked for a target, and with that for a compiler that has it."""
    return bool(os.environ.get(VARIABLE))
