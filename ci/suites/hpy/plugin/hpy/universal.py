"""Answers for `hpy.universal` in HPy's own tests: its functions over ffi_hpy.hpy."""

from __future__ import annotations

import sys

from ffi_hpy.hpy import load as _load

if "_hpy_universal" in sys.builtin_module_names:  # the debug mode is that of our own runtime
    _debug = None
else:
    from . import _debug as _debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

MODE_INVALID, MODE_UNIVERSAL, MODE_DEBUG, MODE_TRACE = -1, 0, 1, 2


def load(name: str, path: str, spec: Any, debug: bool = False, mode: int = MODE_UNIVERSAL) -> ModuleType:
    return _load(name, path, spec, debug=debug or mode == MODE_DEBUG)


def get_version() -> tuple[str, str]:
    return "0.9.0", "ffi_hpy"
