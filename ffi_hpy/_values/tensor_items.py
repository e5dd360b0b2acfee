"""Items of tensors: `tensor[key]`, and the Python numbers in host memory."""

from __future__ import annotations

from operator import index as _as_int

from .. import _core
from .plain import DataType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = [
    "HOST_DEVICES",
    "bytes_at",
    "contains",
    "data_type_of",
    "integer_of",
    "item_of",
    "iterate",
    "length_of",
    "number_of",
    "view_of",
]

HOST_DEVICES = (_core.DEVICE_TYPE_CPU, _core.DEVICE_TYPE_CUDA_HOST, _core.DEVICE_TYPE_ROCM_HOST)
"""The types of devices whose memory the CPU reads."""

_FORMATS = {
    "bool": "?",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float16": "e",
    "float32": "f",
    "float64": "d",
    "complex64": "ff",
    "complex128": "dd",
    "bfloat16": "H",
}
"""Formats of the struct module, by element type; a complex number is read as two floats, a bfloat16 as its bits."""


def data_type_of(tensor: Any) -> DataType:
    """Return the element type of a tensor, whatever class a program has set for data types."""
    data_type: DataType = tensor.dtype._tvm_ffi_dtype
    return data_type


def length_of(tensor: Any) -> int:
    """Return the extent of the first axis. TypeError for a tensor without axes."""
    shape: tuple[int, ...] = tensor.shape
    if not shape:
        raise TypeError("len() of a tensor without axes")
    return shape[0]


def iterate(tensor: Any) -> Iterator[Any]:
    """Return an iterator over the first axis. TypeError for a tensor without axes."""
    if not tensor.shape:
        raise TypeError("iteration over a tensor without axes")
    return (tensor[i] for i in range(tensor.shape[0]))


def contains(tensor: Any, value: object) -> bool:
    """Return whether an element equals a value. TypeError for a tensor without axes, and for elements that are not
    numbers in Python."""
    if not tensor.shape:
        raise TypeError("`in` for a tensor without axes")
    if tensor.__dlpack_device__()[0] not in HOST_DEVICES:
        raise TypeError(f"the elements of a tensor on {tensor.device} cannot be compared: copy it to the CPU first")
    data_type = data_type_of(tensor)
    if not _is_small_integer(data_type) and str(data_type) not in _FORMATS:
        raise TypeError(f"elements of type {data_type} are not numbers in Python: use numpy.asarray(tensor)")
    return any(element == value for element in _elements(tensor, tensor.shape, ()))


def _elements(tensor: Any, shape: tuple[int, ...], key: tuple[int, ...]) -> Iterator[Any]:
    """Yield the elements below the first indices that are in the key."""
    if len(key) == len(shape):
        yield item_of(tensor, key)
        return
    for i in range(shape[len(key)]):
        yield from _elements(tensor, shape, (*key, i))


def item_of(tensor: Any, key: Any) -> Any:
    """Return `tensor[key]`: a Tensor on the same memory, or a number if the key selects one element that is in host
    memory and that Python has a class for."""
    shape, strides, n_bits = _part_of(tensor, key)
    data_type = data_type_of(tensor)
    if shape or ... in (key if type(key) is tuple else (key,)) or tensor.__dlpack_device__()[0] not in HOST_DEVICES:
        return _view(tensor, shape, strides, n_bits)
    if _is_small_integer(data_type):
        return _small_integer_at(tensor, n_bits, data_type)
    view = _view(tensor, shape, strides, n_bits)
    fmt = _FORMATS.get(str(data_type))
    return view if fmt is None else _number_at(view, fmt)


def number_of(tensor: Any) -> Any:
    """Return the number of a tensor without axes. TypeError for another tensor."""
    number = item_of(tensor, ()) if not tensor.shape else tensor
    if number is tensor or isinstance(number, _core.Tensor):
        raise TypeError(
            f"expected a tensor without axes, in host memory, of a type with numbers in Python; got {tensor!r}"
        )
    return number


def integer_of(tensor: Any) -> int:
    """Return the integer of a tensor without axes. TypeError for another tensor."""
    number = number_of(tensor)
    if type(number) is not int:
        raise TypeError(f"expected a tensor of an integer type, got {tensor!r}")
    return number


def view_of(tensor: Any, key: Any) -> Any:
    """Return the Tensor for a key, which is an int, a slice, `...`, None for a new axis, or a tuple of these."""
    return _view(tensor, *_part_of(tensor, key))


