"""The ABI's flags of fields and kinds of structures, by the words that classes use for them."""

from __future__ import annotations

from .. import _core
from .._object import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .field import DeclaredField

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


def flags_of(field: DeclaredField) -> int:
    """The flags of a field that the body of a class declares."""
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
