"""Which system the package is for that FFI_HPY_CROSS_ROOT names, and where its binaries are.

Imported only where that variable is set. Nothing of that package runs: the names of its files tell everything.
"""

from __future__ import annotations

import os
from pathlib import Path

from ._system import SYSTEMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CROSS_SYSTEM", "find_target"]

CROSS_SYSTEM = "FFI_HPY_CROSS_SYSTEM"
"""The variable of the environment that says for which system is built, as in `aarch64-linux`, where the package has the
binaries of several."""

_PLATFORMS = {"linux": "linux", "macos": "darwin", "windows": "win32"}
_CORES = {"linux": "libtvm_ffi.so", "macos": "libtvm_ffi.dylib", "windows": "tvm_ffi.dll"}


def find_target(package: Path) -> tuple[str, Path]:
    """Return the system that a package is for, as sys.platform is called there, and the folder of its binaries.

    RuntimeError if the package has no core, and if FFI_HPY_CROSS_SYSTEM names none of those that it has, or nothing
    where there are several.
    """
    named = os.environ.get(CROSS_SYSTEM, "")
    systems = package / SYSTEMS
    if systems.is_dir():  # the wheel for every system
        name = _choose(named, sorted(path.name for path in systems.iterdir() if path.is_dir()), systems)
        return _platform_of(name), systems / name
    folder = package / "lib"
    there = [system for system, core in _CORES.items() if (folder / core).is_file()]
    if not there:
        expected = " or ".join(str(folder / core) for core in _CORES.values())
        raise RuntimeError(f"Cannot find the core: there is no {expected}, and FFI_HPY_CROSS_ROOT says to look there")
    return _platform_of(_choose(named.rpartition("-")[2], there, folder)), package


def _choose(named: str, there: Sequence[str], place: Path) -> str:
    """The name, if it is one of those that there are; where none is named, the only one that there is."""
    if named in there:
        return named
    if not named and len(there) == 1:
        return there[0]
    came = f"got {os.environ[CROSS_SYSTEM]!r}" if named else "and it is not set"
    raise RuntimeError(f"{CROSS_SYSTEM} must name a system that {place} has binaries for, {' or '.join(there)}, {came}")


def _platform_of(name: str) -> str:
    system = name.rpartition("-")[2]
    return _PLATFORMS.get(system, system)
