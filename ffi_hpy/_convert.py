"""Decides how values of each Python type are passed to native code.

The binding asks once per type and caches the answer. The answer is read from the class, so a protocol method that is
added to the class later has no effect.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from operator import index as _as_int

from . import _core, _dtype, _ffi_api  # noqa: F401 - _dtype is a name that tvm_ffi has here
from ._containers.mapping import Map
from ._containers.sequence import Array
from ._core import CObject
from ._dtype import dtype, from_foreign_dtype, is_foreign_dtype
from ._start.late import find_attributes
from ._start.named import module_of
from ._tensor import Shape, from_dlpack
from ._values.device import Device
from ._values.object import Object, ObjectConvertible
from ._values.opaque import OpaquePyObject
from ._values.plain import DataType, OpaquePtr, data_type_from_code
from ._values.single import defines, is_single, is_time
from ._values.string import Bytes, PyNativeObject, String
from .error import exception_to_error_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    Answer = tuple[int, "Callable[[Any], Any] | int | None"]

__all__ = ["OPAQUE_PTR_HANDLERS", "classify", "classify_with_protocols", "convert", "convert_func"]

if not TYPE_CHECKING:  # names that tvm_ffi has here
    __getattr__ = find_attributes(__name__)

OPAQUE_PTR_HANDLERS: dict[type, Callable[[Any], int]] = {}
"""For classes of other libraries whose instances stand for a pointer: the function that returns that pointer, by exact
class. Read once per class, when its first instance is passed."""

_SCALARS: tuple[tuple[type, int], ...] = (
    (bool, _core.TAG_BOOL),  # before int, its base
    (int, _core.TAG_INT),
    (float, _core.TAG_FLOAT),
    (DataType, _core.TAG_DATA_TYPE),
    (Device, _core.TAG_DEVICE),
    (OpaquePtr, _core.TAG_OPAQUE_PTR),
)
_CONTAINERS: tuple[tuple[type, int], ...] = (
    (str, _core.TAG_STR),
    (bytes, _core.TAG_BYTES),
    (tuple, _core.TAG_SEQUENCE),
    (list, _core.TAG_SEQUENCE),
    (dict, _core.TAG_MAPPING),
)


def classify(cls: type) -> Answer:
    """Return the tag (a `_core.KIND_*`) for the values of a type. With TAG_CONVERTER the second item is the function
    that returns the value to pass instead; with TAG_EXCHANGE it is the pointer to the type's DLPack C exchange API.
    The first rule that matches applies; if none does, values are passed as opaque Python objects."""
    if issubclass(cls, CObject):
        return _core.TAG_OBJECT, None
    if issubclass(cls, _core.ObjectRValueRef):
        return _core.TAG_RVALUE_REF, None
    if "__ffi_members__" in cls.__dict__:  # a bound enum, whose members may also have methods such as __call__
        return _core.TAG_MEMBER, None
    return _array_kind(cls) or _builtin_kind(cls) or _converter_kind(cls) or (_core.TAG_OPAQUE, None)


_NATIVE = (CObject, _core.ObjectRValueRef, PyNativeObject)  # passed as they are


def classify_with_protocols(cls: type) -> tuple[int, Callable[[Any], Any] | int | None, int]:
    """Return the result of classify(), and the `_core.PROTOCOL_*` bits: the protocols by which instances of the type
    stand for another value (for schemas), and whether their memory may differ from the values that they show."""
    kind, detail = classify(cls)
    if issubclass(cls, _NATIVE):
        return kind, detail, 0
    protocols = _core.PROTOCOL_OBJECT * hasattr(cls, "__tvm_ffi_object__")
    protocols += _core.PROTOCOL_VALUE * hasattr(cls, "__tvm_ffi_value__")
    protocols += _core.PROTOCOL_CONVERT * issubclass(cls, ObjectConvertible)
    protocols += _core.PROTOCOL_MAPPING * (issubclass(cls, Mapping) and not issubclass(cls, dict))
    protocols += _core.PROTOCOL_LAZY_BITS * _is_torch_tensor(cls)
    if kind == _core.TAG_OPAQUE and _may_be_number(cls):
        protocols += _core.PROTOCOL_INDEX * (getattr(cls, "__index__", None) is not None)
        protocols += _core.PROTOCOL_FLOAT * (getattr(cls, "__float__", None) is not None)
    return kind, detail, protocols


def _may_be_number(cls: type) -> bool:
    """Whether `__index__` and `__float__` of an object tell all that it is: not those of a container, a time or a
    complex number."""
    is_complex = issubclass(cls, getattr(sys.modules.get("numbers"), "Complex", complex))
    return not (is_complex or is_time(cls) or defines(cls, "__len__"))


def _array_kind(cls: type) -> Answer | None:
    """Return the result for classes that stand for objects, streams or arrays. The rules for arrays precede the rules
    for containers, because an array class may derive from a container. A number or a str is never an array, although
    NumPy's scalars may have the methods of arrays."""
    address_of = OPAQUE_PTR_HANDLERS.get(cls)
    if address_of is not None:
        return _core.TAG_CONVERTER, lambda value: OpaquePtr(address_of(value))
    if hasattr(cls, "__tvm_ffi_object__"):
        return _core.TAG_CONVERTER, lambda value: value.__tvm_ffi_object__()
    if issubclass(cls, getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())):
        from ._values.array_numbers import without_mask

        return _core.TAG_CONVERTER, without_mask
    is_array = not is_single(cls)
    address = _table_address(cls) if is_array else 0
    if address:
        return _core.TAG_EXCHANGE, address
    if hasattr(cls, "__cuda_stream__"):
        return _core.TAG_CONVERTER, _from_cuda_stream
    module = module_of(cls)
    if module == "cuda.bindings.driver" and cls.__name__ == "CUstream":
        return _core.TAG_CONVERTER, lambda value: OpaquePtr(int(value))
    if module == "builtins" and cls.__name__ == "PyCapsule":
        return _core.TAG_CONVERTER, _from_capsule
    if is_array and hasattr(cls, "__dlpack__"):
        if module == "numpy" and cls.__name__ == "ndarray":
            _learn_numpy(cls)
        return _core.TAG_DLPACK, None
    return None


