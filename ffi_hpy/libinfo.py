"""The paths of this package's files, and functions that find and load the libraries of packages built on it.

The module reads files only, so that the command ffi-hpy-config, which uses it, works where the binary fails to load. A
program cannot import it there, because importing the package needs the binary.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ._system import find_binaries, is_of_another

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .module import Module

__all__ = [
    "find_cmake_path",
    "find_cython_lib",
    "find_debug_path",
    "find_dlpack_include_path",
    "find_include_path",
    "find_library",
    "find_libtvm_ffi",
    "find_nanobind_cmake_path",
    "find_nanobind_include_path",
    "find_pkgconfig_path",
    "find_python_helper_include_path",
    "find_source_path",
    "find_windows_implib",
    "include_paths",
    "load_lib_ctypes",
    "load_lib_module",
]

_HERE = Path(__file__).resolve().parent
_BINARIES = Path(find_binaries(str(_HERE)))

CROSS_ROOT = "FFI_HPY_CROSS_ROOT"
"""The environment variable that names a folder with ffi_hpy for another machine, filled by ``pip install --target``.
Builds are then for that machine: find_libtvm_ffi(), include_paths() and similar functions return that package's files.
If it has the binaries of several systems, FFI_HPY_CROSS_SYSTEM names one: see _across."""


# --- this package's own files ---------------------------------------------------------------------------------------


def find_libtvm_ffi() -> str:
    """Path of the core, libtvm_ffi. RuntimeError if the file is missing."""
    names = library_names("tvm_ffi", target_platform())
    return _own_file("the core", *(f"lib/{name}" for name in names), is_binary=True)


def find_windows_implib() -> str:
    """Path of tvm_ffi.lib, which a linker for Windows needs in place of the DLL. RuntimeError elsewhere."""
    return _own_file("the import library, which only packages for Windows have", "lib/tvm_ffi.lib", is_binary=True)


def find_include_path() -> str:
    """Folder of the headers: ``#include <tvm/ffi/c_api.h>``. RuntimeError if it is missing."""
    return str(Path(_own_file("the header tvm/ffi/c_api.h", "include/tvm/ffi/c_api.h")).parents[2])


def find_dlpack_include_path() -> str:
    """Folder of DLPack's header: ``#include <dlpack/dlpack.h>``. RuntimeError if it is missing."""
    return str(Path(_own_file("the header dlpack/dlpack.h", "include/dlpack/dlpack.h")).parents[1])


def include_paths() -> list[str]:
    """The folders that a compiler must search for headers, without duplicates."""
    return list(dict.fromkeys([find_include_path(), find_dlpack_include_path()]))


def find_cmake_path() -> str:
    """Folder for CMake's ``tvm_ffi_ROOT``, which has tvm_ffi-config.cmake. RuntimeError if it is missing."""
    return str(Path(_own_file("CMake's file", "share/cmake/tvm_ffi/tvm_ffi-config.cmake")).parent)


def find_pkgconfig_path() -> str:
    """Folder of tvm_ffi.pc, for ``PKG_CONFIG_PATH``. RuntimeError if it is missing."""
    return str(Path(_own_file("pkg-config's file", "share/pkgconfig/tvm_ffi.pc")).parent)


def find_debug_path() -> str:
    """Folder of the printers for debuggers, ffi_hpy_gdb.py and ffi_hpy_lldb.py. RuntimeError if it is missing."""
    return str(Path(_own_file("the printers' file", "share/debug/ffi_hpy_gdb.py")).parent)


def find_nanobind_cmake_path() -> str:
    """Folder for CMake's ``nanobind_ROOT``: nanobind's functions, for ffi_hpy. RuntimeError if it is missing."""
    return str(Path(_own_file("nanobind's CMake file", "_nanobind/cmake/nanobind-config.cmake")).parent)


def find_nanobind_include_path() -> str:
    """Folder of the headers ``<nanobind/...>``, which include headers of include_paths(). RuntimeError if it is
    missing."""
    header = Path(_own_file("nanobind's header", "_nanobind/include/nanobind/nanobind.h"))
    return str(header.parent.parent)


def find_source_path() -> str:
    """Folder for CMake's ``add_subdirectory``: like ``find_package``, but the core is built with the project."""
    return str(Path(_own_file("CMakeLists.txt", "CMakeLists.txt")).parent)


def find_cython_lib() -> str:
    """Path of the binding's binary. The name is tvm_ffi's; our binding does not use Cython."""
    suffix = "pyd" if target_platform() == "win32" else "so"
    return _own_file("the binding", f"_core.hpy0.{suffix}", is_binary=True)


