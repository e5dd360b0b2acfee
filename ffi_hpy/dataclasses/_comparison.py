"""Comparison and hash of dataclasses by their fields: each is one call of a function of the core, which walks the
fields and all objects reachable from them without recursion."""

from __future__ import annotations

from .. import _ffi_api
from .._core import CObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["EQUALITY", "ORDER", "recursive_hash"]


def _comparison(method: str, name: str) -> Callable[[Any, object], Any]:
    """Return a method that calls a function of the core. The function returns NotImplemented unless one object is an
    instance of the other's class: then Python asks the other object, and in the end compares identities or raises."""

    def compare(self: Any, other: object, /) -> Any:
        own, others = type(self), type(other)
        if own is not others and not (own in others.__mro__ or (others in own.__mro__ and CObject in others.__mro__)):
            return NotImplemented
        return getattr(_ffi_api, name)(self, other)

    compare.__name__, compare.__qualname__ = method, f"CObject.{method}"
    return compare


def recursive_ne(self: Any, other: object, /) -> Any:
    """Whether some field is not equal."""
    is_equal = EQUALITY["__eq__"](self, other)
    return is_equal if is_equal is NotImplemented else not is_equal


def recursive_hash(self: Any, /) -> int:
    """Return a hash of all fields. TypeError for a type that defines equality without a hash."""
    number: int = _ffi_api.RecursiveHash(self)
    return number


EQUALITY = {"__eq__": _comparison("__eq__", "RecursiveEq"), "__ne__": recursive_ne}
ORDER = {
    "__lt__": _comparison("__lt__", "RecursiveLt"),
    "__le__": _comparison("__le__", "RecursiveLe"),
    "__gt__": _comparison("__gt__", "RecursiveGt"),
    "__ge__": _comparison("__ge__", "RecursiveGe"),
}
