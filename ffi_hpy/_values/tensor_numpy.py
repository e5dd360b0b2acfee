"""Tensors as arrays of NumPy, and arrays that NumPy does not export by DLPack as tensors.

NumPy exports neither the element types of the package ml_dtypes nor, in older releases, read-only arrays. Types of less
than a byte have a byte for each element in ml_dtypes, and are packed in a tensor: such arrays are copied.
"""

from __future__ import annotations

import sys

from .. import _core
from .plain import DataType, data_type_from_code
from .tensor_items import HOST_DEVICES, bytes_at, data_type_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "array_of",
    "capsule_of_array",
    "cuda_interface_of",
    "json_of",
    "tensor_of_json",
    "type_for_numpy",
    "typestr_of",
]

_ORDER = "<" if sys.byteorder == "little" else ">"
_KINDS = {"bool": "b", "int": "i", "uint": "u", "float": "f", "complex": "c"}


def typestr_of(data_type: DataType) -> str | None:
    """Return the element type as the array interface has it, such as "<f4"; None if it has no name there."""
    name = str(data_type)
    kind = _KINDS.get(name.rstrip("0123456789"))
    if kind is None or data_type.lanes != 1 or data_type.bits % 8:
        return None
    n_bytes = data_type.itemsize
    return f"{'|' if n_bytes == 1 else _ORDER}{kind}{n_bytes}"


def type_for_numpy(data_type: DataType) -> Any:
    """Return the numpy.dtype of an element type. TypeError if there is none."""
    import numpy

    typestr = typestr_of(data_type)
    return _type_of_ml_dtypes(data_type) if typestr is None else numpy.dtype(typestr)


class _Memory:
    """Memory that NumPy reads by the array interface. The object keeps the owner of the memory alive."""

    def __init__(self, owner: Any, interface: dict[str, Any]) -> None:
        self.owner = owner
        self.__array_interface__ = interface


def array_of(tensor: Any, dtype: Any, copy: bool | None) -> Any:
    """Return the numpy.ndarray of a tensor, as `__array__` does."""
    data_type = data_type_of(tensor)
    import numpy

    if tensor.__dlpack_device__()[0] not in HOST_DEVICES:
        raise TypeError(f"a tensor on {tensor.device} cannot become a NumPy array: copy it to the CPU first")
    is_packed = data_type.bits % 8 != 0
    if is_packed:
        if copy is False:
            raise ValueError(f"NumPy has a byte for each {data_type}, so a tensor of it must be copied")
        array = _unpacked(tensor, data_type)
    else:
        array = _shared(tensor, data_type)
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"a tensor of {data_type} must be copied to become an array of {numpy.dtype(dtype)}")
        return array.astype(dtype)
    return array.copy() if copy and not is_packed else array


def _shared(tensor: Any, data_type: DataType) -> Any:
    """Return the array on the tensor's memory."""
    import numpy

    typestr = typestr_of(data_type)
    shown = _typestr_of_bits(data_type) if typestr is None else typestr
    shape = tensor.shape
    own = tensor._view(shape, tensor.strides, 0)  # the memory lasts if the handle of `tensor` is moved away
    interface = {
        "version": 3,
        "shape": shape,
        "strides": tuple(stride * data_type.itemsize for stride in tensor.strides),
        "typestr": shown,
        "data": (own.data_ptr(), is_read_only(tensor)),
    }
    if 0 in shape:
        array = numpy.empty(shape, shown)  # without memory, which an empty tensor may lack
        array.flags.writeable = not is_read_only(tensor)
    else:
        array = numpy.asarray(_Memory(own, interface))
    return array if typestr is not None else array.view(_type_of_ml_dtypes(data_type))


def _typestr_of_bits(data_type: DataType) -> str:
    _type_of_ml_dtypes(data_type)  # it refuses types that NumPy has none for
    return f"{_ORDER}u{data_type.itemsize}" if data_type.itemsize > 1 else "|u1"


