"""The release of apache-tvm-ffi that a process with the drop-in answers for."""

from __future__ import annotations

import sys

from .fork import import_whole

__all__ = ["find_release", "is_before"]

_PACKAGE = (__package__ or "").rpartition(".")[0]


def find_release() -> str | None:
    """The version that importlib.metadata reports of apache-tvm-ffi. None if nobody has imported this package under
    the name tvm_ffi. Looks for files."""
    if sys.modules.get("tvm_ffi") is not sys.modules[_PACKAGE]:
        return None
    version: str = import_whole("importlib.metadata").version("apache-tvm-ffi")
    return version


def is_before(release: tuple[int, int, int]) -> bool:
    """Whether the process answers for an earlier release than that."""
    found = find_release()
    return found is not None and tuple(map(int, import_whole("re").findall(r"\d+", found)[:3])) < release
