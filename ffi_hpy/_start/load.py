"""Loads `_core`: the C binding, or on PyPy the cffi backend on top of it, if that is usable.

`_core.CALLS` is the path of calls of native functions, "cffi" or "binding", and `_core.CALLS_REASON` is the reason for
not using cffi. `_core.SHORT_CALLS_KEEP_GIL` is whether short functions are faster if they keep the GIL: cffi releases
the GIL in each call, and such a call costs less than a call of the binding.

FFI_HPY_CFFI=0 in the environment selects the C binding alone. FFI_HPY_CFFI=1 requires the cffi backend: if it cannot be
used, the import raises ImportError. On CPython the backend needs the PyPI package cffi, for its module _cffi_backend,
and the GIL; calls are slower than through the C binding, but tests of both bindings can run on one interpreter.

The binding is loaded into an HPy context: PyPy 7.3 has one, for other interpreters the package contains its own,
`_hpy`; _hpy_choice finds the file.

FFI_HPY_DEBUG=1 in the environment selects our debug mode, which detects handles that are misused or not closed: see
hpy_debug. FFI_HPY_CONTEXT=universal or =debug selects the PyPI package hpy and its debug mode instead.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

_PACKAGE = __name__.rsplit(".", 2)[0]  # in Python 3.9 a module from a zip file has no __package__
_NAME = f"{_PACKAGE}._core"
_BUILT_AS = "ffi_hpy"
"""The package's name unless it is part of another package."""
# pathlib costs 5 ms of import time
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120

_BINARIES = _HERE
if os.path.isdir(os.path.join(_HERE, "_systems")):  # noqa: PTH112, PTH118 - the wheel for every system
    from .._system import find_binaries

    _BINARIES = find_binaries(_HERE)

_LIBRARY, _MODULE = {"win32": ("{}.dll", "pyd"), "darwin": ("lib{}.dylib", "so")}.get(sys.platform, ("lib{}.so", "so"))


def library_path(name: str) -> str:
    """Return the path of a library of the package, by its name for linkers, without prefix and suffix."""
    return os.path.join(_BINARIES, "lib", _LIBRARY.format(name))  # noqa: PTH118


CORE_LIBRARY = library_path("tvm_ffi")
"""Path of the core. The binding finds the core by itself and makes its symbols global, as libraries for tvm-ffi expect.
"""
_BINDING = os.path.join(_BINARIES, f"_core.hpy0.{_MODULE}")  # noqa: PTH118


def refuse_finalizer(cls: type) -> None:
    """TypeError for a subclass of a native class that has or inherits `__del__`, on PyPy: PyPy's finalizer of an object
    from C does not expect one, and ends the process."""
    if hasattr(cls, "__del__") and any(native in cls.__mro__ for native in _unfinalizable):
        raise TypeError(
            f"{cls.__name__}.__del__: this PyPy cannot finalize instances of native classes; use weakref.finalize"
        )


_unfinalizable: list[type] = []
_BASES = ("CObject", "FieldSlot", "PlainValue", "Schema")
"""The native classes that have no native base and may have Python subclasses."""


_BASES_WITHOUT_METACLASS = ("Function", "Tensor")
"""The native classes whose Python subclasses are not made by ObjectMeta."""


def _watch_subclasses(native: type, notice: Callable[[type], None]) -> None:
    """Call notice() for each class that derives from `native` from now on."""

    def init_subclass(cls: type, /, **options: Any) -> None:
        super(native, cls).__init_subclass__(**options)  # type: ignore[arg-type]
        notice(cls)

    native.__init_subclass__ = classmethod(init_subclass)  # type: ignore[assignment]


