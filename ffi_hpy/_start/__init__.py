"""The code that runs before the binding: loading it, fork-safe locks, caches. It uses none of the other modules."""

from __future__ import annotations
