"""Finds the target of a compiler from its predefined macros, before compiling anything.

An unsupported target is refused here in one sentence; the compiler itself would print pages of errors.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import BuildError
from .targets import VARIABLE
from .words import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_SYSTEMS = {"__linux__": "linux", "__APPLE__": "macos", "_WIN32": "windows"}
# Names of `uname -m` for the 64-bit little-endian form.
_MACHINES = {
    "__x86_64__": "x86_64",
    "__aarch64__": "aarch64",
    "__riscv": "riscv64",
    "__powerpc64__": "ppc64le",
    "__loongarch__": "loongarch64",
    "__mips64": "mips64",
}
_MACRO = re.compile(r"^#define (\w+) (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Purpose:
    """The target system and machine of a compiler; "" for one that is not in the tables above."""

    system: str
    machine: str

    def __str__(self) -> str:
        return f"{self.system}-{self.machine or 'MACHINE'}" if self.system else "another system"

    def is_for(self, platform: str) -> bool:
        """Return whether its binaries run on `platform`, as in linux-x86_64. If neither machine is in the table, the
        answer is yes."""
        system, _, machine = platform.partition("-")
        known = bool(self.machine) or machine in _MACHINES.values()
        return self.system == system and (self.machine == machine or not known)


def find_purpose(command: Sequence[str], origin: str) -> Purpose:
    """Return the target of a compiler with CFLAGS; `origin` is the origin of the command, as in "CC names".

    Raises BuildError if the target has 32 bits or is big-endian, or if the compiler does not report it.
    """
    flags = words_of("CFLAGS")
    called = f"{origin} the C compiler {shlex.join(command)!r}, which{' with CFLAGS' if flags else ''}"
    asked = [*command, *flags, "-dM", "-E", "-x", "c", os.devnull]
    done = subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    macros = dict(_MACRO.findall(done.stdout))
    size, order = macros.get("__SIZEOF_POINTER__"), macros.get("__BYTE_ORDER__")
    if done.returncode != 0 or size is None or order is None:
        said = "".join(done.stderr.splitlines()[-1:]) or "it names no __SIZEOF_POINTER__ and __BYTE_ORDER__"
        raise BuildError(f"{called} does not report its target by -dM -E, as gcc and clang do: {said}")
    if size != "8":
        raise BuildError(f"only systems of 64 bits are served, and {called} compiles for pointers of {size} bytes")
    if macros.get(order, order) != "1234":
        raise BuildError(f"only little-endian machines are served, and {called} compiles for a big-endian one")
    return Purpose(_first_of(_SYSTEMS, macros), _first_of(_MACHINES, macros))


def check_purpose(command: Sequence[str], origin: str, platform: str) -> None:
    """Raise BuildError unless a compiler compiles for `platform`, the wheel's platform, or if find_purpose() refuses
    it."""
    purpose = find_purpose(command, origin)
    if purpose.is_for(platform):
        return
    advice = f"{VARIABLE} takes ziglang, which compiles for other systems"
    if purpose.system == platform.partition("-")[0]:
        advice = f"_PYTHON_HOST_PLATFORM={purpose} tags it for that compiler, {VARIABLE} takes ziglang in its place"
    called = f"{origin} the C compiler {shlex.join(command)!r}, which compiles for {purpose}"
    raise BuildError(f"{called}, and the wheel would be tagged for {platform}: {advice}")


def _first_of(names: dict[str, str], macros: dict[str, str]) -> str:
    return next((name for macro, name in names.items() if macro in macros), "")
