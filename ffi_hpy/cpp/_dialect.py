"""The command-line flags of compilers: of GCC and clang, or of MSVC's cl and clang-cl. GCC and clang have different
flags when they build for Windows.

Builds on macOS and Windows are untested; the tests compare the words of the commands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DEPENDENCIES", "GNU", "GNU_FOR_WINDOWS", "MSVC", "OUT", "Dialect", "dialect_of", "library_suffix"]

OUT, DEPENDENCIES = "\0out", "\0dependencies"
"""Placeholders in the words of a step: its output, and the file in which it lists its further inputs."""


@dataclass(frozen=True)
class Dialect:
    """The flags of one family of compilers. A word may contain OUT."""

    defaults: dict[str, tuple[str, ...]]
    """Default flags by language, "c" or "c++", before the user's flags."""
    list_headers: tuple[str, ...]
    """Flags that make the compiler list its input files."""
    lists_in: str
    """Where ninja finds that list: in a file, "gcc", or in the output, "msvc"."""
    object_suffix: str
    compile: tuple[str, ...]
    """The words around the source file; "" stands for the source."""
    link: tuple[str, ...]
    """The words before the object files."""
    linker_flags: tuple[str, ...]
    """The words between the object files and the flags for the linker."""
    made: tuple[str, ...]
    """The last words: the file to write."""
    asks_version: tuple[str, ...] = ("--version",)

    def compile_words(self, source: str) -> tuple[str, ...]:
        return (*self.list_headers, *(word or source for word in self.compile))

    def link_words(self, objects: Sequence[str], library: Path, flags: Sequence[str]) -> tuple[str, ...]:
        """Return the words after the compiler's command that link objects, with the core `library`, into OUT."""
        if self is GNU:
            core: tuple[str, ...] = (f"-L{library.parent}", "-ltvm_ffi")
        else:
            core = (str(library.with_suffix(".lib")),)
        return (*self.link, *objects, *self.linker_flags, *core, *flags, *self.made)


GNU = Dialect(
    defaults={"c": ("-fPIC", "-O2"), "c++": ("-std=c++17", "-fPIC", "-O2")},
    list_headers=("-MMD", "-MT", "object", "-MF", DEPENDENCIES),  # ninja knows the output
    lists_in="gcc",
    object_suffix=".o",
    compile=("-c", "", "-o", OUT),
    link=("-shared",),
    linker_flags=(),
    made=("-o", OUT),
)

# All code for Windows is position-independent, and clang rejects -fPIC there.
GNU_FOR_WINDOWS = replace(GNU, defaults={"c": ("-O2",), "c++": ("-std=c++17", "-O2")})

_MSVC_FLAGS = ("/nologo", "/O2", "/MD", "/utf-8")
MSVC = Dialect(
    defaults={"c": (*_MSVC_FLAGS, "/std:c11"), "c++": (*_MSVC_FLAGS, "/std:c++17", "/EHsc", "/Zc:__cplusplus")},
    list_headers=("/showIncludes",),
    lists_in="msvc",
    object_suffix=".obj",
    compile=("/c", "", f"/Fo{OUT}"),
    link=("/nologo", "/LD"),
    linker_flags=("/link",),
    # the linker also writes two files for linking to this library, which are unused
    made=(f"/OUT:{OUT}", f"/IMPLIB:{OUT}.lib"),
    asks_version=(),  # cl without arguments prints its version and succeeds
)


def dialect_of(words: Sequence[str], platform: str = "") -> Dialect:
    """Return the dialect of a compiler, from the name of its program and the target system as a value of sys.platform.
    The system is irrelevant for asking the compiler for its version."""
    name = re.split(r"[/\\]", words[0])[-1].lower()
    if re.fullmatch(r"(clang-)?cl(-[\d.]+)?(\.exe)?", name):
        return MSVC
    return GNU_FOR_WINDOWS if platform == "win32" else GNU


def library_suffix(platform: str) -> str:
    """Return the suffix of a library's file name on a system, given as a value of sys.platform."""
    return {"darwin": ".dylib", "win32": ".dll"}.get(platform, ".so")
