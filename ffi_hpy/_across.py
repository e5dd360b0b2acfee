"""Find the target system, and the folder of the binaries, of the package that FFI_HPY_CROSS_ROOT names.

Imported only if that variable is set. Nothing of that package runs: file names are enough.
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
"""The environment variable that names the target system, as in `aarch64-linux`, for a package with binaries of several
systems."""

_PLATFORMS = {"linux": "linux", "macos": "darwin", "windows": "win32"}
_CORES = {"linux": "libtvm_ffi.so", "macos": "libtvm_ffi.dylib", "windows": "tvm_ffi.dll"}


def find_target(package: Path) -> tuple[str, Path]:
    """Return the target system of a package, as a value of sys.platform, and the folder of its binaries.

    RuntimeError if the package has no core, if FFI_HPY_CROSS_SYSTEM names a system that the package lacks, or if that
    variable is unset and the package has several systems.
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
        raise RuntimeError(f"Cannot find the core: expected {expected}, and FFI_HPY_CROSS_ROOT says to look there")
    return _platform_of(_choose(named.rpartition("-")[2], there, folder)), package


def _choose(named: str, there: Sequence[str], place: Path) -> str:
    """Return `named` if it is in `there`; if nothing is named, the only item of `there`."""
    if named in there:
        return named
    if not named and len(there) == 1:
        return there[0]
    came = f"got {os.environ[CROSS_SYSTEM]!r}" if named else "and it is not set"
    raise RuntimeError(f"{CROSS_SYSTEM} must name a system that {place} has binaries for, {' or '.join(there)}, {came}")


def _platform_of(name: str) -> str:
    system = name.rpartition("-")[2]
    return _PLATFORMS.get(system, system)
