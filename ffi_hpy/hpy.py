"""Loads any HPy universal module: `load` takes a file, `install` makes `import` find `*.hpy0.so` files.

Modules run on the interpreter's HPy runtime if that has the function table of HPy 0.9.0 (PyPy 7.3 up to 7.3.17),
otherwise on the package's own HPy 0.9 runtime. This file needs only that runtime from the package: copied into a folder
together with `_hpy.so`, for PyPy with `_hpy.py`, `_hpy_choice.py` and `_hpy_pypy.so`, it is a complete HPy runtime.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder, ModuleSpec, PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

__all__ = ["SUFFIX", "abi_version", "context_name", "install", "load", "uninstall"]

SUFFIX = ".hpy0.pyd" if sys.platform == "win32" else ".hpy0.so"
"""The suffix of a universal module's file name."""

abi_version = 0
"""The major version of the HPy ABI that modules must be built for."""

_BUILT_IN = "_hpy_universal"  # PyPy 7.3's own runtime


def _import_runtime() -> Any:
    """Import the runtime: the interpreter's, or that in the folder of this file, whether or not that is the package."""
    if _BUILT_IN in sys.builtin_module_names:
        if TYPE_CHECKING or __package__:
            from ._hpy_choice import choose, look
        else:
            from _hpy_choice import choose, look
        if choose(*look()) == _BUILT_IN:
            import _hpy_universal  # type: ignore[import-not-found,unused-ignore]

            return _hpy_universal
    if TYPE_CHECKING or __package__:
        from . import _hpy
    else:
        import _hpy
    return _hpy


_runtime = _import_runtime()


def context_name() -> str:
    """Return the name of the HPy context that modules are loaded into, as in `HPyContext.name`."""
    # PyPy does not expose the name of its context to Python.
    return "HPy Universal ABI (PyPy)" if _runtime.__name__ == _BUILT_IN else str(_runtime.context_name)


def load(
    name: str,
    path: str | bytes | os.PathLike[str] | os.PathLike[bytes],
    spec: ModuleSpec | None = None,
    *,
    debug: bool | None = None,
    trace: bool = False,
) -> ModuleType:
    """Load a universal module from a file, and run it. `sys.modules` is unchanged.

    The attributes `__spec__`, `__loader__` and `__package__` are set before the module runs, as importlib does.

    Args:
        name: the module's name. The names of the file's entry points end in its last component.
        path: the file. The name of the file contains the ABI: `module.hpy0.so`.
        spec: importlib's spec of the module.
        debug: whether to detect misused handles: see ffi_hpy.hpy_debug. None (also for imported modules) means the mode
            in which the file was loaded before, or else FFI_HPY_DEBUG in the environment (1 or 0).
        trace: whether to count the calls of each HPy function, for `hpy.trace` of ffi_hpy.dropin.

    Returns:
        The module.

    Raises:
        ImportError: for a file that is truncated or damaged, is not an HPy module of that name, or is built for another
            ABI.
        RuntimeError: for a module that needs another version of HPy.
        ValueError: for a NUL in `name` or `path`.
        Exception: any exception that the module itself raises. Each exception names the file, in its text or in a note
            (`__notes__`).
    """
    file = os.fsdecode(path)
    for what, text in (("name", name), ("path", file)):
        if "\0" in text:
            raise ValueError(f"expected a {what} without a NUL, got {text!r}")
    try:
        _check_hybrid_tag(file)
        return _load(name, file, spec, debug, trace)
    except Exception as error:
        _name_file(error, name, file)
        raise


def _load(name: str, file: str, spec: ModuleSpec | None, debug: bool | None, trace: bool) -> ModuleType:
    module: ModuleType
    if _runtime.__name__ != _BUILT_IN:
        module = _runtime.load(name, file, spec, trace=True) if trace else _runtime.load(name, file, spec, debug=debug)
        return module
    if debug or trace:
        mode = "debug" if debug else "trace"
        raise ImportError(f"the {mode} mode is that of ffi_hpy's own HPy runtime, and this PyPy has one itself")
    if spec is None:
        spec = ModuleSpec(name, HPyLoader(name, file), origin=file)
    if not os.path.exists(file):  # noqa: PTH110 - pathlib costs 5 ms of import time
        raise ImportError(f"cannot load {file}: no such file")
    _check_file(file)
    # Arguments: __name__, __file__, __package__, the file to open, __loader__, __spec__, and the environment variables,
    # which may contain HPY=debug.
    try:
        module = _runtime._load_bootstrap(name, file, spec.parent, file, spec.loader, spec, {})
    except RuntimeError as error:
        if "Cannot locate the required minimal HPy versions" not in str(error):
            raise
        short_name = name.rpartition(".")[2]
        raise ImportError(f"{file} is not an HPy universal module named {short_name!r}: {error}") from None
    return module


