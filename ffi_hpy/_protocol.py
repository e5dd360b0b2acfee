"""What a Python object says stands for it, where a schema is to look at that instead."""

from __future__ import annotations

from collections.abc import Mapping

from ._core import CObject, ObjectRValueRef
from ._object import ObjectConvertible
from ._string import PyNativeObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["unwrap"]

# What unwrap() found: the value itself, what stands for it, a value that gives nothing but itself, a failure's text.
_SAME, _INNER, _STALLED, _FAILED = range(4)
_MOST_STEPS = 64


def unwrap(value: Any) -> tuple[int, Any, bool]:
    """Follow `__tvm_ffi_object__`, `__tvm_ffi_value__` and `asobject`, in this order, until a value has none of them.

    Returns a state, the value or text that goes with it, and whether that value is a mapping.
    """
    state = _SAME
    for _ in range(_MOST_STEPS + 1):
        if isinstance(value, (CObject, ObjectRValueRef, PyNativeObject)):
            return state, value, False
        cls = type(value)
        try:
            if hasattr(cls, "__tvm_ffi_object__"):
                step = "__tvm_ffi_object__"
                inner = value.__tvm_ffi_object__()
                if inner is value:
                    return state, value, False
            elif hasattr(cls, "__tvm_ffi_value__"):
                step = "__tvm_ffi_value__"
                inner = value.__tvm_ffi_value__()
                if inner is value:
                    return _STALLED, value, False
            elif isinstance(value, ObjectConvertible):
                step = "asobject"
                inner = value.asobject()
                if not isinstance(inner, CObject):
                    given = type(inner).__qualname__
                    return _FAILED, f"asobject() of {cls.__qualname__} returned {given}, not an object", False
            else:
                return state, value, isinstance(value, Mapping)
        except (MemoryError, RecursionError):
            raise
        except Exception as error:
            if step == "__tvm_ffi_value__":
                return _STALLED, value, False
            return _FAILED, f"{step}() failed for {cls.__qualname__}: {type(error).__name__}: {error}", False
        state, value = _INNER, inner
    return _FAILED, "infinite __tvm_ffi_value__ cycle detected", False
