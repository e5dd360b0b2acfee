"""The layout of the fields of a class in its native objects.

The layout equals the layout that a C++ compiler chooses for a subclass with these fields, so that generated C++ structs
match.
"""

from __future__ import annotations

import sys

from .. import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Slot = tuple[int, int, int, int]  # size, alignment, offset, static type index; bytes

__all__ = ["lay_out", "own_end"]

# size, alignment and static type index by the origin of a schema; bytes. All other origins are pointers to objects.
_SHAPES = {
    "int": (8, 8, _core.TYPE_INDEX_INT),
    "bool": (1, 1, _core.TYPE_INDEX_BOOL),
    "float": (8, 8, _core.TYPE_INDEX_FLOAT),
    "ctypes.c_void_p": (8, 8, _core.TYPE_INDEX_OPAQUE_PTR),
    "dtype": (4, 2, _core.TYPE_INDEX_DATA_TYPE),
    "Device": (8, 4, _core.TYPE_INDEX_DEVICE),
    "Any": (16, 8, _core.TYPE_INDEX_ANY),
    "None": (16, 8, _core.TYPE_INDEX_ANY),
    "str": (16, 8, _core.TYPE_INDEX_ANY),  # a short string has no object
    "bytes": (16, 8, _core.TYPE_INDEX_ANY),
    "Optional": (16, 8, _core.TYPE_INDEX_ANY),
    "Union": (16, 8, _core.TYPE_INDEX_ANY),
}
_POINTER = (8, 8, _core.TYPE_INDEX_OBJECT)


def own_end(info: Any) -> int:
    """Return the offset in bytes where the fields of a subclass of a type begin, before alignment.

    In the Itanium C++ ABI they may begin in the padding at the end of the parent; in Microsoft's they do not.
    """
    total = int(info.total_size or _core.OBJECT_HEADER_BYTES)
    if sys.platform == "win32":
        return total
    end: int = info._fields_end
    return end if end > total - 8 else total  # the bytes between belong to members without reflection


def lay_out(parent: Any, origins: Iterable[str]) -> tuple[list[Slot], int]:
    """Return the slots of fields after the fields of a parent type, by the origins of their schemas; and the size of an
    object in bytes. TypeError for a parent whose objects have their values elsewhere (ffi_hpy/bind.h)."""
    if getattr(parent.type_cls, "_ffi_is_findable", False):
        raise TypeError(f"{parent.type_key} is a bound C++ class, which cannot be extended by native fields")
    end = own_end(parent)
    slots = []
    for origin in origins:
        size, alignment, static_index = _SHAPES.get(origin, _POINTER)
        offset = -(-end // alignment) * alignment
        end = offset + size
        slots.append((size, alignment, offset, static_index))
    return slots, -(-end // 8) * 8
