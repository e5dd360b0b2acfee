"""The ABI's field flags and structure kinds, by the words that classes use for them."""

from __future__ import annotations

from .. import _core

__all__ = ["STRUCTURAL_FLAGS", "STRUCTURE_KINDS"]

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
