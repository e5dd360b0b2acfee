"""Strings and containers that last for one call of a bound library: objects in the memory of the call buffer.

A function of ffi_hpy/bind.h may declare that it uses no argument after the call (`borrows` in ffi_hpy/c_bind.h). The
strings and the containers of plain values among the arguments then need neither an allocation nor a call of the core:
the objects are a few words in the room of the call buffer. The reference count of these objects is so high that no
callee releases them."""

from __future__ import annotations

from ..context.hidden import hidden
from ..context.numbers import (
    ARRAY,
    BOOL,
    FLOAT,
    INT,
    INT64_MAX,
    INT64_MIN,
    NONE,
    SMALL_STR,
    STR,
)
from ..object.call_buffers import FIRST_OBJECT, LENT_COUNT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..object.call_buffers import CallBuffer

__all__ = ["MADE_OF_TUPLE", "SMALL_SIZE", "put_container", "put_text", "set_types", "type_words"]

MADE_OF_TUPLE = 1 << 32  # FFI_HPY_MADE_OF_TUPLE in the second half of the word
SMALL_SIZE = 7
"""Bytes of the longest text inside of a value itself."""
_FEW = 4

type_words: dict[type, int] = {list: ARRAY, tuple: ARRAY | MADE_OF_TUPLE}
"""The type word of a container, by its class."""


def set_types(set_index: int, dict_index: int) -> None:
    """Register the types of the objects for sets and dicts."""
    type_words[set] = set_index
    type_words[dict] = dict_index


@hidden
def put_text(frame: CallBuffer, i: int, data: bytes) -> bool:
    """Make the words at `i` a str. False if the room is too small."""
    n = len(data)
    n_words = n // 8 + 1  # with a NUL
    place = _put_object(frame, i, STR, n, n_words)
    if not place:
        return False
    frame.words[place + n_words - 1] = 0
    frame.memory[8 * place : 8 * place + n] = data
    return True


@hidden
def put_container(frame: CallBuffer, i: int, value: Any, cls: type) -> bool:
    """Make the words at `i` the object of a list, tuple, set or dict of plain values and strings; a list and a tuple
    may have such containers inside. False if the room is too small, and for other items."""
    if cls is dict:
        pairs = list(value.items())  # a copy: another thread may change the value
        n = 2 * len(pairs)
        place = _put_object(frame, i, type_words[dict], n, 2 * n)
        return place != 0 and _put_pairs(frame, place, pairs)
    items = value if cls is tuple else list(value)
    n = len(items)
    place = _put_object(frame, i, type_words[cls], n, 2 * n)
    return place != 0 and _put_items(frame, place, items, cls is not set)


@hidden
def _put_object(frame: CallBuffer, i: int, type_word: int, size: int, n_words: int) -> int:
    """Make the words at `i` an object of some size whose contents have n_words words. Returns their place in the call
    buffer, 0 if the room is too small. An empty object takes a word, so that the next object gets another header."""
    words, place = frame.words, frame.used
    if place != frame.room:
        place = _begin_object(frame, place)
    end = place + (n_words or 1)
    if end > frame.size:
        return 0
    frame.used = end
    at = place - FIRST_OBJECT
    words[at + 1] = type_word
    words[at + 4] = size
    words[i] = type_word & 0xFFFFFFFF
    words[i + 1] = frame.address + 8 * at
    return place


@hidden
def _begin_object(frame: CallBuffer, at: int) -> int:
    """Write the header of one more object at a place, where the room may be too small. Returns the place of its
    contents. The call buffer itself has the header of the first object."""
    words, place = frame.words, at + FIRST_OBJECT
    if place <= frame.size:
        words[at] = LENT_COUNT
        words[at + 2] = 0
        words[at + 3] = frame.address + 8 * place
        words[at + 5] = frame.size - place
        words[at + 6] = 0
    return place


@hidden
def _put_items(frame: CallBuffer, place: int, items: Any, may_nest: bool) -> bool:
    n = len(items)
    if n > _FEW:
        return _put_many(frame, place, items, may_nest)
    # The JIT compiles code without loops into the caller.
    if n > 0 and not _put_item(frame, place, items[0], may_nest):
        return False
    if n > 1 and not _put_item(frame, place + 2, items[1], may_nest):
        return False
    if n > 2 and not _put_item(frame, place + 4, items[2], may_nest):
        return False
    return n < _FEW or _put_item(frame, place + 6, items[3], may_nest)


@hidden
def _put_item(frame: CallBuffer, i: int, item: Any, may_nest: bool) -> bool:
    return _put_plain(frame, i, item) or (may_nest and _put_inner(frame, i, item))


@hidden
def _put_many(frame: CallBuffer, place: int, items: Any, may_nest: bool) -> bool:
    words = frame.words
    for item in items:
        if type(item) is int and INT64_MIN <= item <= INT64_MAX:
            words[place] = INT
            words[place + 1] = item
        elif not _put_item(frame, place, item, may_nest):
            return False
        place += 2
    return True


@hidden
def _put_pairs(frame: CallBuffer, place: int, pairs: list[Any]) -> bool:
    """Put keys and values, none of which is a container: a caster may show a key to Python, which would keep it."""
    for key, value in pairs:
        if not (_put_plain(frame, place, key) and _put_plain(frame, place + 2, value)):
            return False
        place += 4
    return True


@hidden
def _put_plain(frame: CallBuffer, i: int, item: Any) -> bool:
    cls = type(item)
    words = frame.words
    if cls is int:
        if not INT64_MIN <= item <= INT64_MAX:
            return False
        words[i] = INT
        words[i + 1] = item
    elif cls is float:
        words[i] = FLOAT
        frame.doubles[i + 1] = item
    elif cls is bool:
        words[i] = BOOL
        words[i + 1] = 1 if item else 0
    elif item is None:
        words[i] = NONE
        words[i + 1] = 0
    else:
        return cls is str and _put_text_item(frame, i, item)
    return True


@hidden
def _put_inner(frame: CallBuffer, i: int, item: Any) -> bool:
    return type(item) in type_words and put_container(frame, i, item, type(item))


@hidden
def _put_text_item(frame: CallBuffer, i: int, text: str) -> bool:
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return False
    n = len(data)
    if n > SMALL_SIZE:
        return put_text(frame, i, data)
    frame.words[i] = SMALL_STR | n << 32
    frame.words[i + 1] = int.from_bytes(data, "little") if n else 0
    return True
