"""The native containers: Array and Map are immutable, List and Dict are mutable and shared."""

from __future__ import annotations

from collections.abc import ItemsView, KeysView, ValuesView  # noqa: F401 - names that tvm_ffi has here
from operator import index as _as_int

from . import _ffi_api  # noqa: F401
from ._containers.mapping import Dict, Map
from ._containers.sequence import Array, List
from ._start.late import find_attributes
from ._values.object import MISSING
from .registry import register_object  # noqa: F401

__all__ = ["MISSING", "Array", "Dict", "List", "Map"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, SupportsIndex, TypeVar

    Item = TypeVar("Item")
if not TYPE_CHECKING:  # names that tvm_ffi has here
    __getattr__ = find_attributes(__name__)


# Functions that code written for tvm_ffi.container calls, for its own sequences.


def getitem_helper(obj: Any, elem_getter: Callable[[Any, int], Item], length: int, idx: SupportsIndex | slice) -> Any:
    """Return `obj[idx]` for a sequence of that length whose items `elem_getter(obj, i)` returns: an item, or a list of
    items for a slice. IndexError beyond the ends."""
    if isinstance(idx, slice):
        return [elem_getter(obj, i) for i in range(*idx.indices(length))]
    return elem_getter(obj, normalize_index(length, idx))


def normalize_index(length: int, idx: SupportsIndex) -> int:
    """Return an index into a sequence of that length, counted from the start. IndexError beyond the ends, TypeError for
    a value that is not an index."""
    try:
        i = _as_int(idx)
    except TypeError:
        raise TypeError(f"indices must be integers or slices, not {type(idx).__name__}") from None
    if not -length <= i < length:
        raise IndexError(f"Index out of range. size: {length}, got index {i}")
    return i % length
