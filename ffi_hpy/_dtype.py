"""dtype: the element type of tensors, a str that knows its DLPack form."""

from __future__ import annotations

import sys

from ._core import DataType, data_type_from_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DataType", "dtype"]

# DLPack type codes.
_INT, _UINT, _FLOAT, _HANDLE, _BFLOAT, _COMPLEX, _BOOL = range(7)
_FIRST_SMALL_FLOAT, _LAST_SMALL_FLOAT = 7, 17  # float8_*, float6_*, float4_*


class dtype(str):
    """An element type, such as ``dtype("float32")`` or ``dtype("int8x4")``.

    It is a str with the type's canonical name, so it compares equal to that name and can be given to array libraries.
    Also made from a numpy.dtype, a numpy scalar class, a torch.dtype or another dtype. ValueError if the argument
    names no data type. Immutable.
    """

    __slots__ = ("_tvm_ffi_dtype",)

    _tvm_ffi_dtype: DataType

    def __new__(cls, content: Any) -> dtype:
        if isinstance(content, dtype):
            return content
        return cls._wrap(DataType(_name_of(content)))

    @classmethod
    def _wrap(cls, data_type: DataType) -> dtype:
        """The dtype of a value that came from native code."""
        self = str.__new__(cls, str(data_type))
        self._tvm_ffi_dtype = data_type
        return self

    @staticmethod
    def from_dlpack_data_type(dltype_data_type: tuple[int, int, int]) -> dtype:
        """The dtype of a DLPack triple: type code, bits per lane, lanes."""
        type_code, bits, lanes = dltype_data_type
        return dtype._wrap(data_type_from_code(type_code, bits, lanes))

    @staticmethod
    def is_dtype(obj: object) -> bool:
        """Whether native code that wants a data type takes `obj`: a dtype, or one of numpy or torch."""
        return isinstance(obj, (dtype, DataType)) or is_foreign_dtype(type(obj))

    def __repr__(self) -> str:
        return f"dtype({str(self)!r})"

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return dtype, (str(self),)

    def with_lanes(self, lanes: int) -> dtype:
        """The same element type with another number of lanes (vector elements)."""
        return dtype._wrap(data_type_from_code(self.type_code, self.bits, lanes))

    @property
    def type_code(self) -> int:
        """DLPack type code (DLDataTypeCode) of one lane."""
        return self._tvm_ffi_dtype.type_code

    @property
    def bits(self) -> int:
        """Bits of one lane."""
        return self._tvm_ffi_dtype.bits

    @property
    def lanes(self) -> int:
        """Number of lanes, 1 for scalars."""
        return self._tvm_ffi_dtype.lanes

    @property
    def itemsize(self) -> int:
        """Bytes of one element with all its lanes, rounded up."""
        return self._tvm_ffi_dtype.itemsize

    @property
    def is_bool(self) -> bool:
        """Whether the lanes are truth values."""
        return self.type_code == _BOOL

    @property
    def is_integer(self) -> bool:
        """Whether the lanes are signed or unsigned integers; bool does not count."""
        return self.type_code in (_INT, _UINT)

    @property
    def is_float(self) -> bool:
        """Whether the lanes are floating point numbers of any format."""
        code = self.type_code
        return code in (_FLOAT, _BFLOAT) or _FIRST_SMALL_FLOAT <= code <= _LAST_SMALL_FLOAT

    @property
    def is_handle(self) -> bool:
        """Whether the lanes are addresses."""
        return self.type_code == _HANDLE


def is_foreign_dtype(cls: type) -> bool:
    """Whether instances of `cls` are data types of numpy or torch. Imports neither."""
    if cls.__module__ == "torch" and cls.__name__ == "dtype":
        return True
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(cls, getattr(numpy, "dtype", ()))


def from_foreign_dtype(value: object) -> DataType:
    """The DataType of a numpy.dtype or torch.dtype; ValueError if it has no counterpart."""
    return DataType(_name_of(value))


def _name_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, type):  # numpy.float32 and its like
        numpy = sys.modules.get("numpy")
        if numpy is not None and issubclass(content, numpy.generic):
            return str(numpy.dtype(content))
    text = str(content)
    return text[len("torch.") :] if text.startswith("torch.") else text
