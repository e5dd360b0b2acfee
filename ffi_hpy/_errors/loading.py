"""Completes the messages of libraries that cannot be loaded, with C++ names and file names.

The system's loader writes these messages, so only a reader of them can add a C++ name. Messages of native code stay
unchanged.
"""

from __future__ import annotations

import os
import re

from .._core import global_get

__all__ = ["explain"]

_SYMBOL = re.compile(r"(?:undefined symbol: |namespace '_|: (?=\w+: symbol not found))(_Z\w+)")  # glibc, macOS, musl
_LIBRARIES = ("so", "dll", "dylib", "dso")  # the extensions of files that the core loads itself
_STRING = re.compile(r"std::(?:__cxx11::)?basic_string<char, std::char_traits<char>, std::allocator<char> ?>")


def explain(message: str, path: str) -> str:
    """Return the end of the core's message about the library at a path; "" if there is nothing to add. The message of a
    registered loader gets no end."""
    extension = path.rpartition(".")[2]
    if extension in _LIBRARIES:
        symbol = _SYMBOL.search(message)
        name = symbol and demangle(symbol[1])
        return (
            f"\n`{name}` is declared, and neither this library nor one that it is linked to defines it" if name else ""
        )
    if "." not in path or global_get(f"ffi.Module.load_from_file.{extension}") is None:
        found = next((name for name in (f"{path}.so", f"lib{path}.so") if os.path.isfile(name)), None)  # noqa: PTH113
        return f". Did you mean {found!r}?" if found else ". The file name of a compiled library ends with .so"
    return ""


def demangle(symbol: str) -> str:
    """Return the C++ declaration of a symbol, by the C++ library of the process; "" if that cannot demangle it."""
    import ctypes

    for library in ("libstdc++.so.6", None):
        try:
            loaded = ctypes.CDLL(library)
            convert, free = loaded.__cxa_demangle, ctypes.CDLL(None).free
        except (OSError, AttributeError):  # another C++ library, or none
            continue
        convert.restype = ctypes.c_void_p
        free.argtypes = (ctypes.c_void_p,)
        address = convert(symbol.encode(), None, None, None)
        if address:
            text = ctypes.string_at(address).decode(errors="replace")
            free(address)
            return _STRING.sub("std::string", text).replace(" >", ">")
    return ""
