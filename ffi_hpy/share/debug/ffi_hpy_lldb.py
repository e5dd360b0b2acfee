"""Printers for lldb: `command script import PATH/ffi_hpy_lldb.py`, where `ffi-hpy-config --debugdir` prints PATH."""

from __future__ import annotations

import sys
from pathlib import Path

import lldb

sys.path.insert(0, str(Path(__file__).resolve().parent))

from ffi_hpy_values import OBJECT, Values, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def _values_of(process: Any) -> Values:
    def read(address: int, n: int) -> bytes:
        error = lldb.SBError()
        content = process.ReadMemory(address, n, error)
        if not error.Success():
            raise ValueError(error.GetCString())
        return bytes(content)

    def type_info(index: int) -> int:
        found = process.target.EvaluateExpression(f"((unsigned long (*)(int))TVMFFIGetTypeInfo)({index})")
        return int(found.GetValueAsUnsigned()) if found.GetError().Success() else 0

    return Values(read, type_info)


def _bases_of(kind: Any, start: int = 0) -> Iterator[tuple[str, int]]:
    """Yield the names and offsets of the base classes, the nearest first."""
    for i in range(kind.GetNumberOfDirectBaseClasses()):
        member = kind.GetDirectBaseClassAtIndex(i)
        base, offset = member.GetType().GetCanonicalType(), start + member.GetOffsetInBytes()
        yield base.GetName(), offset
        yield from _bases_of(base, offset)


def _kind_of(kind: Any) -> tuple[str | None, int]:
    plain = kind.GetCanonicalType().GetUnqualifiedType()
    found: tuple[str | None, int] = kind_of(plain.GetName(), _bases_of(plain))
    return found


def is_shown(kind: Any, _: Any) -> bool:
    """Whether these printers show the values of a type."""
    if kind.IsPointerType():
        return bool(_kind_of(kind.GetPointeeType())[0] == OBJECT)
    return _kind_of(kind.GetDereferencedType() if kind.IsReferenceType() else kind)[0] is not None


def summary(value: Any, _: Any) -> str:
    """Return the text for a value."""
    value = value.GetNonSyntheticValue()
    kind = value.GetType()
    if kind.IsPointerType():
        address, kind = value.GetValueAsUnsigned(), kind.GetPointeeType()
        if address == 0:
            return "None"
    elif kind.IsReferenceType():
        address, kind = value.Dereference().GetLoadAddress(), kind.GetDereferencedType()
    else:
        address = value.GetLoadAddress()
    found, offset = _kind_of(kind)
    assert found is not None  # see is_shown()
    return str(_values_of(value.GetProcess()).text(found, address + offset))


def __lldb_init_module(debugger: Any, _: Any) -> None:
    function, recognizer = f"{__name__}.summary", f"{__name__}.is_shown"
    debugger.HandleCommand(f"type summary add --python-function {function} --recognizer-function {recognizer}")
