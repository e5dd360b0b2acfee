"""Comparison and hash of containers by their contents: equal containers have equal hashes, and a tuple has the hash of
an equal Array."""

from __future__ import annotations

from functools import cache

from .. import _ffi_api
from .._core import CMapping, function_from_callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._core import CObject, Function

__all__ = ["PLAIN", "equal_contents", "equal_items", "hash_of", "is_comparable"]


def is_comparable(cls: type, *exact: type) -> bool:
    """Whether a container may equal an instance of a class: of one of `exact`, or one without a hash, because hashes of
    other classes, such as range, differ from ours."""
    return issubclass(cls, exact) or cls.__hash__ is None


_FLOATS_ARE_VALUES = float("nan") is float("nan")
"""Whether a list equals another one with the same NaN, because two floats with the same bits are one object (PyPy)."""


def equal_items(items: list[Any], other: list[Any]) -> bool:
    """Whether the items of a native sequence equal others. A NaN equals none: hashes of NaNs differ on PyPy."""
    if items != other:
        return False
    return not (_FLOATS_ARE_VALUES and any(type(item) is float and item != item for item in items))


def equal_contents(one: CObject, other: CObject) -> bool:
    """Whether two native sequences, or two native mappings, have equal contents: objects in them by Python's `==`. A
    core other than ours compares types and the fields of objects, too."""
    compare = getattr(_ffi_api, "LooseEq", None)
    return bool(_ffi_api.RecursiveEq(one, other) if compare is None else compare(one, other, _equal()))


@cache
def _equal() -> Function:
    """The function with which the core compares two objects that are not containers, and two mappings with keys that it
    cannot look up."""

    def equal(one: Any, other: Any) -> bool:
        if issubclass(type(one), CMapping) and issubclass(type(other), CMapping):
            return bool(dict(one.items()) == dict(other.items()))
        return one is other or bool(one == other)

    return function_from_callable(equal)


# --- hash -------------------------------------------------------------------------------------------------------------

PLAIN = frozenset((int, bool, str, bytes, type(None)))
"""Types whose hash is Python's, in every container."""


class _Part:
    """Stands for a value with a known hash in a tuple that is hashed."""

    __slots__ = ("_hash",)

    def __init__(self, number: int) -> None:
        self._hash = number

    def __hash__(self) -> int:
        return self._hash


def _leaf(value: Any) -> Any:
    """Return a value with the hash of a value that is not a container."""
    return _Part(0) if type(value) is float and value != value else value  # NaNs are equal


def hash_of(container: Any) -> int:
    """Return the hash of a container: its `_hash_parts` are hashed first, each shared one once, and its `_hash_whole`
    combines them. A container that contains itself has the core's hash."""
    parts = list(container._hash_parts())
    if PLAIN.issuperset(map(type, parts)):
        return container._hash_whole(parts)  # type: ignore[no-any-return]
    known: dict[int, tuple[Any, _Part | None]] = {container.__chandle__(): (container, None)}
    frames: list[tuple[Any, Any, list[Any]]] = [(container, iter(parts), [])]
    while True:
        container, rest, parts = frames[-1]
        for part in rest:
            if type(part) in PLAIN:
                parts.append(part)
            elif not hasattr(type(part), "_hash_parts"):
                parts.append(_leaf(part))
            else:
                entry = known.get(part.__chandle__())
                if entry is None:
                    known[part.__chandle__()] = (part, None)
                    frames.append((part, part._hash_parts(), []))
                    break
                if entry[1] is None:
                    return int(_ffi_api.RecursiveHash(frames[0][0]))
                parts.append(entry[1])
        else:
            number = container._hash_whole(parts)
            frames.pop()
            if not frames:
                return number  # type: ignore[no-any-return]
            known[container.__chandle__()] = (container, whole := _Part(number))
            frames[-1][2].append(whole)
