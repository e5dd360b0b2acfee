"""Functions of the core, called by their global names."""

from __future__ import annotations

from ..context.backend import FIELD_COPY, SAFE_CALL, address_of, cast, core, new_chars, new_words, words_at
from ..context.numbers import OPAQUE_PTR
from .errors import raise_pending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CoreFunction", "conversion_to", "copy_function", "core_function", "find_function"]


def find_function(name: str) -> int:
    """Return the handle of a global function, owned; 0 if there is none."""
    text = new_chars(name.encode())
    words = new_words(3)
    words[0], words[1] = address_of(text), len(text) - 1
    if core.function_find(words, words + 2) != 0:
        raise_pending("get_global_func")
    address: int = words[2]
    return address


class CoreFunction:
    """A function of the core. `call(address, arguments, n, result)` is its safe_call."""

    __slots__ = ("address", "call")

    def __init__(self, address: int) -> None:
        self.address = address
        self.call: Any = cast(SAFE_CALL, words_at(address)[3])


_found: dict[str, CoreFunction] = {}
_conversions: dict[int, CoreFunction] = {}
_tables: dict[str, Any] = {}
_COPY = 4  # its index in the table of core/object/field_access.h


def core_function(name: str) -> CoreFunction:
    """Return a function of the core. The result is cached, because these functions are never replaced."""
    found = _found.get(name)
    if found is None:
        address = find_function(name)
        if not address:
            raise RuntimeError(f"this core has no function {name}")
        found = _found[name] = CoreFunction(address)
    return found


def set_backtrace_boundary() -> None:
    """Make native backtraces end at the interpreter's library, from which cffi calls, if the core supports that."""
    address, handle = core.interpreter_address(), find_function("ffi_hpy.set_backtrace_boundary")
    if not handle:
        return
    words = new_words(4)
    words[0], words[1] = OPAQUE_PTR, address
    CoreFunction(handle).call(handle, words, 1, words + 2)
    core.decref(handle)


def copy_function() -> Any:
    """Return the core's function that copies an object by `__ffi_shallow_copy__` while writers of its fields wait."""
    found = _tables.get("copy")
    if found is None:
        words = new_words(2)
        function = core_function("ffi_hpy.field_access")
        if function.call(function.address, words, 0, words) != 0:
            raise_pending("ffi_hpy.field_access")
        found = _tables["copy"] = cast(FIELD_COPY, words_at(words[1])[_COPY])
    return found


def conversion_to(type_index: int) -> CoreFunction:
    """Return the function that a type registers for converting another value to it."""
    found = _conversions.get(type_index)
    if found is None:
        text = new_chars(b"__ffi_convert__")
        words = new_words(2)
        words[0], words[1] = address_of(text), len(text) - 1
        rows = words_at(words_at(core.type_column(words))[0])
        address = rows[2 * type_index + 1]
        core.incref(address)
        found = _conversions[type_index] = CoreFunction(address)
    return found
