"""Tensors without an array library: ctypes describes memory of this process."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import ffi_hpy

sys.path.append(str(Path(__file__).resolve().parents[1] / "python" / "support"))
from dlpack_structs import Tensor

__all__ = ["Producer", "new_tensor"]

CPU, FLOAT32, TENSOR_INDEX = 1, (2, 32, 1), 70


class _Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (("tensor", Tensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Any(ctypes.Structure):
    """TVMFFIAny."""

    _fields_ = (("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32), ("payload", ctypes.c_void_p))


_DATA = (ctypes.c_float * 16)()  # aligned by the number of its elements, twice the 64 bytes
_SHAPE = (ctypes.c_int64 * 1)(3)
_MANAGED = _Managed(
    Tensor(ctypes.addressof(_DATA), CPU, 0, 1, *FLOAT32, ctypes.cast(_SHAPE, ctypes.POINTER(ctypes.c_int64)), None, 0)
)


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(_Any))
def _make(_self: int, _args: int, _n_args: int, result: ctypes._Pointer[_Any]) -> int:  # type: ignore[type-arg]
    made = ctypes.c_void_p()
    if ffi_hpy.LIB.TVMFFITensorFromDLPack(ctypes.byref(_MANAGED), 0, 0, ctypes.byref(made)) != 0:
        return -1
    result.contents.type_index, result.contents.payload = TENSOR_INDEX, made.value
    return 0


new_tensor = ffi_hpy.Function.__from_extern_c__(ctypes.cast(_make, ctypes.c_void_p).value or 0)
"""Return a new tensor of three float32."""


class Producer:
    """An array of a library that supports only DLPack."""

    def __init__(self) -> None:
        self._tensor = new_tensor()

    def __dlpack__(self, **_: object) -> object:
        return self._tensor.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (CPU, 0)
