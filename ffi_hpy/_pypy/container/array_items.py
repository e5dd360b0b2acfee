"""The items of an Array, read in place: many at once, or one by one."""

from __future__ import annotations

from operator import length_hint

from ..context.backend import words_at
from ..context.hidden import hidden
from ..context.numbers import INT, OBJECT
from ..convert.results import get, of_borrowed
from ..object.references import Reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DATA", "SIZE", "ArrayIterator", "read_items"]

DATA = 3
SIZE = 4
"""Words of a TVMFFISeqCell, counted from the header on."""


@hidden
def read_items(array: int, n: int) -> list[Any]:
    """Return the first n items of an Array. The caller keeps the Array alive."""
    words = words_at(words_at(array)[DATA])
    values = []
    for at in range(0, 2 * n, 2):
        type_index = words[at] & 0xFFFFFFFF
        if type_index == INT:
            values.append(words[at + 1])
        else:
            values.append(_item(words + at))
    return values


@hidden
def _item(words: Any) -> Any:
    type_index = words[0] & 0xFFFFFFFF
    return get(words) if type_index < OBJECT else of_borrowed(type_index, words[1])


class ArrayIterator:
    """Iterates over the items of an Array, which it keeps alive. Threads may share it: each item is returned once."""

    __slots__ = ("_array", "_places", "_words")

    def __init__(self, array: int) -> None:
        self._array = Reference(array)
        self._words = words_at(words_at(array)[DATA])
        self._places = iter(range(0, 2 * words_at(array)[SIZE], 2))  # its next() is atomic

    def __iter__(self) -> ArrayIterator:
        return self

    @hidden
    def __next__(self) -> Any:
        return _item(self._words + next(self._places))

    def __length_hint__(self) -> int:
        return length_hint(self._places)
