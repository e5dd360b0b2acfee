"""Native types that Python defines: their keys, and taking a definition back."""

from __future__ import annotations

from .. import _core
from .._start.fork import new_lock
from .info import TypeInfo, begin_info, forget_info, set_class

__all__ = ["define_type", "forget_type"]

_lock = new_lock()  # of the next one; held while the registry is asked, which runs no foreign code
_given_up: set[int] = set()  # type indices whose definition was taken back


def define_type(parent: TypeInfo, type_key: str, cls: type) -> TypeInfo:
    """Register a type below another one, with its class. It has no fields yet: `fields` of its TypeInfo is None.

    ValueError if the key is taken, or was, below another parent: a key keeps its index for ever.
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
    """Take back a definition: its class is no native type's any more, and the key can be used again if it has no fields
    yet."""
    with _lock:
        forget_info(info)
        if info.fields is None:
            _given_up.add(info.type_index)
