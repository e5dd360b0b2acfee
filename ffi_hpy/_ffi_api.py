"""The core's own functions: `_ffi_api.X` is the global function `ffi.X`, or `ffi_hpy.X`, which exists only in our core.

Functions are looked up on first use. AttributeError where the core has no such function.
"""

from __future__ import annotations

from ._core import SHORT_CALLS_KEEP_GIL, Function, global_get

# These functions touch one container and return, so releasing the GIL would cost more than the work.
_SHORT = (
    "Array",
    "List",
    "Seq",
    "Map",
    "Dict",
    "Shape",
    "String",
    "Bytes",
    "Recursive",
    "LooseEq",
    "GetInvalidObject",
    "GetKwargsObject",
)


def __getattr__(name: str) -> Function:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = global_get("ffi." + name)
    if function is None:
        function = global_get("ffi_hpy." + name)
    if function is None:
        raise AttributeError(f"the core has no global function 'ffi.{name}'")
    function.__name__ = name
    if SHORT_CALLS_KEEP_GIL and name.startswith(_SHORT):
        function.release_gil = False
    globals()[name] = function
    return function
