"""Enums of libraries that were compiled with the headers of apache-tvm-ffi 0.1.11 and 0.1.12.

Such a library does not give its type an EnumState but two attributes: a Dict from names to variants, in the order of
their integers, and a Dict from the names of extension attributes to Lists. A List has the value of a variant at the
index of its integer, or None. The library fills both after registering them, so they are read whenever the state is
read: the variants are counted, and the value of one variant is read at its index.
"""

from __future__ import annotations

from typing import Any

from .._core import type_attr
from ..container import Dict

__all__ = ["add_entry", "adopt_entries", "adopt_values", "entries_of", "value_of"]

_ENTRIES_ATTR = "__ffi_enum_entries__"
_VALUES_ATTR = "__ffi_enum_attrs__"


def entries_of(type_index: int) -> Any:
    """Return the Dict of variants by name, None for types that only have an EnumState."""
    return type_attr(type_index, _ENTRIES_ATTR)


def add_entry(type_index: int, variant: Any) -> None:
    """Let such a library find a variant that was declared in Python."""
    entries = entries_of(type_index)
    if entries is not None and variant._str_index not in entries:
        entries[variant._str_index] = variant


def adopt_entries(type_index: int, state: Any) -> None:
    """Add variants that such a library has registered since to an EnumState. Runs no foreign code."""
    entries = entries_of(type_index)
    if len(entries) > len(state.entries):
        for name, variant in entries.items():
            if name not in state.indexes:
                state.entries.append(variant)
                state.indexes[variant._int_index] = variant
                state.indexes[name] = variant


def adopt_values(type_index: int, state: Any) -> None:
    """Add values of variants that such a library has registered since to an EnumState. Runs no foreign code."""
    for name, values in (type_attr(type_index, _VALUES_ATTR) or {}).items():
        if name not in state.attrs:
            state.attrs[name] = Dict({})
        column = state.attrs[name]
        for variant, value in zip(state.entries, values):
            if value is not None and variant not in column:
                column[variant] = value


def value_of(type_index: int, name: str, variant: Any) -> Any:
    """Return the value that such a library has registered for a variant; None if there is none."""
    attrs = type_attr(type_index, _VALUES_ATTR)
    values = None if attrs is None else attrs.get(name)
    place = variant._int_index
    return values[place] if values is not None and 0 <= place < len(values) else None
