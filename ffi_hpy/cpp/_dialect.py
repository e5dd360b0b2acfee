"""How compilers are told what to do: in the words of GCC and clang, or in those of MSVC's cl and of clang-cl. The words
of GCC and clang are others where they build for Windows.

On macOS and Windows no build was ever run; the tests compare the words.
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
"""Placeholders in the words of a step: its output, and the file in which it lists what else it has read."""


@dataclass(frozen=True)
class Dialect:
    """The words of one family of compilers. A word may have OUT in it."""

    defaults: dict[str, tuple[str, ...]]
    """Flags before those of the user, by language: "c", "c++"."""
    list_headers: tuple[str, ...]
    """Has the compiler list what it has read."""
    lists_in: str
    """How ninja finds that list: in a file, "gcc", or in the output, "msvc"."""
    object_suffix: str
    compile: tuple[str, ...]
    """Before and after the source, with "" in its place."""
    link: tuple[str, ...]
    """Before the object files."""
    linker_flags: tuple[str, ...]
    """Between the object files and the flags for the linker."""
    made: tuple[str, ...]
    """At the end: the file to write."""
    asks_version: tuple[str, ...] = ("--version",)

    def compile_words(self, source: str) -> tuple[str, ...]:
        return (*self.list_headers, *(word or source for word in self.compile))

    def link_words(self, objects: Sequence[str], library: Path, flags: Sequence[str]) -> tuple[str, ...]:
        """The words after the compiler's command that link objects, with the core `library`, into OUT."""
        if self is GNU:
            core: tuple[str, ...] = (f"-L{library.parent}", "-ltvm_ffi")
        else:
            core = (str(library.with_suffix(".lib")),)
        return (*self.link, *objects, *self.linker_flags, *core, *flags, *self.made)


GNU = Dialect(
    defaults={"c": ("-fPIC", "-O2"), "c++": ("-std=c++17", "-fPIC", "-O2")},
    list_headers=("-MMD", "-MT", "object", "-MF", DEPENDENCIES),  # ninja knows for which output
    lists_in="gcc",
    object_suffix=".o",
    compile=("-c", "", "-o", OUT),
    link=("-shared",),
    linker_flags=(),
    made=("-o", OUT),
)

# All code for Windows can be anywhere, and clang refuses to be asked for it.
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
    # beside a library the linker writes two files, for those who link to it; nobody does
    made=(f"/OUT:{OUT}", f"/IMPLIB:{OUT}.lib"),
    asks_version=(),  # without an argument cl says it, and succeeds
)


def dialect_of(words: Sequence[str], platform: str = "") -> Dialect:
    """The dialect of a compiler, by the name of its program and by the system that it builds for, in Python's name for
    that. Which system that is does not matter to whoever asks the compiler for its version."""
    name = re.split(r"[/\\]", words[0])[-1].lower()
    if re.fullmatch(r"(clang-)?cl(-[\d.]+)?(\.exe)?", name):
        return MSVC
    return GNU_FOR_WINDOWS if platform == "win32" else GNU


def library_suffix(platform: str) -> str:
    """The suffix of a library's file name on a system, by Python's name for that."""
    return {"darwin": ".dylib", "win32": ".dll"}.get(platform, ".so")
