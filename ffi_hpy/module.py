"""Module: a loaded library of functions."""

from __future__ import annotations

import os
from enum import IntEnum

from . import _ffi_api
from ._core import Function
from ._start.fork import importing
from ._start.late import find_attributes
from ._start.similar import did_you_mean
from ._types.function_metadata import add_metadata
from ._types.metadata import apply_nonblocking, parse_metadata
from ._values.exported import exported_names
from ._values.object import Object
from .registry import get_global_func, register_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

__all__ = ["FunctionNotFoundError", "LibraryNotFoundError", "Module", "ModulePropertyMask", "load_module", "system_lib"]

if not TYPE_CHECKING:  # names that tvm_ffi has here
    __getattr__ = find_attributes(__name__)


class FunctionNotFoundError(AttributeError):
    """A module has no function of that name. Programs use hasattr(module, name) on purpose, so similar names are
    searched only when the message is read."""

    def __init__(self, message: str, name: str = "", path: str | None = None) -> None:
        super().__init__(message)
        self.name = name
        self.obj = None  # as in not_said_again() of _start.similar
        self._path = path

    def __str__(self) -> str:
        return f"{self.args[0]}{did_you_mean(self.name, exported_names(self._path)) if self._path else ''}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.name, self._path)


class LibraryNotFoundError(FileNotFoundError, RuntimeError):
    """The file at the path given to load_module() does not exist. The error is also a RuntimeError, like every other
    failure to load."""


# No C header names these bits: the core and the C++ headers each define them.


class ModulePropertyMask(IntEnum):
    """Bits of Module.get_property_mask()."""

    BINARY_SERIALIZABLE = 0b001
    RUNNABLE = 0b010
    COMPILATION_EXPORTABLE = 0b100


