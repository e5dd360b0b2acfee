"""The compilers of this machine: for C, for C++, for CUDA."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.messages import Missing

if TYPE_CHECKING:
    from collections.abc import Sequence


def find_c_compiler() -> list[str]:
    """Return the command words of a C compiler for this machine: CC, or cc, gcc, clang on PATH. Raises Missing."""
    return _find_compiler("C", "CC", ("cc", "gcc", "clang"))


def find_cxx_compiler() -> list[str]:
    """Return the command words of a C++ compiler for this machine: CXX, or c++, g++, clang++. Raises Missing."""
    return _find_compiler("C++", "CXX", ("c++", "g++", "clang++"))


def find_gcc_cxx() -> list[str]:
    """Return the command words of GCC's C++ compiler. Raises Missing."""
    if shutil.which("g++") is None:
        raise Missing("g++ is not on PATH; install it")
    return ["g++"]


def _find_compiler(language: str, variable: str, commands: Sequence[str]) -> list[str]:
    named = os.environ.get(variable, "").split()
    for words in [named] if named else [[command] for command in commands]:
        if shutil.which(words[0]):
            return words
    tried = f"{variable} names {named[0]}, which is not there" if named else f"none of {', '.join(commands)} on PATH"
    raise Missing(f"no {language} compiler: {tried}; install one, or set {variable}")


def find_nvcc() -> str | None:
    """Return the path of CUDA's compiler from CUDA_HOME, CUDA_PATH, PATH or the usual place, or None."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    first, second, usual = [str(Path(home, "bin")) if home else "" for home in homes]
    return shutil.which("nvcc", path=os.pathsep.join([first, second, os.environ.get("PATH", ""), usual]))
