"""Fields of types that Python code defines."""

from __future__ import annotations

from ..context.binding import binding
from ..context.type_table import facts_of, field_info
from .fields import LaidOutField, laid_out
from .schemas import tree_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["fields_define"]

_SCHEMA, _INITIAL = 8, 9  # positions in a row


def fields_define(*args: Any) -> None:
    """Register the fields of a type, once."""
    if len(args) != 4:
        raise TypeError("fields_define() takes index, fields, total_size, kind")
    index, fields, total_size, kind = args
    rows = [(*row[:_SCHEMA], tree_of(row[_SCHEMA]), row[_INITIAL]) for row in fields]
    binding.fields_define(index, rows, total_size, kind)
    facts = facts_of(index)
    for which, row in enumerate(fields):
        info, slot = field_info(facts, which), binding.FieldSlot(index, which, False)
        initial = row[_INITIAL] if info.flags & binding.FIELD_HAS_DEFAULT else None
        laid_out[index, which] = LaidOutField(facts, info, slot, row[_SCHEMA], initial)