_CAPSULES_OF_TENSORS = ("dltensor", "dltensor_versioned", "used_dltensor", "used_dltensor_versioned")


def _from_capsule(value: Any) -> Any:
    """Return the Tensor in a DLPack capsule, which is used up, or any other capsule as an opaque object."""
    name = repr(value).split('"')[1:2]  # a capsule shows its name in its repr only
    return from_dlpack(value) if name and name[0] in _CAPSULES_OF_TENSORS else OpaquePyObject(value)


_HEAP_TYPE = 1 << 9
"""The bit of a class's `__flags__` for classes that are created at run time, for example by a class statement."""


def _learn_numpy(cls: type) -> None:
    """Let the binding read NumPy arrays from their C struct, if it reads samples of all dtypes correctly. A class
    written in Python, such as a stand-in for NumPy, has no such struct."""
    numpy: Any = sys.modules.get("numpy")
    if not _core.HAS_EXTENSION or getattr(numpy, "ndarray", None) is not cls or not hasattr(_core, "ndarray_use"):
        return
    if _is_protocol_only():
        return
    if cls.__flags__ & _HEAP_TYPE:
        return
    codes = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
    for name in ("bool", "float16", "float32", "float64", "complex64", "complex128", *"bBhHiIlLqQ"):
        whole = cls((3, 4, 5), dtype=name)
        for array in (whole, whole[1:, ::2, ::-1], whole[0, 0, 0, ...], whole[:0], whole.T):
            kind, size = array.dtype.kind, array.dtype.itemsize
            address = array.__array_interface__["data"][0]
            strides = tuple(stride // size for stride in array.strides)
            if not _core.ndarray_reads(array, address, array.shape, strides, codes[kind], 8 * size):
                return
    _core.ndarray_use(cls, numpy.asarray)


def _is_torch_tensor(cls: type) -> bool:
    return issubclass(cls, getattr(sys.modules.get("torch"), "Tensor", ()))


def _table_address(cls: type) -> int:
    """Return the pointer to the DLPack C exchange API of an array class, 0 if there is none. Missing attributes are
    added to torch's classes."""
    if not any(str(vars(base).get("__module__")).partition(".")[0] == "torch" for base in cls.__mro__):
        return _exchange_address(cls)
    from ._optional_torch_c_dlpack import learn_bits, prepare_torch

    prepare_torch()
    address = _exchange_address(cls)
    if not _is_torch_tensor(cls):
        return address
    learn_bits()
    if address and hasattr(_core, "exchange_writable") and address == _exchange_address(sys.modules["torch"].Tensor):
        _core.exchange_writable(address)  # torch has no read-only tensors
    return address or (_core.exchange_from_python() if _core.HAS_EXCHANGE else 0)


def _is_protocol_only() -> bool:
    """Whether the environment requires that all arrays are imported by their `__dlpack__`."""
    return os.environ.get("TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API", "0") == "1"


def _exchange_address(cls: type) -> int:
    """Return the pointer to a class's DLPack C exchange API; 0 if it has none, if it is unusable, or if the API is
    switched off."""
    if not _core.HAS_EXCHANGE or _is_protocol_only():
        return 0
    capsule = getattr(cls, "__dlpack_c_exchange_api__", None)
    return 0 if capsule is None else _core.exchange_address(capsule)


def convert_func(pyfunc: Callable[..., Any], tensor_cls: type | None = None) -> _core.Function:
    """Make a native function that calls a Python callable.

    Args:
        pyfunc: the callable. Native code may call and release it on any thread.
        tensor_cls: a class of arrays, such as torch.Tensor: tensor arguments, and tensors read from container
            arguments, then arrive as instances of it instead of Tensor.

    Returns:
        The function.

    Raises:
        TypeError: if `pyfunc` is not callable, or if the class has no `__dlpack_c_exchange_api__` that this interpreter
            can use (PyPy 7.3 can use none).

    Examples:
        >>> twice = ffi_hpy.convert_func(lambda x: 2 * x)
        >>> twice(4)
        8
    """
    if tensor_cls is None:
        return _core.function_from_callable(pyfunc)
    capsule = getattr(tensor_cls, "__dlpack_c_exchange_api__", None)
    if capsule is None or not _core.HAS_EXCHANGE:
        here = "" if _core.HAS_EXCHANGE else " that this interpreter can use"
        raise TypeError(f"expected a class with __dlpack_c_exchange_api__{here} as tensor_cls, got {tensor_cls!r}")
    return _core.function_from_callable(pyfunc, capsule)


def _builtin_kind(cls: type) -> Answer | None:
    if cls is type(None):
        return _core.TAG_NONE, None
    for scalar, kind in _SCALARS:
        if issubclass(cls, scalar):
            return kind, None
    if issubclass(cls, dtype):
        return _core.TAG_CONVERTER, lambda value: value._tvm_ffi_dtype
    if issubclass(cls, Shape):
        return _core.TAG_CONVERTER, lambda value: value._tvm_ffi_cached_object
    for container, kind in _CONTAINERS:
        if issubclass(cls, container):
            return kind, None
    if issubclass(cls, bytearray):
        return _core.TAG_CONVERTER, bytes
    if issubclass(cls, memoryview):
        return _core.TAG_CONVERTER, _from_memoryview
    return _number_kind(cls)


def _from_memoryview(value: memoryview) -> Any:
    """Return the bytes of a memoryview. If the core is ours, they carry the format and the shape of the items, for
    callees that read a sequence."""
    data = bytes(value)
    describe = getattr(_ffi_api, "BytesDescribed", None)
    if describe is None:
        return data
    extents = ",".join(map(str, value.shape or ()))
    made = Object.__new__(Object)
    made.__init_handle_by_constructor__(describe, data, f"{value.format};{extents}")
    return made


def _number_kind(cls: type) -> Answer | None:
    if is_time(cls):
        return None
    numbers = sys.modules.get("numbers")  # a class can be registered only with an imported module
    if issubclass(cls, (int, getattr(numbers, "Integral", int))):
        return _core.TAG_INT, None
    if issubclass(cls, (float, getattr(numbers, "Real", float))):
        return _core.TAG_FLOAT, None
    if module_of(cls) == "numpy" and cls.__name__ in ("bool", "bool_"):
        return _core.TAG_CONVERTER, bool
    return None


def _converter_kind(cls: type) -> Answer | None:
    convert_value = _converter_for(cls)
    return None if convert_value is None else (_core.TAG_CONVERTER, convert_value)


def _converter_for(cls: type) -> Callable[[Any], Any] | None:
    if module_of(cls) == "ctypes" and cls.__name__ == "c_void_p":
        return lambda value: OpaquePtr(value.value or 0)
    if hasattr(cls, "__tvm_ffi_opaque_ptr__"):
        return _from_opaque_ptr
    if defines(cls, "__call__"):
        return _core.function_from_callable
    if is_foreign_dtype(cls):
        return from_foreign_dtype
    if hasattr(cls, "__dlpack_data_type__"):
        return _from_dlpack_data_type
    if hasattr(cls, "__dlpack_device__") and not is_single(cls):
        return _from_dlpack_device
    if hasattr(cls, "__tvm_ffi_int__"):
        return _from_int
    if hasattr(cls, "__tvm_ffi_float__"):
        return _from_float
    if hasattr(cls, "__tvm_ffi_value__"):
        return lambda value: value.__tvm_ffi_value__()
    if issubclass(cls, BaseException):
        return exception_to_error_value
    if issubclass(cls, ObjectConvertible):
        return lambda value: value.asobject()
    return None


# Converters of the result of a protocol method to the value to pass. A TypeError of a converter names the protocol
# method instead of the failed conversion.


def _refuse(value: Any, method: str, wanted: str, answer: Any) -> NoReturn:
    given = f"a tuple of {len(answer)}" if type(answer) is tuple else type(answer).__name__
    raise TypeError(f"{type(value).__name__}.{method}() must return {wanted}, it returned {given}") from None


def _from_cuda_stream(value: Any) -> OpaquePtr:
    answer = value.__cuda_stream__()
    try:
        _version, address = answer
        return OpaquePtr(address)
    except (TypeError, ValueError):
        _refuse(value, "__cuda_stream__", "(version, address), two ints", answer)


def _from_opaque_ptr(value: Any) -> OpaquePtr:
    answer = value.__tvm_ffi_opaque_ptr__()
    try:
        return OpaquePtr(answer)
    except TypeError:
        _refuse(value, "__tvm_ffi_opaque_ptr__", "an address, an int", answer)


def _from_dlpack_data_type(value: Any) -> DataType:
    answer = value.__dlpack_data_type__()
    try:
        return data_type_from_code(*answer)
    except TypeError:
        _refuse(value, "__dlpack_data_type__", "(type code, bits, lanes), three ints", answer)


def _from_dlpack_device(value: Any) -> Device:
    answer = value.__dlpack_device__()
    try:
        device_type, index = answer
        return Device(device_type, _as_int(index))
    except (TypeError, ValueError):
        _refuse(value, "__dlpack_device__", "(device type, index), two ints", answer)


def _from_int(value: Any) -> int:
    answer = value.__tvm_ffi_int__()
    try:
        return int(answer)
    except (TypeError, ValueError):
        _refuse(value, "__tvm_ffi_int__", "an int", answer)


def _from_float(value: Any) -> float:
    answer = value.__tvm_ffi_float__()
    try:
        return float(answer)
    except (TypeError, ValueError):
        _refuse(value, "__tvm_ffi_float__", "a float", answer)


# Only native code can use the results of these, so convert() returns the original value.
_ADDRESS_CONVERTERS = (_from_cuda_stream, _from_opaque_ptr, _from_dlpack_device, _from_int, _from_float)


def convert(value: Any) -> Any:
    """Convert a value as a call converts its arguments.

    list, tuple -> Array; dict -> Map; str -> String; bytes, bytearray, memoryview -> Bytes; callable -> Function; array
    -> Tensor; data types of other libraries -> dtype; exception -> Error; anything unknown -> OpaquePyObject.

    Args:
        value: any object.

    Returns:
        The converted value; containers are copied. Numbers, None, native objects and values that only stand for a
        number or a pointer are returned unchanged.

    Raises:
        BufferError: for a read-only array.

    Examples:
        >>> ffi_hpy.convert([1, {"a": None}])
        (1, {"a": None})
        >>> type(ffi_hpy.convert(print)).__name__
        'Function'
    """
    cls = type(value)
    kind, converter = classify(cls)
    if kind == _core.TAG_STR:
        return value if isinstance(value, PyNativeObject) else String(value)
    if kind == _core.TAG_BYTES:
        return value if isinstance(value, PyNativeObject) else Bytes(value)
    if kind == _core.TAG_SEQUENCE:
        return Array(value)
    if kind == _core.TAG_MAPPING:
        return Map(value)
    if kind in (_core.TAG_DLPACK, _core.TAG_EXCHANGE):
        return from_dlpack(value)
    if converter is _from_memoryview:
        return Bytes(value)
    if kind == _core.TAG_OPAQUE and not _is_left_alone(cls, None):
        return OpaquePyObject(value)
    if not callable(converter) or isinstance(value, (dtype, PyNativeObject)) or _is_left_alone(cls, converter):
        return value
    converted = converter(value)
    if isinstance(converted, DataType):
        return dtype._wrap(converted)
    return converted if isinstance(converted, CObject) else convert(converted)


def _is_left_alone(cls: type, converter: Callable[[Any], Any] | None) -> bool:
    ctypes = sys.modules.get("ctypes")
    if issubclass(cls, (complex, getattr(sys.modules.get("numbers"), "Number", complex))):
        return not is_time(cls)
    return issubclass(cls, getattr(ctypes, "c_void_p", ())) or converter in _ADDRESS_CONVERTERS
