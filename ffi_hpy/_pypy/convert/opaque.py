"""Python objects inside native objects: an ffi.OpaquePyObject."""

from __future__ import annotations

from ..context.backend import core, new_words, words_at
from ..context.numbers import OPAQUE_PY_OBJECT
from ..context.py_owners import DROP_AT, drop, owned_at, owner_new
from ..object.errors import raise_pending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["make_opaque", "unwrap"]


def make_opaque(value: Any) -> int:
    """Return a new ffi.OpaquePyObject around an object."""
    out = new_words(1)
    block = owner_new(value)
    if core.opaque_new(block, OPAQUE_PY_OBJECT, DROP_AT, out) != 0:
        drop(block)
        raise_pending("OpaquePyObject")
    address: int = out[0]
    return address


def unwrap(address: int) -> tuple[bool, Any]:
    """Return whether this module owns the Python object of an ffi.OpaquePyObject, and that object. Other bindings in
    the process create such objects, too, with their own deleters; the deleter follows the handle in the object."""
    body = words_at(address) + 3
    if body[1] != DROP_AT:
        return False, None
    return True, owned_at(body[0])
