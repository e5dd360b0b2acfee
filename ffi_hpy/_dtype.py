"""dtype: the element type of tensors, a str with a DLPack form."""

from __future__ import annotations

import sys

from ._core import (
    TYPE_CODE_BFLOAT,
    TYPE_CODE_BOOL,
    TYPE_CODE_FLOAT,
    TYPE_CODE_FLOAT4_LAST,
    TYPE_CODE_FLOAT8_FIRST,
    TYPE_CODE_HANDLE,
    TYPE_CODE_INT,
    TYPE_CODE_UINT,
)
from ._start.fork import importing, new_lock
from ._start.late import DTYPE_NAMES, find_attributes
from ._start.named import module_of
from ._start.similar import did_you_mean
from ._values.plain import DataType, data_type_from_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

__all__ = ["DataType", "dtype"]

if not TYPE_CHECKING:  # names that tvm_ffi has here
    __getattr__ = find_attributes(__name__)


class _MadeOnFirstUse:
    """A class attribute that is a table of _values.dtype_tables: the object of that name, or the result of calling it.
    The attribute is created on first use and stays the same object."""

    def __init__(self, table: str) -> None:
        self._table = table

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        with importing:
            from ._values import dtype_tables
        found = getattr(dtype_tables, self._table)
        made = found() if callable(found) else found
        with _making:
            if self._owner.__dict__[self._name] is self:
                setattr(self._owner, self._name, made)
            return self._owner.__dict__[self._name]


_making = new_lock()


class dtype(str):
    """An element type, such as ``dtype("float32")`` or ``dtype("int8x4")``, which has four lanes. Immutable.

    A dtype is a str with the type's canonical name, so it compares and hashes as that name and can be passed to array
    libraries. `str()` returns the original name, which may be an alias.

    Args:
        content: a name, a numpy.dtype, a numpy scalar class, a torch.dtype or another dtype.

    Raises:
        ValueError: if `content` does not name a data type.

    Examples:
        >>> ffi_hpy.dtype("f32") == "float32"
        True
        >>> ffi_hpy.dtype("int8x4").itemsize
        4
    """

    __slots__ = ("_text", "_tvm_ffi_dtype")

    _text: str
    _tvm_ffi_dtype: DataType
    _NUMPY_DTYPE_TO_STR: ClassVar[dict[Any, str]] = _MadeOnFirstUse("names_of_numpy_types")  # type: ignore[assignment]
    _INTEGER_CODES: ClassVar[set[int]] = _MadeOnFirstUse("INTEGER_CODES")  # type: ignore[assignment]
    _FLOAT_CODES: ClassVar[set[int]] = _MadeOnFirstUse("FLOAT_CODES")  # type: ignore[assignment]

    def __new__(cls, content: Any) -> dtype:
        if isinstance(content, dtype):
            return content
        try:
            if not isinstance(content, str):
                return cls._wrap(from_foreign_dtype(content))
            self = cls._wrap(DataType(content))
        except ValueError as error:
            error.args = (f"{error}{_meant(content)}",)
            raise
        self._text = str(content)
        return self

    @classmethod
    def _of(cls, word: int) -> dtype:
        """The dtype of a data type from native code, as the number of a DataType."""
        return cls._wrap(DataType._of(word))

    @classmethod
    def _wrap(cls, data_type: DataType) -> dtype:
        """The dtype of a DataType."""
        text = str(data_type)
        self = str.__new__(cls, text)
        self._text = text
        self._tvm_ffi_dtype = data_type
        return self

    @staticmethod
    def from_dlpack_data_type(dltype_data_type: tuple[int, int, int]) -> dtype:
        """Make the dtype of a DLPack triple.

        Args:
            dltype_data_type: type code, bits per lane, lanes.

        Raises:
            ValueError: for an unknown type code.

        Examples:
            >>> ffi_hpy.dtype.from_dlpack_data_type((2, 32, 1))
            dtype('float32')
        """
        type_code, bits, lanes = dltype_data_type
        return dtype._wrap(data_type_from_code(type_code, bits, lanes))

    @staticmethod
    def is_dtype(arg: object) -> bool:
        """Tell whether native code that takes a data type accepts a value.

        Args:
            arg: any object. Accepted are a dtype, a data type of NumPy or PyTorch, and the name of a data type.
        """
        if isinstance(arg, (dtype, DataType)):
            return True
        try:
            if isinstance(arg, str):
                DataType(arg)
            elif is_foreign_dtype(type(arg)):
                from_foreign_dtype(arg)
            else:
                return False
        except ValueError:
            return False
        return True

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"dtype({self._text!r})"

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return dtype, (self._text,)

    def with_lanes(self, lanes: int) -> dtype:
        """Return this element type with another number of lanes (vector elements).

        Args:
            lanes: the number of lanes, up to 32767; negative for scalable vectors.

        Raises:
            ValueError: for a number outside that range.
        """
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
        return self.type_code == TYPE_CODE_BOOL

    @property
    def is_integer(self) -> bool:
        """Whether the lanes are signed or unsigned integers; bool does not count."""
        return self.type_code in (TYPE_CODE_INT, TYPE_CODE_UINT)

    @property
    def is_float(self) -> bool:
        """Whether the lanes are floating point numbers of any format."""
        code = self.type_code
        return code in (TYPE_CODE_FLOAT, TYPE_CODE_BFLOAT) or TYPE_CODE_FLOAT8_FIRST <= code <= TYPE_CODE_FLOAT4_LAST

    @property
    def is_handle(self) -> bool:
        """Whether the lanes are pointers."""
        return self.type_code == TYPE_CODE_HANDLE


