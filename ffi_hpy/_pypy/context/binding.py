"""The C binding, which implements everything outside the hot paths."""

from __future__ import annotations

from ... import _binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["binding"]

binding: Any = _binding
