"""Compiles C, C++ and CUDA, inline or from files, and loads the result. Needs ninja and a compiler, installed by the
user.

Results are cached by their content: docs/cpp.md has the rules. Any number of threads and processes may build at the
same time.
"""

from __future__ import annotations

from ._errors import BuildError
from .dtype import to_cpp_dtype
from .extension import build, build_inline, load, load_inline

__all__ = ["BuildError", "build", "build_inline", "load", "load_inline", "to_cpp_dtype"]
