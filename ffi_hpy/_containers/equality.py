"""Comparison and hash of containers by their contents: equal containers have equal hashes, and so does a tuple that
equals an Array."""

from __future__ import annotations

from .. import _ffi_api
from .._core import TYPE_INDEX_DYNAMIC_BEGIN, CObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["equal_contents", "hash_of"]


def equal_contents(one: CObject, other: CObject) -> bool:
    """Whether two native sequences, or two native mappings, have equal contents. A core other than ours compares the
    types, too."""
    compare = getattr(_ffi_api, "LooseEq", None)
    if compare is None:
        return bool(_ffi_api.RecursiveEq(one, other))
    equal: bool | None = compare(one, other)
    if equal is None:  # there are Python objects, which Python compares
        return bool(one._plain() == other._plain())  # type: ignore[attr-defined]
    return equal


# --- hash -------------------------------------------------------------------------------------------------------------

_PLAIN = frozenset((int, bool, str, bytes, type(None)))
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
    cls: Any = type(value)
    if cls is float:
        return value if value == value else _Part(0)  # NaNs are equal
    # Other objects that compare by identity have no fields: functions, tensors.
    has_identity = isinstance(value, CObject) and cls.__hash__ is CObject.__hash__
    if has_identity and value.__type_index__() >= TYPE_INDEX_DYNAMIC_BEGIN:
        return _Part(_ffi_api.RecursiveHash(value))
    return value


def hash_of(container: Any) -> int:
    """Return the hash of a container: its `_hash_parts` are hashed first, each shared one once, and its `_hash_whole`
    combines them. A container that contains itself has the core's hash."""
    parts = list(container._hash_parts())
    if _PLAIN.issuperset(map(type, parts)):
        return container._hash_whole(parts)  # type: ignore[no-any-return]
    known: dict[int, tuple[Any, _Part | None]] = {container.__chandle__(): (container, None)}
    frames: list[tuple[Any, Any, list[Any]]] = [(container, iter(parts), [])]
    while True:
        container, rest, parts = frames[-1]
        for part in rest:
            if type(part) in _PLAIN:
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
