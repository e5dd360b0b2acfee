"""The import of libraries that are bound with ffi_hpy/bind.h.

CPython imports a library as an extension module, whose initialisation calls execute(). PyPy accepts other suffixes for
extension modules, so there the finder of `finder` loads the library as a module of functions.
"""

from __future__ import annotations

from ctypes import c_void_p

from .. import _core
from .._convert import convert_func
from .._types.metadata import with_names
from .._values.argument_classes import given_class_name
from .._values.standard import items_of_memory, items_of_tensor, parts_of_pairs
from ..module import load_module
from ..registry import get_global_func, register_global_func
from .define import answer, answer_kept, describe_again
from .values import index_of, is_kept, keep_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

__all__ = ["execute", "load"]

_answer = convert_func(answer_kept) if _core.CALLS == "cffi" else _core.function_that_keeps(answer, c_void_p)


def _elements_of(value: Any, form: str | None = None) -> list[Any] | None:
    """Return the elements of a tensor, or the items of a memoryview, from its bytes and their form; None for bytes of
    another form."""
    if form is not None:
        return items_of_memory(value, form)
    elements = items_of_tensor(value)
    return list(value) if elements is None else elements


register_global_func("ffi_hpy.class_name", given_class_name, override=True)
register_global_func("ffi_hpy.bind_index", index_of, override=True)
register_global_func("ffi_hpy.bind_items", _core.items_of, override=True)
register_global_func("ffi_hpy.bind_elements", _elements_of, override=True)
register_global_func("ffi_hpy.bind_names", with_names, override=True)
register_global_func("ffi_hpy.bind_pairs", parts_of_pairs, override=True)
register_global_func("ffi_hpy.bind_not_implemented", lambda: NotImplemented, override=True)


def execute(module: ModuleType, address: int) -> None:
    """Let a library define the contents of its module. `address` is the address of its exported function."""
    _define(module, _core.function_from_address(address))


def load(module: ModuleType, path: str) -> None:
    """Load the library at a path, and let it define the contents of its module. ImportError if it cannot be loaded.

    A module with contents stays as it is: importlib.reload() does not run an extension module of CPython again, either.
    """
    if is_kept(module):
        return
    name: str = module.__name__
    try:
        library = load_module(path)
    except RuntimeError as error:
        raise ImportError(str(error), name=name, path=path) from error
    _define(module, library.get_function(f"ffi_hpy_execute_{name.rpartition('.')[2]}"))


def _define(module: ModuleType, function: Any) -> None:
    table = get_global_func("ffi_hpy.bind_api", allow_missing=True)
    if table is None:
        raise ImportError(f"{module.__name__} needs the core of ffi_hpy, but this process has loaded another one")
    address = table()  # the core has the types of containers from now on
    _core.enable_builtins(set, address.value)
    function(keep_module(module), address, _answer)
    describe_again()
