"""The names under which a library file exports functions."""

from __future__ import annotations

from .._start.fork import importing

__all__ = ["exported_names"]


def exported_names(path: str) -> list[str]:
    """Return the functions that the library at a path exports by symbols `__tvm_ffi_<name>`, sorted; none if the file
    cannot be read. The whole file is searched, whatever its format (macOS puts an underscore before each name). Names
    that begin with an underscore are the ABI's own and are left out."""
    with importing:
        import mmap
        import re
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs import time
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # no such file, or an empty one
        return []
    with mapped:
        found = re.findall(rb"\0_?__tvm_ffi_([A-Za-z0-9]\w*)(?=\0)", mapped)
    return sorted({name.decode() for name in found})