def load() -> ModuleType:
    """Load `_core`, make it the package's module of that name, and return it; a second call returns the same module.

    ImportError names the missing file or interpreter feature, or the unsupported system.
    """
    loaded = sys.modules.get(_NAME)
    if loaded is not None:
        return loaded
    if sys.platform == "win32" and sys.implementation.name == "pypy":
        raise ImportError(
            f"PyPy on Windows is not supported: {_PACKAGE} has no HPy runtime for it; use CPython, or PyPy elsewhere"
        )
    if _BINARIES != _HERE and not os.path.isdir(_BINARIES):  # noqa: PTH112
        from .._system import describe_lack

        raise ImportError(f"{_PACKAGE} {describe_lack(_HERE)}", path=_BINARIES)
    for path in (CORE_LIBRARY, _BINDING):
        if not os.path.exists(path):  # noqa: PTH110
            _refuse_archive()
            what = f"{_PACKAGE} is not built or not installed completely: {path} is missing{_way_out()}"
            raise ImportError(what, path=path)
    # Set if an earlier import failed after loading the binding, which cannot be loaded twice.
    binding = sys.modules.get(f"{_PACKAGE}._binding") or _load_into(os.environ.get("FFI_HPY_CONTEXT", ""))
    if _PACKAGE != _BUILT_AS:
        _rename_classes(binding)
    module, reason = _choose(binding)
    module.CALLS = "binding" if reason else "cffi"  # type: ignore[attr-defined]
    module.CALLS_REASON = reason  # type: ignore[attr-defined]
    module.SHORT_CALLS_KEEP_GIL = bool(reason)  # type: ignore[attr-defined]
    _enter("_core", module)
    return module


def _refuse_archive() -> None:
    """ImportError if the package is in a zip file."""
    place = _HERE
    while place and not os.path.exists(place):  # noqa: PTH110
        place = os.path.dirname(place)  # noqa: PTH120
    if place != _HERE and os.path.isfile(place):  # noqa: PTH113
        raise ImportError(
            f"{_PACKAGE} cannot be imported from a zip file, {place}, because the system's loader takes binaries from"
            " files only: install it with pip, or unpack it into a folder",
            path=place,
        )


def _way_out() -> str:
    """Return advice for a package that is imported from its sources: Python searches the folder of the program, or the
    current folder, before the installed packages."""
    checkout = os.path.dirname(_HERE)  # noqa: PTH120
    if not os.path.exists(os.path.join(checkout, "setup.py")):  # noqa: PTH110, PTH118
        return ""
    package = _PACKAGE.replace(".", os.sep)
    places = [os.path.join(os.path.abspath(folder), package) for folder in sys.path]  # noqa: PTH100, PTH118
    library = os.path.relpath(CORE_LIBRARY, _HERE)
    installed = [place for place in places if os.path.exists(os.path.join(place, library))]  # noqa: PTH110, PTH118
    first = f"hide the package in {installed[0]}" if installed else "are not built"
    then = "start Python" if installed else f"`pip install {checkout}` and start Python"
    return (
        f". These are the sources, which {first}: {then} elsewhere, or build them in place, `pip install -e {checkout}`"
    )


def _rename_classes(binding: ModuleType) -> None:
    """Correct the module names of the binding's classes, because C code contains only the package's original name."""
    for value in vars(binding).values():
        if isinstance(value, type) and value.__module__ in (_BUILT_AS, f"{_BUILT_AS}._core"):
            value.__module__ = _PACKAGE + value.__module__[len(_BUILT_AS) :]


def _enter(name: str, module: ModuleType) -> None:
    sys.modules[f"{_PACKAGE}.{name}"] = module
    setattr(sys.modules[_PACKAGE], name, module)  # `from . import` reads the attribute


