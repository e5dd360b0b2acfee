"""The C binding, which implements everything outside the hot paths."""

from __future__ import annotations

import sys

from ... import _binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["RUNS_TO_THE_END", "binding"]

binding: Any = _binding
RUNS_TO_THE_END = sys.implementation.name == "pypy"
"""Whether Python code runs until the process ends."""