@register_object("ffi.Module", init=False)
class Module(Object):
    """A module: functions by name, as attributes (``module.add_one(x)``) or items (``module["add_one"]``).

    A function found as an attribute is stored in the module object, which makes the next access fast. A function keeps
    its module alive, see load_module(). Calling the module calls its function `main`. `dir()` lists the functions of a
    library. A missing name raises AttributeError, whose message suggests a similar name.

    Examples:
        >>> module = ffi_hpy.system_lib()
        >>> hasattr(module, "not_there")
        False
    """

    __slots__ = ("__dict__",)

    entry_name: ClassVar[str] = "main"
    """Name of the function that is called when the module is called."""

    if TYPE_CHECKING:
        imports_: Sequence[Any]
        """Equal to `imports`."""

    def __copy__(self) -> Module:
        """Return the module itself, which exists once."""
        return self

    def __deepcopy__(self, memo: object = None) -> Module:
        """Return the module itself, like __copy__()."""
        return self

    @property
    def kind(self) -> str:
        """The kind of module, such as "library"."""
        return _ffi_api.ModuleGetKind(self)  # type: ignore[no-any-return]

    @property
    def imports(self) -> Sequence[Module]:
        """The modules that this one imports."""
        return self.imports_

    def get_function(self, name: str, query_imports: bool = False) -> Function:
        """Look up a function.

        Args:
            name: its name.
            query_imports: whether to search imported modules, too.

        Returns:
            The function, a new object each time.

        Raises:
            AttributeError: if there is none.
        """
        function: Function | None = _ffi_api.ModuleGetFunction(self, name, query_imports)
        if function is None:
            raise FunctionNotFoundError(
                f"Module has no function '{name}': __tvm_ffi_{name} is missing in the {self._title()}",
                name,
                self.__dict__.get("_path"),
            )
        function.__name__ = name
        metadata = self._text_of("ModuleGetFunctionMetadata", name, query_imports)
        add_metadata(function, metadata, self._text_of("ModuleGetFunctionDoc", name, query_imports))
        apply_nonblocking(function, metadata)
        return function

    def __getattr__(self, name: str) -> Function:
        # Called only for names that are not set: a function that was found is stored as an attribute of this wrapper.
        if name.startswith("__"):
            raise AttributeError(f"Module has no function '{name}', and {type(self).__name__} has no such attribute")
        function = self.get_function(name)
        setattr(self, name, function)
        return function

    def __dir__(self) -> list[str]:
        path = self.__dict__.get("_path")
        return sorted({*super().__dir__(), *(exported_names(path) if path else ())})

    def __repr__(self) -> str:
        path = self.__dict__.get("_path")
        return f"<{type(self).__name__} {self.kind!r}{f' from {path!r}' if path else ''}>"

    def __getitem__(self, name: str) -> Function:
        """Return the function of that name; AttributeError if there is none."""
        if not isinstance(name, str):
            raise ValueError(f"a module's functions are found by str, not {type(name).__name__}")  # noqa: TRY004
        return self.get_function(name)

    def __call__(self, *args: Any) -> Any:
        """Call the module's function `main`, as running a program does."""
        return getattr(self, self.entry_name)(*args)

    def implements_function(self, name: str, query_imports: bool = False) -> bool:
        """Tell whether the module defines a function. A module that must be compiled first may define functions that it
        cannot run.

        Args:
            name: the function's name.
            query_imports: whether to ask imported modules, too.
        """
        return bool(_ffi_api.ModuleImplementsFunction(self, name, query_imports))

    def get_function_metadata(self, name: str, query_imports: bool = False) -> dict[str, Any] | None:
        """Look up the metadata that the library declares for a function, such as the types of its parameters.

        Args:
            name: the function's name.
            query_imports: whether to search imported modules, too.

        Returns:
            The metadata as in get_global_func_metadata(); None if the metadata or the function does not exist.

        Raises:
            ValueError: if the metadata is not a JSON object.
        """
        text = _ffi_api.ModuleGetFunctionMetadata(self, name, query_imports)
        return parse_metadata(text, f"function `{name}` of the {self._title()}") if text else None

    def get_function_doc(self, name: str, query_imports: bool = False) -> str | None:
        """Look up the documentation that the library has for a function.

        Args:
            name: the function's name.
            query_imports: whether to search imported modules, too.

        Returns:
            The text, None if there is none.
        """
        return _ffi_api.ModuleGetFunctionDoc(self, name, query_imports) or None

    def import_module(self, module: Module) -> None:
        """Import another module, so that lookups with `query_imports` search it too.

        Args:
            module: the module. This module keeps it alive.

        Raises:
            RuntimeError: if `module` imports this module, or is this module.
        """
        _ffi_api.ModuleImportModule(self, module)

    def clear_imports(self) -> None:
        """Forget all imported modules."""
        _ffi_api.ModuleClearImports(self)

    def get_property_mask(self) -> int:
        """Bits of ModulePropertyMask."""
        return _ffi_api.ModuleGetPropertyMask(self)  # type: ignore[no-any-return]

    def is_binary_serializable(self) -> bool:
        """Whether the module can be saved as bytes."""
        return bool(self.get_property_mask() & ModulePropertyMask.BINARY_SERIALIZABLE)

    def is_runnable(self) -> bool:
        """Whether the module's functions can be called."""
        return bool(self.get_property_mask() & ModulePropertyMask.RUNNABLE)

    def is_compilation_exportable(self) -> bool:
        """Whether the module can be written as an object or source file."""
        return bool(self.get_property_mask() & ModulePropertyMask.COMPILATION_EXPORTABLE)

    def inspect_source(self, fmt: str = "") -> str:
        """Return the source of the module.

        Args:
            fmt: a format of this kind of module; "" for its default.

        Returns:
            The text, "" if there is none.
        """
        return _ffi_api.ModuleInspectSource(self, fmt)  # type: ignore[no-any-return]

    def get_write_formats(self) -> Sequence[str]:
        """The formats that write_to_file() supports."""
        return _ffi_api.ModuleGetWriteFormats(self)  # type: ignore[no-any-return]

    def write_to_file(self, file_name: str, fmt: str = "") -> None:
        """Write the module to a file.

        Args:
            file_name: the path.
            fmt: one of get_write_formats().

        Raises:
            RuntimeError: if modules of this kind, such as libraries, cannot be written.
        """
        _ffi_api.ModuleWriteToFile(self, file_name, fmt)

    def _text_of(self, getter: str, name: str, query_imports: bool) -> str:
        get = getattr(_ffi_api, getter, None)
        return "" if get is None else str(get(self, name, query_imports) or "")

    def _title(self) -> str:
        path = self.__dict__.get("_path")
        return f"module {path!r}" if path else f"{self.kind} module"


