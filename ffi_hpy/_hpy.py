"""The package's own HPy runtime, for import systems that do not find `_hpy.so`: PyPy expects another suffix, and in the
wheel for every system the file is in another folder.

This module replaces itself with the runtime in `sys.modules`. Installations where `_hpy.so` is found, such as CPython
with the other wheels, do not have this file.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    def __getattr__(name: str) -> Any: ...


if TYPE_CHECKING or __package__:
    from ._hpy_choice import import_file
else:  # this file is in one folder with hpy.py, without the package
    from _hpy_choice import import_file
sys.modules[__name__] = import_file(__name__)
