"""Python objects and functions inside of native objects that are pickled.

The JSON graph of the native object has the positions of these values in a list, and pickle writes the list by its own
rules: one object stays one object. A graph without a pickle cannot have such values: reading the graph would run code.
"""

from __future__ import annotations

import contextlib
import threading

from .. import _core
from .opaque import OpaquePyObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["listed", "position_of", "value_at"]


class _Open(threading.local):
    """The lists of the pickles that the thread writes or reads; the last list belongs to the innermost pickle."""

    def __init__(self) -> None:
        self.lists: list[list[Any]] = []


_open = _Open()


@contextlib.contextmanager
def listed(values: list[Any]) -> Iterator[None]:
    """Let graphs that the thread writes or reads until the end of the block use a list."""
    _open.lists.append(values)
    try:
        yield
    finally:
        _open.lists.pop()


def position_of(value: Any) -> int:
    """Return the position that a graph has for a value. TypeError without a pickle."""
    if not _open.lists:
        key = "ffi.Function" if isinstance(value, _core.Function) else "ffi.OpaquePyObject"
        raise TypeError(f"Type `{key}` does not support ToJSONGraph (no native creator or __ffi_new__ type attr)")
    values = _open.lists[-1]
    values.append(value)
    return len(values) - 1


def value_at(position: int, is_function: bool) -> Any:
    """Return the native value for a position in a graph. TypeError without a pickle, ValueError for a position outside
    of its list, or of a value of another kind."""
    if not _open.lists:
        raise TypeError("the graph has a Python object, which only a pickle can contain")
    values = _open.lists[-1]
    if not isinstance(position, int) or not 0 <= position < len(values):
        raise ValueError(f"the graph has the Python object {position!r}, and the pickle has {len(values)} of them")
    if is_function and not callable(values[position]):
        raise ValueError(f"the graph has a function at {position}, and the pickle has {type(values[position])!r}")
    return values[position] if is_function else OpaquePyObject(values[position])