def _part_of(tensor: Any, key: Any) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Return shape, strides and the number of bits before the first element of the part that a key selects."""
    shape, strides = tensor.shape, tensor.strides
    keys = _expanded(key if type(key) is tuple else (key,), len(shape))
    new_shape, new_strides, n_before, axis = [], [], 0, 0
    for each in keys:
        if each is None:
            new_shape.append(1)
            new_strides.append(0)
            continue
        extent, stride = shape[axis], strides[axis]
        if type(each) is slice:
            chosen = range(*each.indices(extent))
            n_before += chosen.start * stride if chosen else 0
            new_shape.append(len(chosen))
            new_strides.append(stride * chosen.step if len(chosen) > 1 else stride)  # a step may exceed 64 bits
        else:
            n_before += _position(each, extent, axis) * stride
        axis += 1
    return tuple(new_shape), tuple(new_strides), n_before * data_type_of(tensor).bits * data_type_of(tensor).lanes


def _view(tensor: Any, shape: tuple[int, ...], strides: tuple[int, ...], n_bits: int) -> Any:
    if n_bits % 8 or data_type_of(tensor).lanes < 0:
        raise IndexError("elements of less than a byte are not at addresses of their own: use numpy.asarray(tensor)")
    return tensor._view(shape, strides, n_bits // 8)


def _expanded(keys: tuple[Any, ...], n_axes: int) -> list[Any]:
    """Return the keys with one for each axis, and None for each new axis."""
    n_given = sum(each is not None and each is not ... for each in keys)
    if n_given > n_axes:
        raise IndexError(f"expected at most {n_axes} indices for a tensor of {n_axes} axes, got {n_given}")
    rest = [slice(None)] * (n_axes - n_given)
    found: list[Any] = []
    for i, each in enumerate(keys):
        if each is not ...:
            found.append(each)
        elif any(other is ... for other in keys[:i]):
            raise IndexError("expected at most one `...` in the index of a tensor")
        else:
            found += rest
    return found if any(each is ... for each in keys) else found + rest


def _position(key: Any, extent: int, axis: int) -> int:
    """Return the position on an axis that an index means. IndexError if there is none."""
    if isinstance(key, bool) or not hasattr(key, "__index__"):
        raise _refused(key)
    try:
        position = _as_int(key)
    except TypeError as error:  # of a class, such as an array, some of whose objects stand for an int
        raise _refused(key) from error
    if not -extent <= position < extent:
        raise IndexError(f"index {position} is out of range for axis {axis} with {extent} elements")
    return position if position >= 0 else position + extent


def _refused(key: Any) -> TypeError:
    return TypeError(
        f"expected ints, slices, `...` or None as index of a tensor, got {type(key).__name__}: "
        "use numpy.asarray(tensor) for others"
    )


def bytes_at(tensor: Any, n_bytes: int, first: int = 0) -> bytes:
    """Return bytes from the first element on, or from byte `first` of the elements."""
    if n_bytes == 0:
        return b""
    from ctypes import string_at

    return string_at(tensor.data_ptr() + first, n_bytes)


def _is_small_integer(data_type: DataType) -> bool:
    """Whether a data type is an integer of less than a byte."""
    is_integer = data_type.type_code in (_core.TYPE_CODE_INT, _core.TYPE_CODE_UINT)
    return is_integer and data_type.bits < 8 and data_type.lanes == 1


def _small_integer_at(tensor: Any, n_bits: int, data_type: DataType) -> int:
    """Return the integer of less than a byte that follows n_bits bits. The lowest bits of a byte are the first ones."""
    bits = data_type.bits
    n_bytes = (n_bits % 8 + bits + 7) // 8
    code = int.from_bytes(bytes_at(tensor, n_bytes, n_bits // 8), "little") >> n_bits % 8 & (1 << bits) - 1
    is_negative = data_type.type_code == _core.TYPE_CODE_INT and code >> (bits - 1)
    return code - (1 << bits) if is_negative else code


def _number_at(tensor: Any, fmt: str) -> Any:
    """Return the first element as a Python number."""
    import struct

    numbers = struct.unpack(f"={fmt}", bytes_at(tensor, struct.calcsize(f"={fmt}")))
    if len(numbers) == 2:
        return complex(*numbers)
    if str(data_type_of(tensor)) == "bfloat16":  # the upper half of a float32
        return struct.unpack("=f", struct.pack("=I", numbers[0] << 16))[0]
    return numbers[0]
