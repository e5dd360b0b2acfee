"""The names of `tvm_ffi._dunder`."""

from __future__ import annotations

# ruff: noqa: F401 - names that are not in __all__ are also here to be imported
from ._start.late import find_attributes
from ._types.info import TypeInfo
from ._values.object import Object, object_repr
from .dataclasses._dunder import install_dunders as _install_dataclass_dunders

__all__ = ["_install_dataclass_dunders"]

TYPE_CHECKING = False
if not TYPE_CHECKING:  # names that tvm_ffi has here
    __getattr__ = find_attributes(__name__)
