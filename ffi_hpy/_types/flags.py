"""The words by which classes ask for flags and kinds of the ABI, and the flags of a field that a class defines."""

from __future__ import annotations

from .. import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from .._type_schema import TypeSchema

    class DeclaredField(Protocol):
        """What is read of a field that the body of a class declares: a `dataclasses.Field`, which says what it means.
        `default` is `missing` where there is none, and so is `default_factory`."""

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


__all__ = ["STRUCTURAL_FLAGS", "STRUCTURE_KINDS", "flags_of"]

STRUCTURAL_FLAGS: dict[str | None, int] = {
    None: 0,
    "ignore": _core.FIELD_STRUCTURAL_IGNORE,
    "def": _core.FIELD_STRUCTURAL_DEF_PATTERN,
    "def-pattern": _core.FIELD_STRUCTURAL_DEF_PATTERN,
    "def-recursive": _core.FIELD_STRUCTURAL_DEF_PATTERN,
    "def-simple": _core.FIELD_STRUCTURAL_DEF_SIMPLE,
    "def-non-recursive": _core.FIELD_STRUCTURAL_DEF_SIMPLE,
}
"""Flags by the words that `structural_eq` of a field takes."""

STRUCTURE_KINDS: dict[str | None, int] = {
    None: _core.STRUCTURE_UNSUPPORTED,
    "tree": _core.STRUCTURE_TREE,
    "var": _core.STRUCTURE_FREE_VAR,
    "dag": _core.STRUCTURE_DAG,
    "const-tree": _core.STRUCTURE_CONST_TREE,
    "singleton": _core.STRUCTURE_UNIQUE_INSTANCE,
}
"""TVMFFISEqHashKind by the words that `structural_eq` of a class takes."""


def flags_of(field: DeclaredField, missing: object) -> int:
    """The flags of a field; `missing` stands for no default."""
    flags = _core.FIELD_WRITABLE | _core.FIELD_SETTER_IS_FUNCTION | STRUCTURAL_FLAGS[field.structural_eq]
    for is_set, flag in (
        (field.has_default, _core.FIELD_HAS_DEFAULT),
        (field.default_factory is not missing, _core.FIELD_DEFAULT_FROM_FACTORY),
        (not field.init, _core.FIELD_INIT_OFF),
        (not field.repr, _core.FIELD_REPR_OFF),
        (not field.compare, _core.FIELD_COMPARE_OFF),
        (not field.hash, _core.FIELD_HASH_OFF),
        (field.kw_only, _core.FIELD_KW_ONLY),
    ):
        if is_set:
            flags |= flag
    return flags
