"""Helpers for packages that build on ffi_hpy."""

from __future__ import annotations

from .._start.late import find_attributes
from .lockfile import FileLock

__all__ = ["FileLock"]

TYPE_CHECKING = False
if not TYPE_CHECKING:  # names that tvm_ffi has here
    __getattr__ = find_attributes(__name__)
