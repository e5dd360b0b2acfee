"""Dataclass instances as tuples, which native functions take as Arrays."""

from __future__ import annotations

import dataclasses

from .._start.late import find_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["unpack_dataclass_to_tuple"]

if not TYPE_CHECKING:  # names that tvm_ffi has here
    __getattr__ = find_attributes(__name__)

# The names of a dataclass's fields, by class. Several threads may write an entry, with equal values.
_field_names: dict[type, tuple[str, ...]] = {}


def unpack_dataclass_to_tuple(x: Any) -> Any:
    """Return a dataclass instance as a tuple of its fields, recursively through lists, tuples and the values of dicts.

    Lists stay lists, dicts stay dicts, and named tuples keep their class; any other value is returned unchanged, not
    copied.
    """
    cls = type(x)
    names = _field_names.get(cls)
    if names is None:
        if cls is list:
            return [unpack_dataclass_to_tuple(item) for item in x]
        if cls is dict:
            return {key: unpack_dataclass_to_tuple(item) for key, item in x.items()}
        if isinstance(x, tuple):
            items = (unpack_dataclass_to_tuple(item) for item in x)
            return cls._make(items) if hasattr(cls, "_make") else tuple(items)
        if not dataclasses.is_dataclass(cls):
            return x
        names = _field_names[cls] = tuple(field.name for field in dataclasses.fields(cls))
    return tuple([unpack_dataclass_to_tuple(getattr(x, name)) for name in names])
