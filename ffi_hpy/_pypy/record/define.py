"""Fields of types that Python code defines: the binding registers them, and this side keeps their forms."""

from __future__ import annotations

from ..context.binding import binding
from ..context.type_table import facts_of, field_info
from .fields import LaidOutField, laid_out
from .schemas import tree_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["remember_fields", "rows_to_binding"]

_SCHEMA, _INITIAL = 8, 9  # positions in a row


def rows_to_binding(index: int, fields: list[tuple[Any, ...]], total_size: int, kind: int) -> tuple[Any, ...]:
    """Return the arguments of `_core.fields_define` with the binding's schemas."""
    rows = [(*row[:_SCHEMA], tree_of(row[_SCHEMA]), row[_INITIAL]) for row in fields]
    return index, rows, total_size, kind


def remember_fields(index: int, fields: list[tuple[Any, ...]], _total_size: int, _kind: int) -> None:
    """Keep the fields that the binding has registered."""
    facts = facts_of(index)
    for which, row in enumerate(fields):
        info, slot = field_info(facts, which), binding.FieldSlot(index, which, False)
        initial = row[_INITIAL] if info.flags & binding.FIELD_HAS_DEFAULT else None
        laid_out[index, which] = LaidOutField(facts, info, slot, row[_SCHEMA], initial)
