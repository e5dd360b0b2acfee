"""Printers for gdb: `source PATH/ffi_hpy_gdb.py`, where `ffi-hpy-config --debugdir` prints PATH."""

from __future__ import annotations

import sys
from pathlib import Path

import gdb

sys.path.insert(0, str(Path(__file__).resolve().parent))

from ffi_hpy_values import OBJECT, Values, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def _read(address: int, n: int) -> bytes:
    return bytes(gdb.selected_inferior().read_memory(address, n))


def _type_info(index: int) -> int:
    try:
        return int(gdb.parse_and_eval(f"((unsigned long (*)(int))TVMFFIGetTypeInfo)({index})"))
    except gdb.error:
        return 0  # a core file, in which no function can run


def _bases_of(kind: Any, start: int = 0) -> Iterator[tuple[str, int]]:
    """Yield the names and offsets of the base classes, the nearest first, except virtual ones."""
    for field in kind.fields():
        if field.is_base_class and hasattr(field, "bitpos"):
            offset = start + field.bitpos // 8
            yield str(field.type.strip_typedefs()), offset
            yield from _bases_of(field.type.strip_typedefs(), offset)


class _Printer:
    def __init__(self, kind: str, address: int) -> None:
        self._kind = kind
        self._address = address

    def to_string(self) -> str:
        if self._address == 0:
            return "None"  # a null pointer
        return str(Values(_read, _type_info).text(self._kind, self._address))


def _find(value: Any) -> _Printer | None:
    """Return the printer of a C++ value; None for a value of others."""
    plain = value.type.strip_typedefs().unqualified()
    if plain.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF):
        target = plain.target().strip_typedefs().unqualified()
        if target.code != gdb.TYPE_CODE_STRUCT:
            return None
        kind, offset = kind_of(str(target), _bases_of(target))
        is_pointer = plain.code == gdb.TYPE_CODE_PTR
        if kind is None or (is_pointer and kind != OBJECT):
            return None  # a pointer to a value is shown as a pointer
        return _Printer(kind, int(value if is_pointer else value.referenced_value().address) + offset)
    if plain.code != gdb.TYPE_CODE_STRUCT or value.address is None:
        return None
    kind, offset = kind_of(str(plain), _bases_of(plain))
    return _Printer(kind, int(value.address) + offset) if kind is not None else None


_find.__name__ = "ffi_hpy"
gdb.pretty_printers.append(_find)
