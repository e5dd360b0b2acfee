"""Error: a native error as a value."""

from __future__ import annotations

from ..context.backend import UPDATE_BACKTRACE, address_of, bytes_at, cast, core, new_chars, new_words, words_at
from ..context.numbers import ERROR
from ..context.texts import bind, messages
from ..convert.results import of_object, text_of
from ..object.call_buffers import read_object
from ..object.errors import backtraces, is_class_places
from .cobject import CObject, put_handle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Error"]


class _Text:
    """A str as a TVMFFIByteArray; ValueError and TypeError as for an argument."""

    def __init__(self, text: Any, what: str) -> None:
        if not isinstance(text, str):
            raise TypeError(messages.NOT_A_STR % (what, type(text).__name__))
        self._data = new_chars(str.encode(text))
        self.array = new_words(2)
        self.array[0], self.array[1] = address_of(self._data), len(self._data) - 1


def _optional(value: Any, what: str) -> int:
    if value is None:
        return 0
    if not issubclass(type(value), CObject) or not value._ffi_address:
        raise TypeError(f"Error() argument '{what}' must be an object or None, not {type(value).__name__}")
    return CObject.__chandle__(value)  # the base's method, because a subclass may override it


_PARTS = ("kind", "message", "backtrace", "cause", "extra_context")


class Error(CObject):
    """A native error value (not an exception)."""

    __slots__ = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kind, message, backtrace, cause, extra_context = bind("Error", _PARTS, 3, args, kwargs)
        texts = [
            _Text(text, f"Error() argument '{what}'")
            for text, what in ((kind, "kind"), (message, "message"), (backtrace, "backtrace"))
        ]
        cause_at, context_at = _optional(cause, "cause"), 0
        if cause_at and words_at(cause_at)[1] & 0xFFFFFFFF != ERROR:
            raise TypeError(f"Error() argument 'cause' must be an Error or None, not {type(cause).__name__}")
        context_at = _optional(extra_context, "extra_context")
        out = new_words(1)
        if core.error_new(texts[0].array, texts[1].array, texts[2].array, cause_at, context_at, out) != 0:
            raise MemoryError
        put_handle(self, out[0])

    def _text(self, at: int) -> str:
        text: str = read_object(self, ERROR, 1, lambda cell: text_of(bytes_at(cell[at], cell[at + 1])))
        return text

    def _object(self, at: int) -> Any:
        def own(cell: Any) -> Any:
            if not cell[at] or is_class_places(cell[at]):  # only the binding reads the places
                return 0
            core.incref(cell[at])
            return cell[at]

        address = read_object(self, ERROR, 1, own)
        return of_object(words_at(address)[1] & 0xFFFFFFFF, address) if address else None

    @property
    def kind(self) -> str:
        """Kind of the error: the name of an exception class."""
        return self._text(3)

    @property
    def message(self) -> str:
        """The message of the error."""
        return self._text(5)

    @property
    def backtrace(self) -> str:
        """Frames, most recent call first."""
        with backtraces:
            return self._text(7)

    @property
    def cause(self) -> Any:
        """The error that led to this one, or None."""
        return self._object(10)

    @property
    def extra_context(self) -> Any:
        """A value attached to the error, or None."""
        return self._object(11)

    def update_backtrace(self, backtrace: str, append: bool = False) -> None:
        """Replace the backtrace, or append to it."""
        text = _Text(backtrace, "update_backtrace() argument 1")
        mode = 1 if append else 0

        def update(cell: Any) -> None:
            # the function in the cell, because the creator of the error owns the backtrace
            cast(UPDATE_BACKTRACE, cell[9])(address_of(cell), text.array, mode)

        with backtraces:
            read_object(self, ERROR, 1, update)
