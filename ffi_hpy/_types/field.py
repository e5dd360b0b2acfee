"""Fields in three forms: rows of the registry, declarations in the body of a class, and the arguments of TypeField."""

from __future__ import annotations

from .. import _core
from .._values.object import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from .layout import Slot
    from .schema import TypeSchema

    class DeclaredField(Protocol):
        """The attributes that are read from a field that the body of a class declares: a `dataclasses.Field`, which
        documents them. `default` and `default_factory` are MISSING if there is none."""

        name: Any
        _ty_schema: TypeSchema | None
        default: Any
        default_factory: Any
        frozen: bool
        init: bool
        repr: bool
        hash: bool | None
        compare: bool
        kw_only: bool | None
        structural_eq: str | None
        doc: str | None

        @property
        def has_default(self) -> bool: ...


__all__ = ["arguments_of_declared", "arguments_of_row", "row_of_declared", "schema_of_declared"]

_STRUCTURAL_WORDS = (
    (_core.FIELD_STRUCTURAL_IGNORE, "ignore"),
    (_core.FIELD_STRUCTURAL_DEF_PATTERN, "def-pattern"),
    (_core.FIELD_STRUCTURAL_DEF_SIMPLE, "def-simple"),
)


def arguments_of_row(row: tuple[Any, ...]) -> dict[str, Any]:
    """Return the arguments of TypeField for a row of `_core.type_info`, a `_core.FieldInfo`."""
    name, doc, metadata, flags, size, offset, static_index, alignment, default = row
    has_default, is_factory = bool(flags & _core.FIELD_HAS_DEFAULT), bool(flags & _core.FIELD_DEFAULT_FROM_FACTORY)
    return {
        "name": str(name),
        "doc": str(doc) if doc else None,
        "size": size,
        "alignment": alignment,
        "offset": offset,
        "field_static_type_index": static_index,
        "frozen": not flags & _core.FIELD_WRITABLE,
        "metadata": str(metadata),
        "c_init": not flags & _core.FIELD_INIT_OFF,
        "c_kw_only": bool(flags & _core.FIELD_KW_ONLY),
        "c_has_default": has_default,
        "c_default": default if has_default and not is_factory else ...,
        "c_default_factory": default if has_default and is_factory else ...,
        "c_repr": not flags & _core.FIELD_REPR_OFF,
        "c_compare": not flags & _core.FIELD_COMPARE_OFF,
        "c_hash": not flags & _core.FIELD_HASH_OFF,
        "c_structural_eq": next((word for bit, word in _STRUCTURAL_WORDS if flags & bit), None),
    }


def arguments_of_declared(field: DeclaredField, slot: Slot) -> dict[str, Any]:
    """Return the arguments of TypeField for a field in a slot of its objects."""
    schema = schema_of_declared(field)
    size, alignment, offset, static_index = slot
    return {
        "name": field.name,
        "doc": field.doc,
        "size": size,
        "alignment": alignment,
        "offset": offset,
        "field_static_type_index": static_index,
        "frozen": field.frozen,
        "metadata": {"type_schema": schema.to_json()},
        "ty": schema,
        "c_init": field.init,
        "c_kw_only": bool(field.kw_only),
        "c_has_default": field.has_default,
        "c_default": field.default,
        "c_default_factory": field.default_factory,
        "c_repr": field.repr,
        "c_compare": field.compare,
        "c_hash": bool(field.hash),
        "c_structural_eq": field.structural_eq,
        "dataclass_field": field,
    }


def row_of_declared(field: DeclaredField, slot: Slot) -> tuple[Any, ...]:
    """Return the field in the form of `_core.fields_define`."""
    from json import dumps

    size, alignment, offset, static_index = slot
    schema = schema_of_declared(field)
    metadata = dumps({"type_schema": schema.to_json()})
    default = field.default if field.default_factory is MISSING else field.default_factory
    flags = _flags_of(field)
    return field.name, field.doc, metadata, flags, size, alignment, offset, static_index, schema, default


def _flags_of(field: DeclaredField) -> int:
    from .flags import STRUCTURAL_FLAGS

    flags = _core.FIELD_WRITABLE | _core.FIELD_SETTER_IS_FUNCTION | STRUCTURAL_FLAGS[field.structural_eq]
    for is_set, flag in (
        (field.has_default, _core.FIELD_HAS_DEFAULT),
        (field.default_factory is not MISSING, _core.FIELD_DEFAULT_FROM_FACTORY),
        (not field.init, _core.FIELD_INIT_OFF),
        (not field.repr, _core.FIELD_REPR_OFF),
        (not field.compare, _core.FIELD_COMPARE_OFF),
        (not field.hash, _core.FIELD_HASH_OFF),
        (field.kw_only, _core.FIELD_KW_ONLY),
    ):
        if is_set:
            flags |= flag
    return flags


def schema_of_declared(field: DeclaredField) -> TypeSchema:
    """Return the schema that a decorator has stored in a field."""
    schema = field._ty_schema
    assert schema is not None
    return schema
