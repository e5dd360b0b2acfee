"""The package's own HPy runtime, for import systems that do not find `_hpy.so`: PyPy's wants another suffix.

This module puts the runtime in its own place. Where `_hpy.so` is found, as on CPython, this file is not.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    def __getattr__(name: str) -> Any: ...


if __package__:
    from ._hpy_choice import import_file
else:  # in a folder with hpy.py
    from _hpy_choice import import_file

sys.modules[__name__] = import_file(__name__)