def _meant(content: Any) -> str:
    """Return the end of a message about a value that does not name a data type."""
    if _is_padded(_in_numpy(content)):
        return ""
    of_python = {bool: "bool", int: "int64", float: "float64"}.get(content) if isinstance(content, type) else None
    if of_python is not None:
        return f". Did you mean {of_python!r}?"
    if not isinstance(content, str):
        return ": expected a name, or a data type of NumPy or PyTorch"
    return did_you_mean(content, DTYPE_NAMES.split())


def is_foreign_dtype(cls: type) -> bool:
    """Whether instances of `cls` are data types of numpy or torch. Imports neither."""
    if module_of(cls) == "torch" and cls.__name__ == "dtype":
        return True
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(cls, getattr(numpy, "dtype", ()))


_known: dict[object, DataType] = {}  # results for data types of other libraries


def from_foreign_dtype(value: Any) -> DataType:
    """The DataType of a numpy.dtype, numpy scalar class or torch.dtype; ValueError if it has no counterpart."""
    known = _known.get(value)
    if known is None:
        known = DataType(_name_of(value))
        if len(_known) < _MOST_KNOWN:  # numpy has unlimited types: datetime64[3s], structures
            _known[value] = known
    return known


_MOST_KNOWN = 256


def _in_numpy(content: Any) -> Any:
    """Return the numpy.dtype for a numpy.dtype or a numpy scalar class, None for anything else."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    is_scalar = isinstance(content, type) and issubclass(content, numpy.generic)  # such as numpy.float32
    return numpy.dtype(content) if is_scalar else content if isinstance(content, numpy.dtype) else None


def _is_padded(data_type: Any) -> bool:
    """Whether a numpy.dtype is C's long double, or a complex type of it, with padding. With 64 or 128 bits DLPack has
    types for it. NumPy names the type by its size in memory; on x86 only 80 bits of that are used."""
    if getattr(data_type, "char", "") not in ("g", "G") or data_type.name in ("float64", "complex128"):
        return False
    numpy: Any = sys.modules["numpy"]
    if not issubclass(data_type.type, numpy.inexact):  # ml_dtypes uses these letters, too
        return False
    n_bits_of_fraction: int = numpy.finfo(data_type.type).nmant
    return n_bits_of_fraction != 112


def _name_of(content: Any) -> str:
    data_type = _in_numpy(content)
    if data_type is None:
        text = str(content)
        return text[len("torch.") :] if text.startswith("torch.") else text
    if _is_padded(data_type):
        raise ValueError(
            f"DLPack has no data type for numpy.{data_type.type.__name__}: on this machine its numbers have 80 bits "
            "and padding, or a format of their own"
        )
    return str(data_type)


# Functions that code written for tvm_ffi.core calls.


def _create_cdtype_from_tuple(cls: type[DataType], code: int, bits: int, lanes: int) -> DataType:
    """A DataType of DLPack type code, bits per lane and lanes. TypeError for a class other than DataType."""
    if cls is not DataType:
        raise TypeError(f"expected the class DataType, got {cls!r}")
    return data_type_from_code(code, bits, lanes)


def _convert_torch_dtype_to_ffi_dtype(torch_dtype: Any) -> dtype:
    """The dtype of a torch.dtype; ValueError if it has no counterpart."""
    return dtype._wrap(from_foreign_dtype(torch_dtype))


def _convert_numpy_dtype_to_ffi_dtype(numpy_dtype: Any) -> dtype:
    """The dtype of a numpy.dtype; ValueError if it has no counterpart."""
    return dtype._wrap(from_foreign_dtype(numpy_dtype))
