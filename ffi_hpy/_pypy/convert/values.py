"""PlainValue, the base of the package's classes for values of one word, and the results of native values of that form.

The kind of a class decides the form of the word, which is that of a TVMFFIAny, as a signed number: a data type has its
type code, from bit 8 on its bits, and from bit 16 on its lanes; a device has its type, and from bit 32 on its index.
"""

from __future__ import annotations

from ..context import hooks
from ..context.binding import binding
from ..context.hidden import hidden
from ..context.texts import check_new, raise_unmade

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["PlainValue", "data_type_of", "device_of", "word_of"]


class PlainValue:
    """Base of the classes of values that consist of one word."""

    __slots__ = ("_stored",)

    _stored: int

    def __new__(cls, /, *_args: Any, **_kwargs: Any) -> Any:
        check_new(cls, PlainValue, "PlainValue")
        self = object.__new__(cls)
        self._stored = binding.DEVICE_TYPE_CPU  # a subclass of Device need not call __init__
        return self

    @property
    @hidden
    def _word(self) -> int:
        """The value, as a signed number."""
        return word_of(self)

    @_word.setter
    def _word(self, word: int) -> None:
        _store(self, word)  # TypeError for an instance of another class


_store = PlainValue.__dict__["_stored"].__set__


@hidden
def word_of(value: PlainValue) -> int:
    """Return the word of a value. TypeError if object.__new__() made it."""
    try:
        return value._stored
    except AttributeError:
        raise_unmade(value)


_wrapped: dict[int, tuple[Any, Any]] = {}  # by word: the hook, and its result


@hidden
def data_type_of(word: int) -> Any:
    """Return the package's value for a native data type. There are few, so they are cached."""
    known = _wrapped.get(word)
    if known is not None and known[0] is hooks.wrap_dtype:
        return known[1]
    hook = hooks.wrap_dtype
    value = hook(word & 0xFFFFFFFF)
    _wrapped[word] = hook, value
    return value


@hidden
def device_of(word: int) -> Any:
    """Return the package's value for a native device, without a call of its __init__."""
    device = object.__new__(hooks.device_class)
    device._stored = word
    return device
