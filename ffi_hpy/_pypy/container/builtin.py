"""Values of bound libraries as lists, tuples, sets, dicts and str."""

from __future__ import annotations

from ..context.backend import core, words_at
from ..context.binding import binding
from ..convert import results
from ..object.objects import set_builtin
from .array_items import SIZE, read_items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_STR_DELETER = 1
"""The index of this word in ffi_hpy_bind_api (ffi_hpy/c_bind.h)."""

__all__ = ["arrive_as_builtins"]


def _dict_of(items: list[Any]) -> dict[Any, Any]:
    return dict(zip(items[::2], items[1::2]))


def arrive_as_builtins(set_class: type, api: int) -> None:
    """Let containers of bound libraries arrive as lists, tuples, sets and dicts, and strings as str."""
    results.str_deleter = words_at(api)[_STR_DELETER]
    makers: dict[str, Callable[[list[Any]], Any]] = {"List": list, "Tuple": tuple, "Set": set_class, "Dict": _dict_of}
    for name, make in makers.items():
        set_builtin(binding.type_key_to_index(f"ffi_hpy.{name}"), _reader(make))


def _reader(make: Callable[[list[Any]], Any]) -> Callable[[int], Any]:
    def read(address: int) -> Any:
        try:
            return make(read_items(address, words_at(address)[SIZE]))
        finally:
            core.decref(address)

    return read
