"""Protocols of Python objects that stand for something else: which of them a type has. It is found out with the type's
kind, once, and schemas look at what stands for the object."""

from __future__ import annotations

from collections.abc import Mapping

from . import _core
from ._convert import classify
from ._object import ObjectConvertible
from ._string import PyNativeObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["classify_with_protocols"]

_OBJECT, _VALUE, _CONVERT, _MAPPING = 1, 2, 4, 8  # FB_PROTOCOL_* of the binding
_NATIVE = (_core.CObject, _core.ObjectRValueRef, PyNativeObject)  # stand for themselves


def classify_with_protocols(cls: type) -> tuple[int, Any, int]:
    """The answer of classify(), and the protocols of the type."""
    kind, detail = classify(cls)
    if issubclass(cls, _NATIVE):
        return kind, detail, 0
    protocols = _OBJECT * hasattr(cls, "__tvm_ffi_object__") + _VALUE * hasattr(cls, "__tvm_ffi_value__")
    protocols += _CONVERT * issubclass(cls, ObjectConvertible)
    return kind, detail, protocols + _MAPPING * (issubclass(cls, Mapping) and not issubclass(cls, dict))
