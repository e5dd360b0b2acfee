"""Further constructors of Function, from pointers of code generators and of the binding's C functions."""

from __future__ import annotations

from .. import _core
from .._core import Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["from_extern_c", "from_mlir_packed_safe_call", "native_function"]

_pointers = _core.native_functions()


def from_extern_c(c_symbol: int, *, keep_alive_object: Any = None) -> Function:
    """Return a Function for the C function of type TVMFFISafeCallType at the pointer `c_symbol`.

    `keep_alive_object` lives as long as the function; it may own the function's code, for example. ValueError for
    pointer 0, TypeError if it is not an int. The memory at the pointer is not checked.
    """
    return _core.function_from_address(c_symbol, keep_alive_object)


def from_mlir_packed_safe_call(mlir_packed_symbol: int, *, keep_alive_object: Any = None) -> Function:
    """Return a Function for code that MLIR's execution engine compiled from a C function of type TVMFFISafeCallType:
    ``void f(void **variables)``, with pointers to handle, arguments, their number, result and return code.
    `keep_alive_object` and errors as in from_extern_c()."""
    return _core.function_from_mlir(mlir_packed_symbol, keep_alive_object)


def native_function(name: str) -> Function:
    """Return a new Function for a C function of src/hpy_module/value/native.c. Calls of the Function take the ordinary
    path, which is fast on both backends."""
    function = _core.function_from_address(_pointers[name])
    function.__name__ = name
    if _core.SHORT_CALLS_KEEP_GIL:
        function.release_gil = False
    return function


Function.__from_extern_c__ = staticmethod(from_extern_c)  # type: ignore[method-assign]
Function.__from_mlir_packed_safe_call__ = staticmethod(from_mlir_packed_safe_call)  # type: ignore[method-assign]