def find_python_helper_include_path() -> str:
    """RuntimeError: tvm_ffi_python_helpers.h is an internal header of tvm_ffi's Cython module, which ffi_hpy does not
    have."""
    raise RuntimeError(
        "tvm_ffi_python_helpers.h declares the inside of tvm_ffi's Cython module, which ffi_hpy does not have; "
        "extensions use the C ABI of tvm/ffi/c_api.h, or global functions"
    )


def target_platform() -> str:
    """The target system of builds, as a value of sys.platform. RuntimeError if FFI_HPY_CROSS_ROOT names a package whose
    system cannot be determined."""
    package = _cross_package()
    return sys.platform if package is None else _cross_target(package)[0]


def _cross_package() -> Path | None:
    root = os.environ.get(CROSS_ROOT)
    return Path(root).absolute() / "ffi_hpy" if root else None


def _cross_target(package: Path) -> tuple[str, Path]:
    from ._across import find_target

    return find_target(package)


def _own_file(what: str, *names: str, is_binary: bool = False) -> str:
    package = _cross_package()
    if package is None:
        home = _BINARIES if is_binary else _HERE
    else:
        home = _cross_target(package)[1] if is_binary else package
    for name in names:
        path = home / name
        if path.is_file():
            return str(path)
    expected = " or ".join(str(home / name) for name in names)
    reason = "" if package is None else f", and {CROSS_ROOT} says to look there"
    raise RuntimeError(f"Cannot find {what}: expected {expected}{reason}")


# Functions that code written for tvm_ffi.libinfo calls.


def _resolve_and_validate(paths: Iterable[Path], cond: Callable[[Path], bool | Path]) -> str | None:
    """Return the first path, resolved, for which `cond` is true, or the Path that `cond` returns instead; None if there
    is none. A path for which either raises OSError or AssertionError is skipped."""
    for path in paths:
        try:
            resolved = path.resolve()
            answer = cond(resolved)
        except (OSError, AssertionError):
            continue
        if isinstance(answer, Path):
            return str(answer)
        if answer:
            return str(resolved)
    return None


def _rel_top_directory() -> Path:
    """The folder of the package."""
    return _HERE


def _dev_top_directory() -> Path:
    """The folder two levels above the package: the project's, if the package runs from its sources in python/."""
    return _HERE / ".." / ".."


def _split_env_var(env_var: str, split: str) -> list[str]:
    """The parts of an environment variable, stripped of blanks; [] if it is unset or empty."""
    text = os.environ.get(env_var, "")
    return [part.strip() for part in text.split(split)] if text else []


# --- libraries of other packages ------------------------------------------------------------------------------------


def load_lib_module(
    package: str, target_name: str, keep_module_alive: bool = True, extra_lib_paths: Sequence[Path] | None = None
) -> Module:
    """Load a library of another distribution as a module.

    Args:
        package: the name of the distribution, as for find_library(), whose errors apply.
        target_name: the library's name, without the system's prefix and suffix.
        keep_module_alive: as for load_module().
        extra_lib_paths: folders to search.

    Returns:
        The module.
    """
    from .module import load_module

    return load_module(find_library(package, target_name, extra_lib_paths), keep_module_alive)


def load_lib_ctypes(
    package: str, target_name: str, mode: str, extra_lib_paths: Sequence[Path] | None = None
) -> ctypes.CDLL:
    """Load a library of another distribution with ctypes.

    Args:
        package: the name of the distribution, as for find_library(), whose errors apply.
        target_name: the library's name, without the system's prefix and suffix.
        mode: "RTLD_GLOBAL", which shows its symbols to libraries that are loaded later, or "RTLD_LOCAL".
        extra_lib_paths: folders to search.

    Raises:
        ValueError: for another mode.
        OSError: if the file cannot be loaded, or if a registration of the library fails.
    """
    if mode not in ("RTLD_GLOBAL", "RTLD_LOCAL"):
        raise ValueError(f"mode must be 'RTLD_GLOBAL' or 'RTLD_LOCAL', got {mode!r}")
    return open_with_ctypes(str(find_library(package, target_name, extra_lib_paths)), mode)


def open_with_ctypes(path: str, mode: str = "RTLD_LOCAL") -> ctypes.CDLL:
    """Load a library with ctypes. OSError if it cannot be loaded, or if a registration of the library fails: ctypes
    alone would end the process then."""
    import ctypes

    from .module import open_library

    try:
        open_library(path)
    except RuntimeError as error:
        raise OSError(str(error)) from None
    return ctypes.CDLL(path, getattr(ctypes, mode))


