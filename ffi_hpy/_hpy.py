"""The package's own HPy runtime, for import systems that do not find `_hpy.so`: PyPy's wants another suffix, and in the
wheel for every system it lies elsewhere.

This module puts the runtime in its own place. Where `_hpy.so` is found, as on CPython in the other wheels, this file is
not.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    def __getattr__(name: str) -> Any: ...


# Without the package it stands in a folder with hpy.py.
_choice = import_module(f"{__package__}._hpy_choice" if __package__ else "_hpy_choice")
sys.modules[__name__] = _choice.import_file(__name__)
