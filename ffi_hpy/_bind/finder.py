"""Finds bound libraries on interpreters that do not accept `.so` as the suffix of an extension module: PyPy.

There ffi_hpy.pth runs this file when the interpreter starts, so it imports the package only for a library.
"""

from __future__ import annotations

import os
import sys

# These modules are loaded in each interpreter; importlib.util would load thirty others at each start of PyPy.
from _frozen_importlib_external import PathFinder, spec_from_file_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

__all__ = ["install", "is_bound", "spec_of"]

_MARK = "__tvm_ffi_ffi_hpy_execute_"  # FFI_HPY_MODULE exports a function of this name and of the module's name

_PART = 1 << 20


class _Loader:
    """Loads one library."""

    def __init__(self, path: str) -> None:
        self.path = path

    def create_module(self, spec: ModuleSpec) -> None:
        """Let the import system make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module."""
        from ffi_hpy._bind.importer import load  # an absolute name: the package is perhaps not imported yet

        load(module, self.path)


def is_bound(path: str, name: str | None = None) -> bool:
    """Whether a file is a bound library that defines the module of that name; without a name, any module."""
    mark = (_MARK if name is None else f"{_MARK}{name}\0").encode()
    part = end = b""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs import time
            while mark not in end + part:
                end = (end + part)[-len(mark) :]
                part = file.read(_PART)  # a library may be very large
                if not part:
                    return False
    except OSError:
        return False
    return True


def spec_of(name: str, path: str) -> ModuleSpec | None:
    """Return how to load the bound library at a path as the module of that name, on any interpreter."""
    return spec_from_file_location(name, path, loader=_Loader(path))  # type: ignore[arg-type]


class _Finder:
    """The entry of `sys.meta_path`."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Return how to load a module, if a folder of `path` (or of `sys.path`) has its library and none has the module
        in another form. A folder without code, such as one with the stubs of the module, does not count."""
        own_name = name.rpartition(".")[2]
        for folder in sys.path if path is None else path:
            file = os.path.join(folder or os.getcwd(), f"{own_name}.so")  # noqa: PTH109, PTH118
            if is_bound(file, own_name):
                return None if _finds_code(name, path) else spec_of(name, file)
        return None


def _finds_code(name: str, path: Sequence[str] | None) -> bool:
    other = PathFinder.find_spec(name, path)
    return other is not None and other.loader is not None


def install() -> None:
    """Let `import` find bound libraries. Further calls have no effect."""
    finders: list[Any] = sys.meta_path
    if _Finder not in finders:
        before = [i for i, finder in enumerate(finders) if finder is PathFinder]
        finders.insert(before[0] if before else len(finders), _Finder)
