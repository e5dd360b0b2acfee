"""Python as a target of stub generation."""

from __future__ import annotations

from .generator import PythonGenerator

__all__ = ["PythonGenerator"]
