"""Values of bound libraries as lists, tuples, sets, dicts and str."""

from __future__ import annotations

from ..context.backend import core, words_at
from ..context.binding import binding
from ..context.bound import set_callee
from ..context.numbers import BIND_FUNCTION_CALL, BIND_STR_DELETER
from ..convert import lent, results
from ..object.objects import builtins
from .array_items import SIZE, read_items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["arrive_as_builtins"]


def _dict_of(items: list[Any]) -> dict[Any, Any]:
    made = {}
    for i in range(0, len(items), 2):  # the JIT would compile dict() of an iterator into the caller, item by item
        made[items[i]] = items[i + 1]
    return made


def arrive_as_builtins(set_class: type, api: int) -> None:
    """Let containers of bound libraries arrive as lists, tuples, sets and dicts, and strings as str."""
    results.str_deleter = words_at(api)[BIND_STR_DELETER]
    makers: dict[str, Callable[[list[Any]], Any]] = {"List": list, "Tuple": tuple, "Set": set_class, "Dict": _dict_of}
    for name, make in makers.items():
        builtins[_index_of(name)] = _reader(make)
    lent.set_types(_index_of("Set"), _index_of("Dict"))
    set_callee(words_at(api)[BIND_FUNCTION_CALL])


def _index_of(name: str) -> int:
    index: int = binding.type_key_to_index(f"ffi_hpy.{name}")
    return index


def _reader(make: Callable[[list[Any]], Any]) -> Callable[[int], Any]:
    def read(address: int) -> Any:
        try:
            return make(read_items(address, words_at(address)[SIZE]))
        finally:
            core.decref(address)

    return read
