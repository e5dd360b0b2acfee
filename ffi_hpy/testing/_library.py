"""Loads the testing library, whose types and functions are named `testing.*`.

The file is `lib/libtvm_ffi_testing.so` of the package, with the soname of apache-tvm-ffi's library, so libraries that
are linked to that find this one. The first testing library in a process stays: a process that loaded apache-tvm-ffi's
before keeps it. `load_module` refuses to load another one afterwards, because a process cannot have two.
"""

from __future__ import annotations

import os

from .. import _core
from .._start.load import library_path
from ..module import _LOADED_ALONE, load_module

__all__ = ["TESTING_LIBRARY", "load"]

TESTING_LIBRARY = library_path("tvm_ffi_testing")
"""Path of the library."""


def load() -> None:
    """Load the library unless a testing library is loaded already. ImportError if that fails."""
    if _core.global_get("testing.echo") is not None:
        return
    try:
        load_module(TESTING_LIBRARY)
    except RuntimeError as error:
        raise ImportError(f"{TESTING_LIBRARY} cannot be loaded: {error}", path=TESTING_LIBRARY) from error
    if _core.global_get("testing.echo") is None:  # the library printed the reason on stderr
        raise ImportError(f"{TESTING_LIBRARY} registered nothing", path=TESTING_LIBRARY)
    _LOADED_ALONE[os.path.basename(TESTING_LIBRARY)] = TESTING_LIBRARY  # noqa: PTH119
