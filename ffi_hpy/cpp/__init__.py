"""Compiles C, C++ and CUDA, inline or from files, and loads the result: needs ninja and a compiler, both the user's.

    module = ffi_hpy.cpp.load_inline("hello", cpp_sources="int twice(int x) { return 2 * x; }", functions="twice")
    assert module.twice(21) == 42

What was built is kept, and found again by its content: docs/cpp.md has the rules.
"""

from __future__ import annotations

from ._errors import BuildError
from .dtype import to_cpp_dtype
from .extension import build, build_inline, load, load_inline

__all__ = ["BuildError", "build", "build_inline", "load", "load_inline", "to_cpp_dtype"]