# Loaded libraries that exclude another library of the same kind, by file name.
_LOADED_ALONE: dict[str, str] = {}


def _for_native(path: str) -> str | bytes:
    """Return a path in the form that native code takes: bytes if it is not UTF-8, because file names need not be
    UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def check_library_file(path: str) -> None:
    """Raise RuntimeError if a file is truncated, damaged or not a library: mapping such a file can end the process."""
    check = get_global_func("ffi_hpy.check_library_file", allow_missing=True)  # tvm_ffi's core has none
    if check is not None:
        check(_for_native(path))


def open_library(path: str) -> None:
    """Open a library of any extension, for a caller that opens it once more by other means. RuntimeError as for
    load_module(), also if an initialiser of the library throws: the core catches the exception."""
    if get_global_func("ffi_hpy.check_library_file", allow_missing=True):  # tvm_ffi's core would close it again
        get_global_func("ffi.Module.load_from_file.so")(_for_native(path), "so")


def load_module(path: str | bytes | os.PathLike[str] | os.PathLike[bytes], keep_module_alive: bool = True) -> Module:
    """Load a library of functions.

    The library's code stays mapped until the process ends, because objects from the library may outlive the module and
    need its code to be freed. Any thread may load any library.

    Args:
        path: the library's file. The system's loader searches for a name without a directory part that is not a file in
            the current folder.
        keep_module_alive: whether the module object, with its imports and caches, stays until the process ends. If
            false, it is freed with the last reference to it and its functions.

    Returns:
        The module.

    Raises:
        LibraryNotFoundError: if the file at a path with a directory part is missing. The class derives from
            FileNotFoundError and RuntimeError.
        RuntimeError: if the file is not a library, is truncated or damaged, lacks a symbol, or has an extension without
            a registered loader. The message contains the path.
        ValueError: for a path with a NUL.
    """
    text = os.fsdecode(path)
    if "\0" in text:
        raise ValueError(f"expected a path without a NUL, got {text!r}")
    if os.path.dirname(text) and not os.path.exists(text):  # noqa: PTH110, PTH120
        import errno

        raise LibraryNotFoundError(errno.ENOENT, "Cannot load module: no such file", text)
    loaded = _LOADED_ALONE.get(os.path.basename(text))  # noqa: PTH119
    if loaded is not None and not os.path.samefile(text, loaded):  # noqa: PTH121
        raise RuntimeError(f"Cannot load {text}: it repeats the registrations of {loaded}, and would end the process")
    try:
        module: Module = _ffi_api.ModuleLoadFromFile(_for_native(text))
    except RuntimeError as error:
        with importing:
            from ._errors.loading import explain
        explanation = explain(str(error), text)
        if explanation:
            error.args = (f"{error}{explanation}",)
        raise
    module.__dict__["_path"] = text
    if keep_module_alive:
        module.__dict__["_stays"] = True  # on purpose: the leak report leaves it out
        _ffi_api.ModuleGlobalsAdd(module)
    return module


def system_lib(symbol_prefix: str = "") -> Module:
    """Return the module of the functions that are linked into the program itself.

    Args:
        symbol_prefix: a prefix for the names of functions. A name is looked up with the prefix first, then without.

    Returns:
        The module. There is always one, which may have no functions.
    """
    module: Module = _ffi_api.SystemLib(symbol_prefix)
    return module
