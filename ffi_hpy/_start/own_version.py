"""The version of ffi_hpy. The build takes it from here, so that a copy that no installer knows has it, too."""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = "0.1.0"
