"""Where the fields of a class lie in its native objects, and what the registry is told about them.

The layout is what a C++ compiler would choose for a subclass with these fields, so that generated C++ structs fit.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from .. import _core
from .._type_info import TypeField, TypeInfo
from .common import type_chain
from .field import MISSING, STRUCTURAL_FLAGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .field import Field

__all__ = ["HEADER_BYTES", "STRUCTURE_KINDS", "define_fields", "own_end"]

HEADER_BYTES = 24
"""Of every object: sizeof(TVMFFIObject)."""

STRUCTURE_KINDS: dict[str | None, int] = {
    None: 0,
    "tree": 1,
    "var": 2,
    "dag": 3,
    "const-tree": 4,
    "singleton": 5,
}
"""TVMFFISEqHashKind by the words that `structural_eq` of a class takes."""

_ANY = -1
# size, alignment and static type index by the origin of a schema; bytes. Everything else is a pointer to an object.
_PLACES = {
    "int": (8, 8, 1),
    "bool": (1, 1, 2),
    "float": (8, 8, 3),
    "ctypes.c_void_p": (8, 8, 4),
    "dtype": (4, 2, 5),
    "Device": (8, 4, 6),
    "Any": (16, 8, _ANY),
    "None": (16, 8, _ANY),
    "str": (16, 8, _ANY),  # short ones have no object
    "bytes": (16, 8, _ANY),
    "Optional": (16, 8, _ANY),
    "Union": (16, 8, _ANY),
}
_POINTER = (8, 8, 64)

# TVMFFIFieldFlagBitMask
_WRITABLE = 1
_HAS_DEFAULT = 2
_DEFAULT_FROM_FACTORY = 32
_REPR_OFF = 64
_COMPARE_OFF = 128
_HASH_OFF = 256
_INIT_OFF = 512
_KW_ONLY = 1024
_SETTER_IS_FUNCTION = 2048


def own_end(info: Any) -> int:
    """Offset in bytes at which the fields of a subclass begin, before they are aligned.

    The Itanium C++ ABI lets them begin in the padding at the end of the parent, the one of Microsoft does not."""
    total = int(info.total_size or HEADER_BYTES)
    if sys.platform == "win32":
        return total
    ends = [f.offset + f.size for ancestor in type_chain(info) for f in ancestor.fields or ()]
    end = max([HEADER_BYTES, *ends])
    return end if end > total - 8 else total  # what lies in between belongs to members without reflection


def define_fields(info: TypeInfo, fields: list[Field], structure_kind: int = 0) -> list[TypeField]:
    """Register the fields of a type that has none yet, and how its objects are made.

    TypeError for a default that no native value can be made of. Nothing is registered then.
    """
    end = own_end(info.parent_type_info)
    rows: list[tuple[object, ...]] = []
    found: list[TypeField] = []
    for i, f in enumerate(fields):
        schema = f._ty_schema
        assert schema is not None
        size, alignment, static_index = _PLACES.get(schema.origin, _POINTER)
        offset = -(-end // alignment) * alignment
        end = offset + size
        found.append(_TypeField(info.type_index, i, f, (size, alignment, offset, static_index)))
        metadata = json.dumps(found[-1].metadata)
        default = f.default if f.default_factory is MISSING else f.default_factory
        rows.append((f.name, f.doc, metadata, _flags(f), size, alignment, offset, static_index, schema, default))
    _core.fields_define(info.type_index, rows, -(-end // 8) * 8, structure_kind)
    return found


class _TypeField(TypeField):
    """A TypeField of a type that is defined here: what reads and writes it is made when somebody asks."""

    _is_laid_out = True

    def __init__(self, type_index: int, which: int, f: Field, place: tuple[int, int, int, int]) -> None:
        size, alignment, offset, static_index = place
        super().__init__(
            f.name,
            f.doc,
            size,
            alignment,
            offset,
            static_index,
            f.frozen,
            {"type_schema": f._ty_schema.to_json()},  # type: ignore[union-attr]
            ty=f._ty_schema,
            c_init=f.init,
            c_kw_only=bool(f.kw_only),
            c_has_default=f.has_default,
            c_default=f.default,
            c_default_factory=f.default_factory,
            c_repr=f.repr,
            c_compare=f.compare,
            c_hash=bool(f.hash),
            c_structural_eq=f.structural_eq,
            dataclass_field=f,
        )
        self._place = (type_index, which)


def _flags(f: Field) -> int:
    flags = _WRITABLE | _SETTER_IS_FUNCTION | STRUCTURAL_FLAGS[f.structural_eq]
    for is_set, flag in (
        (f.has_default, _HAS_DEFAULT),
        (f.default_factory is not MISSING, _DEFAULT_FROM_FACTORY),
        (not f.init, _INIT_OFF),
        (not f.repr, _REPR_OFF),
        (not f.compare, _COMPARE_OFF),
        (not f.hash, _HASH_OFF),
        (f.kw_only, _KW_ONLY),
    ):
        if is_set:
            flags |= flag
    return flags
