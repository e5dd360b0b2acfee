"""Makes hpy 0.9.0 accept Python subclasses of HPy types; used only if the binding runs in that package's context.

hpy 0.9 marks an HPy type with a private bit in `tp_flags`, and stores its data about the type in front of the
string that `tp_name` points to. A class statement inherits neither, so hpy treats an instance of a subclass as an
object without a hidden header, and returns a pointer to the wrong address. `adopt` adds both to the subclass.
"""

from __future__ import annotations

import ctypes
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HPY_TYPE_FLAG = 1 << 2
# Bytes from the start of a PyTypeObject, CPython 3.8 to 3.12, 64 bits.
_TP_NAME, _TP_FLAGS = 24, 168

_keep: list[Any] = []  # the names of adopted classes, which must outlive them


class _Note(ctypes.Structure):
    """hpy's HPyType_Extra_t; the type's name follows."""

    _fields_ = [
        ("magic", ctypes.c_uint16),
        ("traverse", ctypes.c_void_p),
        ("destroy", ctypes.c_void_p),
        ("vectorcall", ctypes.c_void_p),
        ("shape", ctypes.c_int),
    ]


_NAME_OFFSET = _Note.shape.offset + ctypes.sizeof(ctypes.c_int)


def check_interpreter() -> None:
    """ImportError if CPython itself uses the bit that hpy 0.9.0 marks its types with."""
    if sys.version_info >= (3, 13):
        raise ImportError("hpy 0.9.0 does not work on CPython 3.13 and later: leave FFI_HPY_CONTEXT unset")


def adopt(cls: type) -> None:
    """Mark a new Python subclass of an HPy type as an HPy type."""
    flags = ctypes.c_ulong.from_address(id(cls) + _TP_FLAGS)
    base = next((base for base in cls.__mro__[1:] if _flags_of(base) & _HPY_TYPE_FLAG), None)
    if base is None or flags.value & _HPY_TYPE_FLAG:
        return
    note = _Note.from_buffer_copy(ctypes.string_at(_name_pointer(base).value - _NAME_OFFSET, ctypes.sizeof(_Note)))
    note.traverse = note.destroy = None  # the base's run for the base
    text = ctypes.create_string_buffer(bytes(note)[:_NAME_OFFSET] + cls.__name__.encode())
    _keep.append(text)
    _name_pointer(cls).value = ctypes.addressof(text) + _NAME_OFFSET
    flags.value |= _HPY_TYPE_FLAG


def _flags_of(cls: type) -> int:
    return ctypes.c_ulong.from_address(id(cls) + _TP_FLAGS).value


def _name_pointer(cls: type) -> Any:
    return ctypes.c_size_t.from_address(id(cls) + _TP_NAME)
