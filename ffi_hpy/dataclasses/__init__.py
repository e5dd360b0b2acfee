"""Classes whose fields native code knows: `c_class` for types of native libraries."""

from __future__ import annotations

from .c_class import c_class

__all__ = ["c_class"]
