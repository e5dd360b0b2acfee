"""The version of ffi_hpy. The build reads it from here, so that a copy without an installed distribution has it,
too."""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = "0.1.0"
