"""Finds bound libraries on interpreters that do not accept `.so` as the suffix of an extension module: PyPy."""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

__all__ = ["install"]

_MARK = b"__tvm_ffi_ffi_hpy_execute"


class _Loader:
    """Loads one library."""

    def __init__(self, path: str) -> None:
        self.path = path

    def create_module(self, spec: ModuleSpec) -> None:
        """Let the import system make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module."""
        from .importer import load

        load(module, self.path)


def _is_bound(path: str, name: str) -> bool:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs import time
            content = file.read()
    except OSError:
        return False
    return _MARK in content and f"PyInit_{name}\0".encode() in content


class _Finder:
    """The entry of `sys.meta_path`."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Return how to load a module, if a folder of `path` (or of `sys.path`) has its library."""
        own_name = name.rpartition(".")[2]
        for folder in sys.path if path is None else path:
            file = os.path.join(folder or os.getcwd(), f"{own_name}.so")  # noqa: PTH109, PTH118
            if _is_bound(file, own_name):
                return spec_from_file_location(name, file, loader=_Loader(file))  # type: ignore[arg-type]
        return None


def install() -> None:
    """Let `import` find bound libraries, after all that it finds otherwise."""
    sys.meta_path.append(_Finder)
