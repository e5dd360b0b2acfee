"""The functions that a library file exports, by their names in the file; only what `dir()` shows rests on it."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

__all__ = ["exported_functions"]

_PREFIX, _INTERNAL = b"__tvm_ffi_", b"__tvm_ffi__"  # names of the latter are not of functions
_DYNAMIC_SYMBOLS = 11


def exported_functions(path: str) -> list[str]:
    """The names of the functions, sorted. Empty for a file that cannot be read, and on systems whose libraries are no
    ELF files."""
    try:
        with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return sorted(_names(data))
    except (OSError, ValueError, struct.error, IndexError, OverflowError):
        return []


def _names(data: mmap.mmap) -> set[str]:
    if data[:5] != b"\x7fELF\x02":
        return set()
    order = "<" if data[5] == 1 else ">"
    (start,), (size, count) = struct.unpack_from(f"{order}Q", data, 40), struct.unpack_from(f"{order}HH", data, 58)
    sections = [struct.unpack_from(f"{order}IIQQQQI", data, start + i * size) for i in range(count)]
    found = set()
    for _, kind, _, _, offset, length, strings in sections:
        for at in range(offset, offset + length, 24) if kind == _DYNAMIC_SYMBOLS else ():
            name, _, _, section = struct.unpack_from(f"{order}IBBH", data, at)
            begin = sections[strings][4] + name
            if section and data[begin : begin + len(_PREFIX)] == _PREFIX:
                text = data[begin : data.find(b"\0", begin)]
                if not text.startswith(_INTERNAL):
                    found.add(text[len(_PREFIX) :].decode("utf-8", "replace"))
    return found
