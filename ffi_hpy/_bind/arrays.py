"""Arrays of Python for bound libraries (`ffi_hpy/ndarray.h`): as tensors, with another element type or order, and back.

An array is any object with `__dlpack__`, a DLPack capsule, or an object with the buffer protocol.
"""

from __future__ import annotations

import copy
import ctypes
import importlib
import sys

from .. import _core
from .._tensor import Tensor, from_dlpack
from .._values.function import native_function
from .._values.plain import DataType
from .._values.tensor_numpy import is_read_only, type_for_numpy
from ..registry import register_global_func
from .values import is_capsule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["OPERATIONS"]

_adopt = native_function("adopt")
_REFUSALS = (TypeError, ValueError, BufferError, RuntimeError)
_CPU = (_core.DEVICE_TYPE_CPU, 0)

if hasattr(_core, "array_reader"):  # the C binding, where bound libraries call it before they ask for "tensor"
    register_global_func("ffi_hpy.array_reader", _core.function_from_address(_core.array_reader()))

# --- arguments ------------------------------------------------------------------------------------------------------


def _is_exported(value: Any) -> bool:
    """Whether a value is an array by DLPack."""
    return hasattr(type(value), "__dlpack__") or is_capsule(value)


def _tensor(value: Any, reads: bool) -> Tensor | None:
    """Return the Tensor of an array, for native code that only reads, or also writes; None for other values."""
    try:
        if isinstance(value, Tensor):
            return None if not reads and is_read_only(value) else value
        if _is_exported(value):
            return _to_read(value) if reads else from_dlpack(value)
        return _tensor_of_buffer(value, reads)
    except _REFUSALS:
        return None


def _to_read(value: Any) -> Tensor:
    made: Tensor = _adopt(_core.tensor_to_read(value))
    return made


def _is_array(value: Any) -> bool:
    if _is_exported(value):
        return True
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def _describe(value: Any, reads: bool) -> str | None:
    """Describe an array for the message of a parameter that demands another array. Returns None for other values."""
    tensor = _tensor(value, True)
    if tensor is None:
        return None
    if not reads and _tensor(value, False) is None:
        return " is read-only"
    shape, strides = tuple(tensor.shape), tuple(tensor.strides)
    return f" has dtype {tensor.dtype}, shape {shape} and strides {strides}, on {tensor.device}"


# --- the buffer protocol --------------------------------------------------------------------------------------------

_WRITABLE, _STRIDES = 1, 0x18
_ORDERS = (("C", 0x38), ("F", 0x58), ("A", 0x98))
"""The orders of the elements, and the requests for the orders, by CPython's numbers."""


def _is_contiguous(view: memoryview, order: str) -> bool:
    return {"C": view.c_contiguous, "F": view.f_contiguous, "A": view.contiguous}[order]


def _buffer(value: Any, request: int) -> tuple[Any, ...]:
    """Return an exporter of the memory of an object, and the members of CPython's struct Py_buffer."""
    view = memoryview(value)
    if request & _WRITABLE and view.readonly:
        raise BufferError("the memory of the object is read-only")
    orders = [order for order, bits in _ORDERS if request & bits == bits]
    if request & _STRIDES != _STRIDES:
        orders.append("C")
    if not all(_is_contiguous(view, order) for order in orders):
        raise BufferError("the elements of the object are not contiguous")
    shape, strides = tuple(view.shape or ()), tuple(view.strides or ())
    return view, _address_of(view), view.nbytes, view.itemsize, view.readonly, view.format, shape, strides


_CODES = {
    **dict.fromkeys("?", _core.TYPE_CODE_BOOL),
    **dict.fromkeys("bhilqn", _core.TYPE_CODE_INT),
    **dict.fromkeys("BHILQNc", _core.TYPE_CODE_UINT),
    **dict.fromkeys("efd", _core.TYPE_CODE_FLOAT),
    **dict.fromkeys(("Zf", "Zd", "F", "D"), DataType("complex64").type_code),
}
"""The kinds of elements, by the formats of the struct module."""

_NATIVE = "@=<" if sys.byteorder == "little" else "@=>"