def _type_of_ml_dtypes(data_type: DataType) -> Any:
    """Return the numpy.dtype of an element type that ml_dtypes defines. TypeError if there is none."""
    import numpy

    try:
        import ml_dtypes  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        ml_dtypes = None
    scalar = getattr(ml_dtypes, str(data_type), None)
    if scalar is None:
        hint = "" if ml_dtypes is not None else "; the package ml_dtypes, which has more types, is not installed"
        raise TypeError(f"NumPy has no type for the elements of a tensor of {data_type}{hint}")
    return numpy.dtype(scalar)


def is_read_only(tensor: Any) -> bool:
    """Whether the maker of a tensor declared its memory read-only."""
    try:
        tensor._to_dlpack()
    except BufferError:  # the older form of a capsule has no flag for it
        return True
    return False


# --- elements of less than a byte -------------------------------------------------------------------------------------


def _unpacked(tensor: Any, data_type: DataType) -> Any:
    """Return a copy with a byte for each element."""
    import numpy

    as_type = _type_of_ml_dtypes(data_type)
    n, bits = tensor.numel(), data_type.bits
    if not tensor.is_contiguous():
        raise TypeError("elements of less than a byte are read only if they are contiguous")
    packed = numpy.frombuffer(bytes_at(tensor, (n * bits + 7) // 8), numpy.uint8)
    rows = numpy.unpackbits(packed, count=n * bits, bitorder="little").reshape(n, bits)
    codes = numpy.packbits(rows, axis=1, bitorder="little").reshape(tensor.shape)
    return codes.view(as_type)


def _packed(array: Any, bits: int) -> Any:
    """Return the bytes of the packed elements."""
    import numpy

    codes = numpy.ascontiguousarray(array).view(numpy.uint8).reshape(-1, 1)
    rows = numpy.unpackbits(codes, axis=1, bitorder="little")[:, :bits]
    return numpy.packbits(rows.reshape(-1), bitorder="little")


# --- arrays that NumPy does not export --------------------------------------------------------------------------------


def capsule_of_array(array: Any) -> Any:
    """Return a DLPack capsule of an array that NumPy itself refuses to export; None if it is not an array of NumPy, or
    has no counterpart."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not isinstance(array, numpy.ndarray):
        return None
    dtype: Any = array.dtype
    is_numpys = isinstance(dtype, getattr(numpy, "dtype", ()))
    if not is_numpys:  # a stand-in for NumPy
        return None
    is_ours = dtype.type.__module__.partition(".")[0] == "ml_dtypes"
    if not is_ours and (array.flags.writeable or dtype.kind not in "biufc" or not dtype.isnative):
        return None
    try:
        data_type = DataType(dtype.name)
    except ValueError:
        return None
    owner, is_read_only = array, not array.flags.writeable
    shape, size = array.shape, dtype.itemsize
    if data_type.bits % 8:
        owner, strides = _packed(array, data_type.bits), _compact(shape)
    elif any(stride % size for stride in array.strides):
        return None
    else:
        strides = tuple(stride // size for stride in array.strides)
    address = owner.__array_interface__["data"][0]
    triple = (data_type.type_code, data_type.bits, data_type.lanes)
    return _core.memory_capsule(owner, address, shape, strides, triple, (_core.DEVICE_TYPE_CPU, 0), is_read_only)


def _compact(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    stride = 1
    for extent in reversed(shape):
        strides.insert(0, stride)
        stride *= max(extent, 1)
    return tuple(strides)


# --- copies -----------------------------------------------------------------------------------------------------------


def copy_of(tensor: Any) -> Any:
    """Return a Tensor with a compact copy of the elements in host memory. BufferError if the host cannot read them."""
    version = (_core.DLPACK_MAJOR_VERSION, _core.DLPACK_MINOR_VERSION)
    return _core.from_dlpack(tensor.__dlpack__(copy=True, dl_device=(_core.DEVICE_TYPE_CPU, 0), max_version=version))


def state_of(tensor: Any) -> tuple[bytes, tuple[int, ...], tuple[int, int, int]]:
    """Return the elements, the shape and the element type, for tensor_of_state()."""
    data_type = data_type_of(tensor)
    compact = tensor if tensor.is_contiguous() and tensor.__dlpack_device__()[0] in HOST_DEVICES else copy_of(tensor)
    n_bytes = (compact.numel() * data_type.bits * data_type.lanes + 7) // 8
    return bytes_at(compact, n_bytes), tensor.shape, (data_type.type_code, data_type.bits, data_type.lanes)


_ALIGNMENT = 64


def tensor_of_state(data: bytes, shape: tuple[int, ...], dtype: tuple[int, int, int]) -> Any:
    """Return a new Tensor on the CPU. ValueError if the number of bytes does not fit the shape."""
    import ctypes

    data_type = data_type_from_code(*dtype)
    n = 1
    for extent in shape:
        n *= extent
    n_bytes = (n * data_type.bits * data_type.lanes + 7) // 8
    if n_bytes != len(data) or min(shape, default=0) < 0:
        raise ValueError(f"expected {n_bytes} bytes for a tensor of {data_type}{list(shape)}, got {len(data)}")
    memory = (ctypes.c_char * (n_bytes + _ALIGNMENT))()
    address = -(-ctypes.addressof(memory) // _ALIGNMENT) * _ALIGNMENT
    ctypes.memmove(address, data, n_bytes)
    device = (_core.DEVICE_TYPE_CPU, 0)
    return _core.from_dlpack(_core.memory_capsule(memory, address, shape, _compact(shape), dtype, device, False))


def json_of(tensor: Any) -> dict[str, Any]:
    """Return the data of a Tensor in a JSON graph. BufferError if the host cannot read its elements."""
    from base64 import b64encode

    if not isinstance(tensor, _core.Tensor):  # an array in place of the Tensor that it shares its memory with
        tensor = _core.from_dlpack(tensor)
    data, shape, _ = state_of(tensor)
    return {"dtype": str(data_type_of(tensor)), "shape": list(shape), "data": b64encode(data).decode()}


def tensor_of_json(data: Any) -> Any:
    """Return the Tensor on the CPU for its data in a JSON graph. ValueError or TypeError for wrong data."""
    from base64 import b64decode

    try:
        name, shape, text = data["dtype"], tuple(data["shape"]), data["data"]
    except (KeyError, TypeError, IndexError):
        raise ValueError("expected dtype, shape and data of a tensor") from None
    dtype = DataType(name)
    return tensor_of_state(b64decode(text, validate=True), shape, (dtype.type_code, dtype.bits, dtype.lanes))


# --- CUDA -------------------------------------------------------------------------------------------------------------

_CUDA_DEVICES = (_core.DEVICE_TYPE_CUDA, _core.DEVICE_TYPE_CUDA_MANAGED, _core.DEVICE_TYPE_ROCM)
_DEFAULT_STREAM = 1  # the interface's number of CUDA's default stream, because 0 would be ambiguous


def cuda_interface_of(tensor: Any) -> dict[str, Any]:
    """Return `__cuda_array_interface__`. AttributeError for memory that is not on a GPU, and for element types that the
    interface cannot name."""
    device, data_type = tensor.__dlpack_device__(), data_type_of(tensor)
    typestr = typestr_of(data_type)
    if device[0] not in _CUDA_DEVICES:
        raise AttributeError(f"a tensor on {tensor.device} has no __cuda_array_interface__: its memory is not on a GPU")
    if typestr is None:
        raise AttributeError(f"__cuda_array_interface__ has no name for {data_type}: use DLPack")
    strides = tuple(stride * data_type.itemsize for stride in tensor.strides)
    return {
        "version": 3,
        "shape": tensor.shape,
        "strides": None if tensor.is_contiguous() else strides,
        "typestr": typestr,
        "data": (0 if 0 in tensor.shape else tensor.data_ptr(), is_read_only(tensor)),
        "stream": _core.stream_get(*device) or _DEFAULT_STREAM,
    }
