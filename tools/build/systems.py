"""The differences between the target systems: file names, and flags for the compiler and the linker.

The flags are those of clang, which includes zig and the compiler of macOS. MSVC's cl is not supported: on Windows the
HPy runtime has jumps in assembly, in clang's syntax.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath


def is_library(output: str) -> bool:
    """Return whether a binary is a library, to which others may be linked, rather than a module."""
    return output.startswith("lib/")


@dataclass(frozen=True)
class System:
    """One system. `{}` in its strings is the name of the linked file."""

    name: str  # as in the names of targets
    library: str  # file name of a library; `{}` is its name for linkers
    module: str  # suffix of an extension module
    compile_flags: tuple[str, ...]  # after the common flags
    link_flags: tuple[str, ...]  # for all binaries
    libraries: tuple[str, ...]  # of the system, unless stand-ins replace them
    named: tuple[str, ...] = ()  # sets the name of a library for binaries that are linked to it
    named_module: tuple[str, ...] = ()  # sets the name of a module, which would otherwise contain the build folder
    complete: tuple[str, ...] = ()  # makes an unresolved symbol an error
    of_python: tuple[str, ...] = ()  # leaves symbols of the interpreter unresolved
    stays: tuple[str, ...] = ()  # keeps the library loaded
    rpath: str = ""  # search path for libraries; `{}` is the folder relative to the binary, with a slash before
    has_import_libraries: bool = False  # others are linked to a second file, which lists the symbols of the first

    def rename(self, output: str) -> str:
        """Return the file name of a binary on this system; `output` is the name on Linux."""
        path = PurePosixPath(output)
        if is_library(output):
            return str(path.with_name(self.library.format(path.stem[len("lib") :])))
        return str(path.with_suffix(self.module))

    def link_words(self, output: str, stays: bool, of_python: bool, libraries: str | None) -> list[str]:
        """Return the link flags of a binary; `libraries` is the folder of the libraries that it needs."""
        path = PurePosixPath(output)
        words = [word.format(path.name) for word in (self.named if is_library(output) else self.named_module)]
        words += [*(self.of_python if of_python else self.complete), *(self.stays if stays else ())]
        if libraries is not None and self.rpath:
            words.append(self.rpath.format(f"/{libraries}" if libraries else ""))
        return [*words, *self.link_flags]


SYSTEMS = {
    system.name: system
    for system in (
        System(
            "linux",
            library="lib{}.so",
            module=".so",
            compile_flags=("-fPIC", "-fno-plt"),
            link_flags=(
                *("-Wl,--gc-sections", "-Wl,--as-needed"),
                "-Wl,--hash-style=gnu",  # omits the older symbol table, which no current glibc or musl needs
            ),
            libraries=("-lpthread", "-ldl", "-lm"),
            named=("-Wl,-soname,{}",),
            complete=("-Wl,--no-undefined",),
            stays=("-Wl,-z,nodelete",),
            rpath="-Wl,-rpath,$ORIGIN{}",
        ),
        # A symbol belongs to the library that defined it at link time. Only Python's symbols are looked up in all
        # libraries: the interpreter may be a program or a library. dyld never unloads a library with thread-local
        # variables.
        System(
            "macos",
            library="lib{}.dylib",
            module=".so",
            compile_flags=("-fPIC",),
            link_flags=("-Wl,-dead_strip",),
            libraries=(),  # libSystem has everything
            named=("-Wl,-install_name,@rpath/{}",),
            named_module=("-Wl,-install_name,@rpath/{}",),
            of_python=("-Wl,-undefined,dynamic_lookup",),
            rpath="-Wl,-rpath,@loader_path{}",
        ),
        # A module finds tvm_ffi.dll because it is loaded already, or because its folder was added to the DLL search
        # path. Python's library has a different name in each version, so nothing is linked to it: see windows_names.h.
        System(
            "windows",
            library="{}.dll",
            module=".pyd",
            compile_flags=("-fno-sanitize=undefined",),
            link_flags=("-Wl,--gc-sections",),
            libraries=("-lapi-ms-win-core-synch-l1-2-0",),
            has_import_libraries=True,
        ),
    )
}
