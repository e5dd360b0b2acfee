"""Native types that Python defines: registering them, and withdrawing a definition."""

from __future__ import annotations

from .. import _core
from .._start.fork import new_lock
from .info import TypeInfo, begin_info, forget_info, set_class

__all__ = ["define_type", "forget_type"]

_lock = new_lock()  # guards _given_up; held while the registry is read, which runs no foreign code
_given_up: set[int] = set()  # type indices whose definition was withdrawn


def define_type(parent: TypeInfo, type_key: str, cls: type) -> TypeInfo:
    """Register a type that derives from another one, with its class. The type has no fields yet, so `fields` of its
    TypeInfo is None.

    ValueError if the key is taken, or was ever taken below another parent, because a key keeps its index.
    """
    with _lock:
        index = _core.type_key_to_index(type_key)
        if index >= 0 and index not in _given_up:
            raise ValueError(f"Type key {type_key!r} is already registered")
        index = _core.type_define(type_key, parent.type_index)
        _given_up.discard(index)
        info = begin_info(index)
    info.fields = None
    set_class(info, cls)
    return info


def forget_type(info: TypeInfo) -> None:
    """Withdraw a definition: its class no longer belongs to a native type, and the key can be used again if the type
    has no fields yet."""
    with _lock:
        forget_info(info)
        if info.fields is None:
            _given_up.add(info.type_index)
