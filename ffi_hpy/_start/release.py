"""The release of apache-tvm-ffi that a process with the drop-in represents."""

from __future__ import annotations

import sys

from .fork import importing

__all__ = ["find_release", "is_before"]

_PACKAGE = (__package__ or "").rpartition(".")[0]


def find_release() -> str | None:
    """Return the version that importlib.metadata reports for apache-tvm-ffi. None unless this package was imported
    under the name tvm_ffi. Reads files."""
    if sys.modules.get("tvm_ffi") is not sys.modules[_PACKAGE]:
        return None
    with importing:
        from importlib.metadata import version
    return version("apache-tvm-ffi")


def is_before(release: tuple[int, int, int]) -> bool:
    """Whether the process represents an earlier release than that."""
    found = find_release()
    if found is None:
        return False
    with importing:
        import re
    return tuple(map(int, re.findall(r"\d+", found)[:3])) < release
