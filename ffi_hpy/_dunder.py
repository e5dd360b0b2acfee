"""The names of `tvm_ffi._dunder`."""

from __future__ import annotations

from .dataclasses._dunder import install_dunders as _install_dataclass_dunders

__all__ = ["_install_dataclass_dunders"]