def find_library(
    package: str,
    target_name: str,
    extra_lib_paths: Sequence[Path] | None = None,
    *,
    use_fallback_build_path: bool = True,
    use_env_path: bool = True,
) -> Path:
    """Find a shared library: ``lib<target_name>.so`` on Linux, or the system's name for it.

    The search order is: the files that the distribution lists, `extra_lib_paths`, the folders of an editable
    installation and of this package, the folders of the environment.

    Args:
        package: the name of the installed distribution (on PyPI), not of its module.
        target_name: the library's name, without the system's prefix and suffix.
        extra_lib_paths: folders.
        use_fallback_build_path: if `package` is installed as editable, search ``build/lib``, ``build`` and ``lib`` of
            its project and the folders of its Python packages, then the ``lib`` of ffi_hpy itself.
        use_env_path: search the folders of LD_LIBRARY_PATH (DYLD_LIBRARY_PATH on macOS), then of PATH.

    Returns:
        The path of the first match.

    Raises:
        RuntimeError: if there is none; the message lists the searched places.
        TypeError: if an item of `extra_lib_paths` is not a Path.
    """
    for i, folder in enumerate(extra_lib_paths or ()):
        if not isinstance(folder, Path):
            raise TypeError(f"extra_lib_paths[{i}] must be a pathlib.Path, got {type(folder).__name__}: {folder!r}")
    names = library_names(target_name)
    searched: list[str] = []
    listed = _in_distribution(package, names, searched)
    if listed is not None:
        return listed
    folders = [*(extra_lib_paths or ())]
    if use_fallback_build_path:
        folders += [*_project_folders(package), _BINARIES / "lib"]
    if use_env_path:
        folders += _folders_of_environment()
    for folder in dict.fromkeys(folders):
        searched.append(str(folder))
        for name in names:
            path = folder / name
            if path.is_file():
                return path.resolve()
    lines = "".join(f"\n  {place}" for place in searched)
    raise RuntimeError(f"Cannot find library {' or '.join(names)} of {package!r}; searched:{lines}")


_find_library_by_basename = find_library
"""tvm_ffi's name for find_library()."""


def library_names(target_name: str, platform: str = sys.platform) -> list[str]:
    """The possible file names of a shared library on a system, given as a value of sys.platform."""
    if platform == "win32":
        return [f"{target_name}.dll"]
    if platform == "darwin":
        return [f"lib{target_name}.dylib", f"lib{target_name}.so"]
    return [f"lib{target_name}.so"]


def _in_distribution(package: str, names: list[str], searched: list[str]) -> Path | None:
    """Return the library if a distribution lists it among its files; otherwise add the reason to `searched`."""
    from importlib import metadata

    try:
        files = metadata.distribution(package).files
    except metadata.PackageNotFoundError:
        searched.append(f"no distribution {package!r} is installed")
        return None
    if files is None:
        searched.append(f"the distribution {package!r}, which does not list its files")
        return None
    for file in files:
        if file.name in names:
            path = Path(str(file.locate()))
            if path.is_file():  # Python before 3.12 lists missing files, too
                found = path.resolve()
                if not is_of_another(str(found), str(_HERE)):
                    return found
    searched.append(f"the files that the distribution {package!r} lists")
    return None


def _project_folders(package: str) -> Iterator[Path]:
    """The folders with the build results of an editable installation's project. The record of PEP 610 has the path of
    the project.

    Setuptools builds into the package; top_level.txt names it.
    """
    import json
    from importlib import metadata
    from importlib.util import find_spec
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        distribution = metadata.distribution(package)
        text = distribution.read_text("direct_url.json")
        origin = json.loads(text) if text else {}
        if not origin.get("dir_info", {}).get("editable"):
            return
        project = Path(url2pathname(urlsplit(origin["url"]).path))
    except (metadata.PackageNotFoundError, ValueError, AttributeError, KeyError):
        return  # not installed, or installed without such a record
    for part in ("build/lib", "build", "lib"):
        yield project / part
    for name in (distribution.read_text("top_level.txt") or "").split():
        try:
            spec = find_spec(name)
        except (ImportError, ValueError):
            continue
        yield from map(Path, (spec.submodule_search_locations if spec is not None else None) or ())


def _folders_of_environment() -> list[Path]:
    variables = {"win32": (), "darwin": ("DYLD_LIBRARY_PATH",)}.get(sys.platform, ("LD_LIBRARY_PATH",))
    texts = [os.environ.get(variable, "") for variable in (*variables, "PATH")]
    return [Path(part) for text in texts for part in text.split(os.pathsep) if part]
