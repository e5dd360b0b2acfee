"""The package's own HPy runtime, for import systems that do not find `_hpy.so`: PyPy expects another suffix, and in the
wheel for every system the file is in another folder.

This module replaces itself with the runtime in `sys.modules`. Installations where `_hpy.so` is found, such as CPython
with the other wheels, do not have this file.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    def __getattr__(name: str) -> Any: ...


# Without the package, this file is in one folder with hpy.py.
_choice = import_module(f"{__package__}._hpy_choice" if __package__ else "_hpy_choice")
sys.modules[__name__] = _choice.import_file(__name__)