def _tensor_of_buffer(value: Any, reads: bool) -> Tensor | None:
    view = memoryview(value)
    code = _CODES.get(view.format.lstrip(_NATIVE))
    strides = view.strides or ()
    if code is None or (view.readonly and not reads) or any(stride % view.itemsize for stride in strides):
        return None
    shape, numbers = view.shape or (), tuple([stride // view.itemsize for stride in strides])
    kind = (code, 8 * view.itemsize, 1)
    capsule = _core.memory_capsule(view, _address_of(view), shape, numbers, kind, _CPU, view.readonly)
    return _to_read(capsule) if view.readonly else from_dlpack(capsule)


if sys.implementation.name == "pypy":

    def _address_of(view: memoryview) -> int:
        import cffi  # type: ignore[import-untyped,unused-ignore]

        ffi = cffi.FFI()
        return int(ffi.cast("intptr_t", ffi.from_buffer(view)))

else:

    class _Buffer(ctypes.Structure):
        """A Py_buffer, as far as it is read."""

        _fields_ = (("address", ctypes.c_void_p), ("rest", ctypes.c_char * 128))

    _FULL_READ_ONLY = 0x11C

    def _address_of(view: memoryview) -> int:
        """Return the address of the first element; a memoryview has no attribute for it."""
        api, buffer = ctypes.pythonapi, _Buffer()
        api.PyObject_GetBuffer(ctypes.py_object(view), ctypes.byref(buffer), _FULL_READ_ONLY)
        address = buffer.address or 0
        api.PyBuffer_Release(ctypes.byref(buffer))
        return address


# --- conversion -----------------------------------------------------------------------------------------------------


def _convert(value: Any, tensor: Tensor, data_type: DataType, order: str) -> Any:
    """Return a copy of an array with other elements and in another order, made by the array's own library or, for the
    memory of `tensor`, by NumPy; None if it cannot be made. `order`: "C", "F", "A" for either, "" for any."""
    library = type(value).__module__.partition(".")[0]
    try:
        if library in _CONVERSIONS:
            return _CONVERSIONS[library](value, data_type, order)
        return _convert_by_numpy(_numpy(tensor, False, False), data_type, order)
    except (*_REFUSALS, ImportError, AttributeError):
        return None


def _convert_by_numpy(value: Any, data_type: DataType, order: str) -> Any:
    numpy: Any = importlib.import_module("numpy")
    return numpy.array(value, dtype=type_for_numpy(data_type), order=order or "K")


def _convert_by_torch(value: Any, data_type: DataType, order: str) -> Any:
    made = value.to(dtype=getattr(sys.modules["torch"], str(data_type)))
    axes = tuple(reversed(range(made.dim())))
    return made.permute(axes).contiguous().permute(axes) if order == "F" else made.contiguous()


_CONVERSIONS: dict[str, Callable[[Any, DataType, str], Any]] = {
    "torch": _convert_by_torch,
    "numpy": _convert_by_numpy,
    "cupy": lambda value, data_type, order: value.astype(str(data_type), order=order or "K"),
    "jax": lambda value, data_type, _order: value.astype(str(data_type)),
    "jaxlib": lambda value, data_type, _order: value.astype(str(data_type)),
    "tensorflow": lambda value, data_type, _order: sys.modules["tensorflow"].cast(value, str(data_type)),
}

# --- results --------------------------------------------------------------------------------------------------------


def _read_only(tensor: Tensor) -> Tensor:
    """Return a read-only Tensor on the same memory."""
    data_type = tensor.dtype._tvm_ffi_dtype
    kind = (data_type.type_code, data_type.bits, data_type.lanes)
    device = tensor.__dlpack_device__()
    return _to_read(_core.memory_capsule(tensor, tensor.data_ptr(), tensor.shape, tensor.strides, kind, device, True))


def _by(module: str, name: str) -> Callable[[Tensor], Any]:
    """Return a function that calls one of a module, which is imported at the first call."""

    def make(tensor: Tensor) -> Any:
        return getattr(importlib.import_module(module), name)(tensor)

    return make


def _numpy(tensor: Tensor, reads: bool, copies: bool) -> Any:
    numpy: Any = sys.modules.get("numpy") or importlib.import_module("numpy")
    # The buffer protocol is faster than older releases of from_dlpack(), and writable; PyPy 7.3 releases no buffer.
    array = numpy.from_dlpack(tensor) if sys.implementation.name == "pypy" else numpy.asarray(tensor)
    if copies:
        return array.copy("K")
    if reads:
        array.flags.writeable = False
    return array


def _memoryview(tensor: Any) -> memoryview:
    return memoryview(tensor)


def _tensorflow(tensor: Tensor) -> Any:
    return importlib.import_module("tensorflow").experimental.dlpack.from_dlpack(tensor.__dlpack__())


_NUMPY = 1
_MAKERS: dict[int, tuple[Callable[[Tensor], Any], str | None]] = {
    0: (lambda tensor: tensor.__dlpack__(max_version=(1, 0) if is_read_only(tensor) else None), None),
    2: (_by("torch", "from_dlpack"), "clone"),
    3: (_tensorflow, "__copy__"),
    4: (_by("jax.dlpack", "from_dlpack"), "copy"),
    5: (_by("cupy", "from_dlpack"), "copy"),
    6: (_memoryview, None),
    7: (lambda tensor: tensor, None),
    8: (_by("mlx.core", "array"), "__copy__"),
}
"""The function that makes an array of a library, and the name of the array's method that copies it, by the number of
the framework in array_type.h."""


def _export(tensor: Tensor, framework: int, reads: bool, copies: bool) -> Any:
    """Return an array of a library on the memory of a tensor, or a copy."""
    if framework == _NUMPY:
        return _numpy(tensor, reads, copies)
    make, method = _MAKERS[framework]
    if not copies:
        return make(_read_only(tensor) if reads else tensor)
    if method is None:
        raise RuntimeError("the array has no owner and must be copied, which is not supported for this framework")
    return getattr(make(tensor), method)()


def _copy(value: Any, tensor: Tensor, framework: int) -> Any:
    """Return a copy of an array that Python passed, whose memory is that of `tensor`, as an array of the library that
    the result demands; of the array's own library if the result demands none."""
    if framework == _NUMPY or _MAKERS[framework][1] is not None:
        return _export(tensor, framework, False, True)
    if hasattr(value, "clone"):  # a tensor of PyTorch
        return value.clone()
    return value.copy() if hasattr(value, "copy") else copy.copy(value)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "is_array": _is_array,
    "tensor": _tensor,
    "buffer": _buffer,
    "buffer_is_contiguous": _is_contiguous,
    "buffer_release": memoryview.release,
    "describe_array": _describe,
    "astype": _convert,
    "export": _export,
    "copy": _copy,
}
