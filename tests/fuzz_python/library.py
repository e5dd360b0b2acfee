"""The library that the fuzzer calls beside the package: tests/python/native/bound_fuzzed.cc, compiled."""

from __future__ import annotations

import os
import sys
from pathlib import Path

NAME = "bound_fuzzed"
_VARIABLE = "FFI_HPY_FUZZED_LIBRARY"


def library() -> Path:
    """Return the path of the library. The cache of the tests has it, unless a source or header has changed.

    The path is in the environment from then on, so that child processes do not ask the cache.
    """
    known = os.environ.get(_VARIABLE)
    if known is None:
        known = os.environ[_VARIABLE] = str(_compiled())
    return Path(known)


def _compiled() -> Path:
    tests = str(Path(__file__).resolve().parents[1] / "python")
    sys.path.append(tests)
    try:
        from support.native_build import PACKAGE, Missing, compile_cxx
    finally:
        sys.path.remove(tests)
    try:
        return compile_cxx(f"{NAME}.cc", PACKAGE / "include", "-fvisibility=hidden", link=("-pthread",))
    except Missing as reason:
        raise SystemExit(str(reason)) from None
