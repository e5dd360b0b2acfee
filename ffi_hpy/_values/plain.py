"""Values of one word: DataType, OpaquePtr, and the constructor's checks. Device, the third class, has its own file."""

from __future__ import annotations

from operator import index as _as_int

from .._core import PlainValue, data_type_name, data_type_parse
from .._start.fork import importing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, SupportsIndex

__all__ = ["DataType", "OpaquePtr", "checked_int", "data_type_from_code", "wrap_opaque_ptr"]


def checked_int(value: SupportsIndex, what: str, low: int, high: int) -> int:
    """Return a number. ValueError unless it is from `low` to `high`, TypeError if it is not an integer."""
    number = _as_int(value)
    if not low <= number <= high:
        raise ValueError(f"{what} must be from {low} to {high}, got {number}")
    return number


class DataType(PlainValue):
    """An element type: DLPack type code, bits per lane, lanes. Compares and hashes by value.

    Args:
        dtype_str: the name of the type.

    Raises:
        ValueError: if the str does not name a data type.
    """

    __slots__ = ()

    def __new__(cls, dtype_str: str) -> DataType:
        self: DataType = super().__new__(cls)
        self._word = data_type_parse(dtype_str)
        return self

    @classmethod
    def _of(cls, word: int) -> DataType:
        """Return the DataType of a number: the type code, from bit 8 on the bits, from bit 16 on the lanes."""
        self: DataType = PlainValue.__new__(cls)
        self._word = word
        return self

    @property
    def type_code(self) -> int:
        """DLPack type code."""
        return self._word & 0xFF

    @property
    def bits(self) -> int:
        """Bits per lane."""
        return self._word >> 8 & 0xFF

    @property
    def lanes(self) -> int:
        """Lanes; negative for scalable vectors."""
        lanes = self._word >> 16
        return lanes - 0x10000 if lanes & 0x8000 else lanes

    @property
    def itemsize(self) -> int:
        """Bytes per element, rounded up."""
        lanes = self.lanes
        if lanes < 0:
            raise ValueError("a scalable vector has no size known in advance")
        return (self.bits * lanes + 7) // 8

    def __str__(self) -> str:
        return data_type_name(self._word)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self),)

    def __eq__(self, other: object) -> bool:
        return self._word == other._word if isinstance(other, DataType) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._word)


def data_type_from_code(type_code: SupportsIndex, bits: SupportsIndex, lanes: SupportsIndex) -> DataType:
    """Return the DataType of a DLPack type code, bits per lane and lanes, which are negative for scalable vectors."""
    word = checked_int(type_code, "type code", 0, 0xFF) | checked_int(bits, "bits", 0, 0xFF) << 8
    return DataType._of(word | (checked_int(lanes, "lanes", -0x8000, 0x7FFF) & 0xFFFF) << 16)


class OpaquePtr(PlainValue):
    """A pointer passed as `void*`.

    Args:
        address: the pointer.

    Raises:
        OverflowError: if the number is not a pointer.
    """

    __slots__ = ()

    def __new__(cls, address: SupportsIndex) -> OpaquePtr:
        number = _as_int(address)
        if not -(1 << 63) <= number < 1 << 64:
            raise OverflowError(f"{number} is not an address")
        self: OpaquePtr = super().__new__(cls)
        self._word = number - (1 << 64) if number >= 1 << 63 else number
        return self

    def __init_subclass__(cls, **_options: Any) -> NoReturn:
        raise TypeError("type 'OpaquePtr' is not an acceptable base type")

    @property
    def value(self) -> int:
        """The pointer."""
        return self._word % (1 << 64)


def wrap_opaque_ptr(address: int) -> Any:
    """Return a pointer from native code as ctypes.c_void_p."""
    global _c_void_p
    if _c_void_p is None:
        with importing:
            from ctypes import c_void_p
        _c_void_p = c_void_p
    return _c_void_p(address)


_c_void_p: Callable[[int], Any] | None = None  # every thread writes the same class
