"""Python objects that native code holds: an ffi.OpaquePyObject, or the closure of a callback, has a number of ours.

Native code may drop either on any thread.
"""

from __future__ import annotations

from itertools import count

from .backend import DELETER, address_of, callback, core, new_words, words_at
from .errors import raise_pending
from .numbers import OPAQUE_PY_OBJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DROP_AT", "drop", "hold", "held_by", "make_opaque", "unwrap"]

_held: dict[int, Any] = {}
_numbers = count(1)
_is_finalizing = False


def hold(value: Any) -> int:
    """Keep an object alive until native code calls the function at DROP_AT with the number that is returned."""
    number = next(_numbers)
    _held[number] = value
    return number


held_by = _held.__getitem__
"""The object of a number."""


def drop(number: int) -> None:
    """End a hold."""
    if not _is_finalizing:
        del _held[number]


_drop = callback(DELETER, drop)
DROP_AT = address_of(_drop)


def make_opaque(value: Any) -> int:
    """A new ffi.OpaquePyObject around an object."""
    out = new_words(1)
    number = hold(value)
    if core.opaque_new(number, OPAQUE_PY_OBJECT, DROP_AT, out) != 0:
        drop(number)
        raise_pending("OpaquePyObject")
    address: int = out[0]
    return address


def unwrap(address: int) -> tuple[bool, Any]:
    """Whether the Python object of an ffi.OpaquePyObject is held here, and that object. Other bindings in the process
    make such objects, too, with deleters of their own, which follow the handle in the object."""
    body = words_at(address) + 3
    if body[1] != DROP_AT:
        return False, None
    return True, _held[body[0]]


def mark_finalizing() -> None:
    """From now on Python objects held by native code are leaked instead of touched."""
    global _is_finalizing
    _is_finalizing = True
