"""The binding in C, which does what is not hot."""

from __future__ import annotations

from ..._start.load import load_binding

__all__ = ["binding"]

binding = load_binding()
