"""The core's own functions: `_ffi_api.X` is the global function `ffi.X`, looked up on first use.

AttributeError where the core has no such function.
"""

from __future__ import annotations

from ._core import Function, global_get

# These touch one container and return: releasing the GIL would cost more than the work.
_SHORT = ("Array", "List", "Map", "Dict", "Shape", "String", "Bytes", "GetInvalidObject", "GetKwargsObject")


def __getattr__(name: str) -> Function:
    function = None if name.startswith("__") else global_get("ffi." + name)
    if function is None:
        raise AttributeError(f"the core has no global function 'ffi.{name}'")
    function.__name__ = name
    if name.startswith(_SHORT):
        function.release_gil = False
    globals()[name] = function
    return function
