"""Choose the HPy runtime for this process by the symbols in it, not by the interpreter's name or version.

There are three. `_hpy_universal` is the interpreter's own, in PyPy 7.3; from 7.3.18 on its function table differs from
the table of HPy 0.9.0, so modules built for 0.9.0 would call wrong functions. The package has the other two: `_hpy.so`
for CPython's C API, and `_hpy_pypy.so` for PyPy's, where names have a prefix and objects have a longer header.
"""

from __future__ import annotations

import os
import sys
from importlib._bootstrap import module_from_spec  # importlib.util has it too, but costs 2 ms on PyPy
from importlib.machinery import ExtensionFileLoader, ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from types import ModuleType

__all__ = ["BUILT_IN", "NAMES", "RELEASE", "choose", "choose_file", "import_file", "look"]

BUILT_IN = "_hpy_universal"
"""The module of the interpreter's own runtime."""

RELEASE = "0.9.0"
"""The release of HPy that modules are built for. A runtime that reports another release has another function table."""

NAMES = {"PyObject_GetAttr": "_hpy.so", "PyPyObject_GetAttr": "_hpy_pypy.so"}
"""A name that only one C API exports, and the runtime for that API. If both are exported, the first counts: a PyPy that
has CPython's names may keep its own for old programs."""


_CANNOT_ASK = (OSError, TypeError)
"""The exceptions of ctypes and cffi where the system cannot search all libraries of a process, as on Windows."""


def look() -> tuple[str | None, list[str]]:
    """Return the release of HPy that the interpreter's own runtime reports, None if it has no such runtime; and the
    keys of NAMES that the process exports."""
    release = None
    if BUILT_IN in sys.builtin_module_names:
        import _hpy_universal  # type: ignore[import-not-found,unused-ignore]

        release = _hpy_universal.get_version()[0]
    return release, list(filter(_is_exported, NAMES))


def choose(release: str | None, names: Container[str]) -> str:
    """Return BUILT_IN, or the file name of the package's runtime, for the result of look(). ImportError if none
    fits."""
    if release is not None and release.partition("+")[0] == RELEASE:  # "+" begins the revision
        return BUILT_IN
    return choose_file(release, names)


def choose_file(release: str | None, names: Container[str]) -> str:
    """Return the file name of the package's own runtime. ImportError if none fits."""
    for name, file in NAMES.items():
        if name in names:
            return file
    built_in = f"{BUILT_IN} is that of HPy {release}" if release else f"{BUILT_IN} is missing"
    apis = " and ".join(f"{name} (for {file})" for name, file in NAMES.items())
    raise ImportError(
        f"no HPy runtime fits this interpreter: {built_in}, that of HPy {RELEASE} would do; and among the names that "
        f"the process exports, {apis} were looked for and not found"
    )


def import_file(name: str) -> ModuleType:
    """Import the package's own runtime as the module `name`, by its path. `sys.modules` is unchanged."""
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib costs import time
    file = choose_file(*look())
    if sys.platform == "win32":
        file = file.replace(".so", ".pyd")
    path = os.path.join(folder, file)  # noqa: PTH118
    if __package__ and not os.path.exists(path):  # noqa: PTH110 - the wheel for every system
        from ._system import find_binaries

        path = os.path.join(find_binaries(folder), file)  # noqa: PTH118
    loader = ExtensionFileLoader(name, path)
    spec = ModuleSpec(name, loader, origin=path)
    spec.has_location = True
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def _is_exported(name: str) -> bool:
    """Return whether a library of the process exports a name."""
    if sys.implementation.name == "cpython":  # the answer is known, and importing ctypes costs more than the rest
        return name == "PyObject_GetAttr"
    try:
        # Built into PyPy, and faster to import than ctypes.
        import _cffi_backend  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        import ctypes

        try:
            return hasattr(ctypes.CDLL(None), name)
        except _CANNOT_ASK:
            return False
    function = _cffi_backend.new_function_type((), _cffi_backend.new_void_type())
    try:
        _cffi_backend.load_library(None).load_function(function, name)
    except (AttributeError, *_CANNOT_ASK):
        return False
    return True
