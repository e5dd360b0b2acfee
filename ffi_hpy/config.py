"""The command ffi-hpy-config: prints the paths of the headers and libraries for build systems.

`python -m ffi_hpy.config` runs the command too. The command reads files only, so it also works where the binary fails
to load.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from . import libinfo
from ._start.late import suggest_names
from ._start.version import PrintVersion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["main"]

if not TYPE_CHECKING:
    __getattr__ = suggest_names(__name__)

_READ_BY_CMD = sys.platform == "win32"  # the flags are read on this machine, for any target


def _is_for_windows() -> bool:
    return libinfo.target_platform() == "win32"


def _include_flags() -> str:
    return _words(*(f"-I{path}" for path in libinfo.include_paths()))


def _words(*words: str) -> str:
    """Join words for ``$(ffi-hpy-config ...)``, which does not interpret quotes. If a folder's name has a space, the
    words are quoted for a second reading by a shell: eval, make, CMake's separate_arguments()."""
    is_quoted = not _READ_BY_CMD and any(len(word.split()) > 1 for word in words)
    return shlex.join(words) if is_quoted else " ".join(words)


def _find_libdir() -> str:
    return str(Path(libinfo.find_libtvm_ffi()).parent)


def _library_file() -> str:
    return libinfo.find_windows_implib() if _is_for_windows() else libinfo.find_libtvm_ffi()


def _libs() -> str:
    return _words(libinfo.find_windows_implib() if _is_for_windows() else "-ltvm_ffi")


def _linker_flags() -> str:
    return "" if _is_for_windows() else _words(f"-L{_find_libdir()}")


# The options, in the order in which tvm-ffi-config prints the answers: a function that returns the answer, and the
# help.
_ANSWERS: dict[str, tuple[Callable[[], str], str]] = {
    "--includedir": (libinfo.find_include_path, "folder of the headers"),
    "--dlpack-includedir": (libinfo.find_dlpack_include_path, "folder of DLPack's header"),
    "--cmakedir": (libinfo.find_cmake_path, "folder of tvm_ffi-config.cmake, for CMake's tvm_ffi_ROOT"),
    "--nanobind-includedir": (
        libinfo.find_nanobind_include_path,
        "folder of the headers <nanobind/...>, for sources that were written for nanobind",
    ),
    "--nanobind-cmakedir": (
        libinfo.find_nanobind_cmake_path,
        "folder of nanobind-config.cmake, for CMake's nanobind_ROOT",
    ),
    "--pkgconfigdir": (libinfo.find_pkgconfig_path, "folder of tvm_ffi.pc, for PKG_CONFIG_PATH"),
    "--debugdir": (libinfo.find_debug_path, "folder of the printers for gdb and lldb"),
    "--libdir": (_find_libdir, "folder of the library"),
    "--libfiles": (_library_file, "path of the library to link with"),
    "--sourcedir": (libinfo.find_source_path, "folder for CMake's add_subdirectory"),
    "--cython-lib-path": (libinfo.find_cython_lib, "path of the binding's binary"),
    "--cxxflags": (lambda: f"{_include_flags()} -std=c++17", "flags for a C++ compiler"),
    "--cflags": (_include_flags, "flags for a C compiler"),
    "--libs": (_libs, "the library, for a linker"),
    "--ldflags": (_linker_flags, "flags for a linker"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each option, in the order of the help. Returns the exit status: 1 if a file is missing."""
    parser = argparse.ArgumentParser(
        prog="ffi-hpy-config", description="Print where the headers and the libraries of ffi_hpy are, a line each."
    )
    parser.add_argument("--version", action=PrintVersion)
    for option, (_, text) in _ANSWERS.items():
        parser.add_argument(option, action="store_true", help=text)
    wanted = parser.parse_args(arguments)
    asked = [option for option in _ANSWERS if getattr(wanted, option[2:].replace("-", "_"))]
    if not asked:
        parser.print_help()
        return 0
    try:
        print(*(_ANSWERS[option][0]() for option in asked), sep="\n")
    except RuntimeError as error:
        print(f"ffi-hpy-config: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
