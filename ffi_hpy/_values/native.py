"""Functions of the binding's C functions, which are called like any native function on both backends."""

from __future__ import annotations

from .._core import SHORT_CALLS_KEEP_GIL, Function, function_from_address, native_functions

__all__ = ["native_function"]

_addresses = native_functions()


def native_function(name: str) -> Function:
    """Return a new Function for a C function of src/hpy_module/value/native.c."""
    function = function_from_address(_addresses[name])
    function.__name__ = name
    if SHORT_CALLS_KEEP_GIL:
        function.release_gil = False
    return function
