"""What differs between the systems that are built for: how files are called, and what the compiler and the linker are
told.

The flags are those of clang, which zig and the compiler of macOS are. MSVC's cl is not served: on Windows the HPy
runtime has jumps in assembly, in clang's syntax.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath


def is_library(output: str) -> bool:
    """Return whether a binary is a library, to which others may be linked, and no module."""
    return output.startswith("lib/")


@dataclass(frozen=True)
class System:
    """One system. `{}` in its texts is the name of what is linked."""

    name: str  # as in the names of targets
    library: str  # file name of a library; `{}` is its name for linkers
    module: str  # suffix of an extension module
    compile_flags: tuple[str, ...]  # after those for all systems
    link_flags: tuple[str, ...]  # of everything
    libraries: tuple[str, ...]  # of the system, where no stand-ins take their place
    named: tuple[str, ...] = ()  # a library has this name for those that are linked to it
    named_module: tuple[str, ...] = ()  # and a module, where it would have the name of the build's folder
    complete: tuple[str, ...] = ()  # a name that nothing has is an error
    of_python: tuple[str, ...] = ()  # or is the interpreter's
    stays: tuple[str, ...] = ()  # the library is never unloaded
    rpath: str = ""  # where libraries are looked for; `{}` is the folder as seen from the binary, with a slash before
    has_import_libraries: bool = False  # others are linked to a second file, which says what the first has

    def rename(self, output: str) -> str:
        """Return what a binary is called that Linux calls `output`."""
        path = PurePosixPath(output)
        if is_library(output):
            return str(path.with_name(self.library.format(path.stem[len("lib") :])))
        return str(path.with_suffix(self.module))

    def link_words(self, output: str, stays: bool, of_python: bool, libraries: str | None) -> list[str]:
        """Return the flags with which a binary is linked; `libraries` is the folder of those that it needs."""
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
                "-Wl,--hash-style=gnu",  # without the older table of symbols, which no glibc or musl in use needs
            ),
            libraries=("-lpthread", "-ldl", "-lm"),
            named=("-Wl,-soname,{}",),
            complete=("-Wl,--no-undefined",),
            stays=("-Wl,-z,nodelete",),
            rpath="-Wl,-rpath,$ORIGIN{}",
        ),
        # Names belong to the library that had them when a binary was linked, but for those of Python, which are looked
        # up in all: the interpreter is a program here, a library there. dyld itself never unloads what has thread-local
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
        # A module finds tvm_ffi.dll because it is loaded already, or because its folder was announced to the system.
        # The library of Python has another name in each version, so nothing is linked to it: see windows_names.h.
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
