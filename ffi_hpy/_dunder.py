"""The names of `tvm_ffi._dunder`."""

from __future__ import annotations

from ._start.elsewhere import find_elsewhere
from .dataclasses._dunder import install_dunders as _install_dataclass_dunders

__all__ = ["_install_dataclass_dunders"]

TYPE_CHECKING = False
if not TYPE_CHECKING:  # names that tvm_ffi has here
    __getattr__ = find_elsewhere(__name__)
