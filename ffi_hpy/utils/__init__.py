"""Helpers for packages that build on ffi_hpy."""

from __future__ import annotations

from .lockfile import FileLock

__all__ = ["FileLock"]
