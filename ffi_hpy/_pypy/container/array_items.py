"""The items of an Array, read in place: many at once, one by one, and the test for membership."""

from __future__ import annotations

from operator import length_hint

from ..context.backend import bytes_at, words_at
from ..context.hidden import hidden
from ..context.numbers import BOOL, FLOAT, INT, NONE, OBJECT, SMALL_STR, STR
from ..convert.results import get, of_borrowed
from ..object.references import Reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DATA", "SIZE", "ArrayIterator", "holds", "read_items"]

DATA = 3
SIZE = 4
"""Words of a TVMFFISeqCell, counted from the header on."""


@hidden
def read_items(array: int, first: int, step: int, n: int) -> list[Any]:
    """Return n items of an Array, from `first` on, `step` apart. The caller keeps the Array alive."""
    words = words_at(words_at(array)[DATA])
    values = []
    at = 2 * first
    for _ in range(n):
        item = words + at
        type_index = item[0] & 0xFFFFFFFF
        values.append(get(item) if type_index < OBJECT else of_borrowed(type_index, item[1]))
        at += 2 * step
    return values


class ArrayIterator:
    """Iterates over the items of an Array, which it keeps alive; from the end if step is -1. Threads may share it: each
    item is returned once."""

    __slots__ = ("_array", "_places", "_words")

    def __init__(self, array: int, step: int) -> None:
        self._array = Reference(array)
        self._words = words_at(words_at(array)[DATA])
        self._places = iter(range(0, 2 * words_at(array)[SIZE], 2)[::step])  # its next() is atomic

    def __iter__(self) -> ArrayIterator:
        return self

    @hidden
    def __next__(self) -> Any:
        item = self._words + next(self._places)
        type_index = item[0] & 0xFFFFFFFF
        if type_index < OBJECT:
            return get(item)
        return of_borrowed(type_index, item[1])

    def __length_hint__(self) -> int:
        return length_hint(self._places)


_WHOLE = (INT, BOOL)
_NO_NUMBERS = (NONE, SMALL_STR, STR)
_NO_TEXT = (INT, BOOL, FLOAT, NONE)


def _holds_number(array: int, number: int) -> bool | None:
    """Whether an item equals a number by Python's rules (1 == True == 1.0); None if only Python can decide."""
    words = words_at(words_at(array)[DATA])
    for at in range(0, 2 * words_at(array)[SIZE], 2):
        type_index = words[at] & 0xFFFFFFFF
        if type_index in _WHOLE:
            if words[at + 1] == number:
                return True
        elif type_index == FLOAT:
            if get(words + at) == number:
                return True
        elif type_index not in _NO_NUMBERS:
            return None
    return False


def _holds_text(array: int, text: bytes) -> bool | None:
    """Whether an item equals a str; None if only Python can decide."""
    n = len(text)
    small = (SMALL_STR | n << 32, int.from_bytes(text, "little")) if n < 8 else None
    words = words_at(words_at(array)[DATA])
    for at in range(0, 2 * words_at(array)[SIZE], 2):
        type_index = words[at] & 0xFFFFFFFF
        if type_index == STR:
            body = words_at(words[at + 1]) + 3
            if body[1] == n and bytes_at(body[0], n) == text:
                return True
        elif type_index == SMALL_STR:
            if small is not None and words[at] == small[0] and words[at + 1] == small[1]:
                return True
        elif type_index not in _NO_TEXT:
            return None
    return False


def holds(array: int, value: object) -> bool:
    """Whether a value is among the items of an Array. The caller keeps the Array alive."""
    found: bool | None = None
    if type(value) is int and -(1 << 53) < value < 1 << 53:  # a float is exact within these bounds
        found = _holds_number(array, value)
    elif type(value) is str and value.isascii():
        found = _holds_text(array, value.encode())
    if found is not None:
        return found
    # Let Python compare: with all items, and by identity before ==
    return value in read_items(array, 0, 1, words_at(array)[SIZE])