def _choose(binding: ModuleType) -> tuple[ModuleType, str]:
    """Return the module for `_core`, and the reason for not using the cffi backend, "" if it is used.

    ImportError if the environment asks for the cffi backend and it cannot be used.
    """
    is_pypy = sys.implementation.name == "pypy"
    is_required = os.environ.get("FFI_HPY_CFFI") == "1"
    if not is_pypy and not is_required:
        return binding, f"only PyPy's JIT compiles calls over cffi, and this is {sys.implementation.name}"
    _enter("_binding", binding)
    for name in _BASES if is_pypy else ():
        native = getattr(binding, name)
        _unfinalizable.append(native)
        _watch_subclasses(native, refuse_finalizer)
    reason = _find_obstacle()
    if not reason:
        from .._pypy.module import make_module

        return make_module(_NAME), ""
    if is_required:
        raise ImportError(f"FFI_HPY_CFFI=1 in the environment asks for the cffi backend, but {reason}")
    return binding, reason


def _find_obstacle() -> str:
    """Return the reason for not using the cffi backend, "" if there is none."""
    for name, value in (("FFI_HPY_CFFI", "0"), ("FFI_HPY_DEBUG", "1")):
        if os.environ.get(name) == value:
            return f"{name}={value} in the environment asks for the binding"
    if os.environ.get("FFI_HPY_CONTEXT"):
        return f"FFI_HPY_CONTEXT={os.environ['FFI_HPY_CONTEXT']} in the environment asks for the binding"
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "it relies on the GIL, which is disabled in this interpreter"
    try:
        from .._pypy.context import backend  # noqa: F401 - it looks up each name of _cffi_backend that is needed
    except (ImportError, AttributeError, OSError) as error:
        return f"cffi cannot be used: {error}"
    return ""


# --- the binding --------------------------------------------------------------------------------------------------


def _load_into(context: str) -> ModuleType:
    """Load the C binding."""
    if context in ("universal", "debug"):
        return _load_with_hpy(debug=context == "debug")
    if context:
        raise ImportError(f"FFI_HPY_CONTEXT={context!r} is unknown; use 'universal', 'debug', or nothing")
    if "_hpy_universal" in sys.builtin_module_names:
        return _load_with_pypy()
    return _load_with_own_runtime()


def _load_with_own_runtime() -> ModuleType:
    try:
        from .._hpy import check_file
        from .._hpy import load as load_module
    except ImportError as error:
        interpreter = "{} {}.{}.{}".format(sys.implementation.name, *sys.implementation.version[:3])
        raise ImportError(f"{_PACKAGE} does not run in this interpreter, {interpreter}: {error}") from error
    if sys.platform == "win32":  # libraries name others without a folder there; the loader searches these folders
        os.add_dll_directory(os.path.dirname(CORE_LIBRARY))  # noqa: PTH120
    check_file(CORE_LIBRARY)  # load() checks the binding only, but the system's loader maps both
    module: ModuleType = load_module(_NAME, _BINDING)
    for name in _BASES_WITHOUT_METACLASS:
        _watch_subclasses(getattr(module, name), module.class_made)
    return module


def _load_with_pypy() -> ModuleType:
    from importlib.machinery import ExtensionFileLoader, ModuleSpec

    import _hpy_universal  # type: ignore[import-not-found,unused-ignore]

    loader = ExtensionFileLoader(_NAME, _BINDING)
    spec = ModuleSpec(_NAME, loader, origin=_BINDING)
    # Arguments: __name__, __file__, __package__, the file to open, __loader__, __spec__, and the environment variables,
    # which may contain HPY=debug.
    module: ModuleType = _hpy_universal._load_bootstrap(_NAME, _BINDING, _PACKAGE, _BINDING, loader, spec, {})
    return module


def _load_with_hpy(debug: bool) -> ModuleType:
    try:
        from hpy.universal import load as hpy_load  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise ImportError(f"FFI_HPY_CONTEXT asks for the PyPI package hpy, but: {error}") from error
    from importlib.machinery import ModuleSpec

    from . import hpy09

    hpy09.check_interpreter()
    module: ModuleType = hpy_load("_core", _BINDING, ModuleSpec(_NAME, None, origin=_BINDING), debug=debug)
    for name in _BASES:
        _watch_subclasses(getattr(module, name), hpy09.adopt)
    return module
