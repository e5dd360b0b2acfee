"""Classes of plain values: data types, devices and pointers. Each stores its value as one signed word of an Any, under
a different attribute name, so that an instance of one class is never taken for one of another."""

from __future__ import annotations

from operator import index as as_int

from ..context import hooks
from ..context.backend import address_of, bytes_at, core, new_chars, new_words, words_at
from ..context.hidden import hidden
from ..context.numbers import SMALL_STR
from ..context.texts import bind, check_new, final, messages, raise_unmade
from ..object.errors import raise_pending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DataType", "Device", "OpaquePtr", "data_type_of", "device_of", "lower_data_type"]


def _number(value: Any, what: str, low: int, high: int) -> int:
    number = as_int(value)
    if not low <= number <= high:
        raise ValueError(f"{what} must be from {low} to {high}, got {number}")
    return number


@final
class OpaquePtr:
    """A pointer passed as `void*`."""

    __slots__ = ("_at",)

    _at: int

    def __new__(cls, *args: Any) -> Any:
        check_new(cls, OpaquePtr, "OpaquePtr")
        if len(args) != 1:
            raise TypeError(f"OpaquePtr() takes one argument, got {len(args)}")
        address = as_int(args[0])
        if not -(1 << 63) <= address < 1 << 64:
            raise OverflowError(f"{address} is not an address")
        self = object.__new__(cls)
        self._at = address - (1 << 64) if address >= 1 << 63 else address
        return self

    @property
    def value(self) -> int:
        """The address."""
        try:
            at: int = self._at
        except AttributeError:
            raise_unmade(self)
        return at % (1 << 64)


class DataType:
    """An element type: DLPack type code, bits per lane, lanes."""

    __slots__ = ("_word",)

    _word: int  # type code, bits, and from bit 16 on the lanes

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        check_new(cls, DataType, "DataType")
        (dtype_str,) = bind("DataType", ("dtype_str",), 1, args, kwargs)
        if not isinstance(dtype_str, str):
            raise TypeError(messages.NOT_A_STR % ("DataType() argument", type(dtype_str).__name__))
        text = new_chars(str.encode(dtype_str))
        words = new_words(3)
        words[0], words[1] = address_of(text), len(text) - 1
        if core.data_type_from_text(words, words + 2) != 0:
            raise_pending("DataType")
        return _data_type(cls, words[2] & 0xFFFFFFFF)

    @property
    def type_code(self) -> int:
        """DLPack type code."""
        return _word_of(self) & 0xFF

    @property
    def bits(self) -> int:
        """Bits per lane."""
        return _word_of(self) >> 8 & 0xFF

    @property
    def lanes(self) -> int:
        """Lanes; negative for scalable vectors."""
        lanes = _word_of(self) >> 16
        return lanes - 0x10000 if lanes & 0x8000 else lanes

    @property
    def itemsize(self) -> int:
        """Bytes per element, rounded up."""
        lanes = self.lanes
        if lanes < 0:
            raise ValueError("a scalable vector has no size known in advance")
        return (self.bits * lanes + 7) // 8

    def __str__(self) -> str:
        words = new_words(3)
        words[0] = _word_of(self)
        if core.data_type_to_text(words, words + 1) != 0:
            raise_pending("DataType.__str__")
        if words[1] & 0xFFFFFFFF == SMALL_STR:
            return bytes_at(words + 2, words[1] >> 32).decode()
        text = words_at(words[2]) + 3
        name = bytes_at(text[0], text[1]).decode()
        core.decref(words[2])
        return name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self),)

    def __eq__(self, other: object) -> bool:
        return _word_of(self) == _word_of(other) if isinstance(other, DataType) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return _word_of(self) != _word_of(other) if isinstance(other, DataType) else NotImplemented

    def __hash__(self) -> int:
        word = _word_of(self)
        return (word & 0xFF) << 24 | (word >> 8 & 0xFF) << 16 | word >> 16


def _word_of(value: Any) -> int:
    try:
        word: int = value._word
    except AttributeError:
        raise_unmade(value)
    return word


def _data_type(cls: Any, word: int) -> Any:
    self = object.__new__(cls)
    self._word = word
    return self


def lower_data_type(theirs: Any) -> DataType:
    """Convert a DataType of the binding to the DataType of this side."""
    word = theirs.type_code | theirs.bits << 8 | (theirs.lanes & 0xFFFF) << 16
    made: DataType = _data_type(DataType, word)
    return made


_wrapped: dict[int, tuple[Any, Any]] = {}  # by word: the hook, and its result


@hidden
def data_type_of(word: int) -> Any:
    """Return the package's value for a native data type. There are few, so they are cached."""
    known = _wrapped.get(word)
    if known is not None and known[0] is hooks.wrap_dtype:
        return known[1]
    hook = hooks.wrap_dtype
    value = hook(_data_type(DataType, word & 0xFFFFFFFF))
    _wrapped[word] = hook, value
    return value


class Device:
    """DLPack device type and index."""

    __slots__ = ("_pair",)

    _pair: int  # the device type, and from bit 32 on the index

    def __new__(cls, /, *_args: Any, **_kwargs: Any) -> Any:
        check_new(cls, Device, "Device")
        self = object.__new__(cls)
        self._pair = 1  # the first CPU, even if a subclass does not call __init__
        return self

    def __init__(self, *args: Any) -> None:
        if not 1 <= len(args) <= 2:
            raise TypeError(f"Device() takes device_type[, index], got {len(args)} arguments")
        device_type = _number(args[0], "device type", 0, 0x7FFFFFFF)
        index = _number(args[1], "device index", -0x80000000, 0x7FFFFFFF) if len(args) == 2 else 0
        self._pair = device_type | index << 32

    @property
    def device_type(self) -> int:
        """DLPack device type."""
        return _pair_of(self) & 0xFFFFFFFF

    @property
    def index(self) -> int:
        """Which of the devices of that type."""
        return _pair_of(self) >> 32

    def __eq__(self, other: object) -> bool:
        return _pair_of(self) == _pair_of(other) if isinstance(other, Device) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return _pair_of(self) != _pair_of(other) if isinstance(other, Device) else NotImplemented

    def __hash__(self) -> int:
        pair = _pair_of(self)
        return (pair & 0xFFFFFFFF) * 1000003 + (pair >> 32 & 0xFFFFFFFF)


def _pair_of(value: Any) -> int:
    try:
        pair: int = value._pair
    except AttributeError:
        raise_unmade(value)
    return pair


@hidden
def device_of(word: int) -> Any:
    """Return the package's value for a native device, without a call of its __init__."""
    device = object.__new__(hooks.device_class)
    device._pair = word
    return device
