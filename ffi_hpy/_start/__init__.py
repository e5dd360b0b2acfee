"""The code that runs before the binding: loading it, fork-safe locks, caches, late imports."""

from __future__ import annotations
