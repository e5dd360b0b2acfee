"""Loads a library that was built, and loads it again after another build."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from .._bind.finder import is_bound
from ..module import load_module
from ._bound import import_library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..module import Module

__all__ = ["load_built"]

_loaded: dict[str, tuple[int, int, int]] = {}
"""For each path, the file that was there at the first load."""
_ONCE = (b"TVMFFIFunctionSetGlobal", b"TVMFFITypeRegister")
"""Symbols that a library refers to if it registers something at load time. Loading such a library twice ends the
process."""


def load_built(path: str, name: str, keep_module_alive: bool) -> Any:
    """Load a library of that name, and return its Module or, if FFI_HPY_MODULE defines one, its module of Python."""
    module = _load(path, keep_module_alive)
    return import_library(path, name) if is_bound(path) else module


def _load(path: str, keep_module_alive: bool) -> Module:
    """Load a library like load_module(). The system's loader returns the loaded library again for a known path. So a
    file that has replaced a loaded one is loaded under another name.

    RuntimeError for such a file if it registers functions or types.
    """
    found = os.stat(path)  # noqa: PTH116
    file = (found.st_dev, found.st_ino, found.st_mtime_ns)
    if _loaded.setdefault(path, file) == file:
        return load_module(path, keep_module_alive)
    if any(name in Path(path).read_bytes() for name in _ONCE):
        raise RuntimeError(
            f"Cannot load {path} again: it was rebuilt since this process loaded it, and registers global functions "
            "or types, which are there already; a new process can load it"
        )
    return load_module(_other_name(path, file), keep_module_alive)


def _other_name(path: str, file: tuple[int, ...]) -> str:
    stem, suffix = os.path.splitext(path)  # noqa: PTH122
    other = f"{stem}.{'-'.join(f'{number:x}' for number in file)}{suffix}"
    try:
        os.link(path, other)
    except FileExistsError:
        pass  # loaded before, here or in another process
    except OSError:  # this file system does not support hard links
        with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:  # noqa: PTH120
            os.replace(shutil.copy2(path, folder), other)  # noqa: PTH105
    return other