def _check_file(file: str) -> None:
    """Raise ImportError for a file that is truncated, damaged or not a library. PyPy's runtime does not check that; our
    core does."""
    if not __package__:  # this file is used without the package
        return
    from .module import check_library_file

    try:
        check_library_file(file)
    except RuntimeError as error:
        raise ImportError(str(error)) from None


def _check_hybrid_tag(file: str) -> None:
    """Raise ImportError for a file whose name, as in `module.hpy0-cp311.so`, ties it to another interpreter."""
    _, found, tag = os.path.basename(file).partition(".hpy0-")  # noqa: PTH119
    if not found:
        return
    ours = "-".join(EXTENSION_SUFFIXES[0].lstrip(".").split("-")[:2]).replace("cpython-", "cp")
    if tag.partition(".")[0] != ours:
        raise ImportError(
            f"{file} is built for HPy's hybrid ABI and the interpreter {tag.partition('.')[0]}, and this is {ours}: "
            f"only universal modules (module{SUFFIX}) serve every interpreter"
        )


def _name_file(error: BaseException, name: str, file: str) -> None:
    """Add the name and path that the import system adds to an exception."""
    if isinstance(error, ImportError):
        error.name, error.path = error.name or name, error.path or file
    if file in str(error):
        return
    try:
        error.__notes__ = [  # type: ignore[attr-defined,unused-ignore] # add_note() is new in 3.11
            *getattr(error, "__notes__", ()),
            f"raised while the HPy module {name!r} was loaded from {file}",
        ]
    except (AttributeError, TypeError):  # an exception without a dictionary
        pass


# --- import ---------------------------------------------------------------------------------------------------------


class HPyLoader(ExtensionFileLoader):
    """Loads a universal module for the import system. HPy makes and runs a module in one step."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return load(spec.name, self.path, spec)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: create_module runs the module. A reload changes nothing, as with any extension module."""

    def is_package(self, fullname: str) -> bool:
        return os.path.basename(self.path) == f"__init__{SUFFIX}"  # noqa: PTH119


class HPyFinder:
    """Finds universal modules on `sys.path`, or on a package's `__path__`, where other extension modules would be.

    Universal modules precede source files in the same folder, because HPy's builds put a `module.py` that imports
    another runtime next to the binary. Modules in an earlier folder precede both.
    """

    def __init__(self) -> None:
        self._folders: dict[str, FileFinder] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        entries = list(sys.path if path is None else path)
        for i, entry in enumerate(entries):
            if not isinstance(entry, str):
                continue
            spec = self._folder(entry).find_spec(fullname, target)
            if spec is None or spec.loader is None:  # None: this folder may be part of a namespace package
                continue
            earlier = PathFinder.find_spec(fullname, entries[:i], target)
            if earlier is not None and earlier.loader is not None:
                return None
            return None if _is_before(PathFinder.find_spec(fullname, [entry], target), spec) else spec
        return None

    def invalidate_caches(self) -> None:
        for folder in list(self._folders.values()):
            folder.invalidate_caches()

    def _folder(self, entry: str) -> FileFinder:
        """Return the finder of a folder. The finder caches the folder's content until the folder changes."""
        try:
            entry = entry or os.getcwd()  # noqa: PTH109
        except FileNotFoundError:  # the working directory no longer exists
            entry = os.sep + "nowhere"
        folder = self._folders.get(entry)
        if folder is None:
            folder = self._folders.setdefault(entry, FileFinder(entry, (HPyLoader, [SUFFIX])))
        return folder


def _is_before(other: ModuleSpec | None, spec: ModuleSpec) -> bool:
    """Return whether the spec that Python itself found in the same folder precedes our `spec`: packages come first."""
    if other is None or other.loader is None:
        return False
    if (other.submodule_search_locations is None) != (spec.submodule_search_locations is None):
        return spec.submodule_search_locations is None
    return isinstance(other.loader, ExtensionFileLoader)


_finder = HPyFinder()


def install() -> None:
    """Make `import` find universal modules. A second call changes nothing."""
    if _finder in sys.meta_path:
        return
    finders: list[Any] = sys.meta_path
    before = [i for i, finder in enumerate(finders) if finder is PathFinder]
    finders.insert(before[0] if before else len(finders), _finder)


def uninstall() -> None:
    """Undo `install`. Imported modules stay."""
    finders: list[Any] = sys.meta_path
    if _finder in finders:
        finders.remove(_finder)
