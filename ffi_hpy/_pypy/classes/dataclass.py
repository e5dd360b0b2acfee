"""Copies: each is one call of a core function that walks the fields."""

from __future__ import annotations

from _thread import get_ident

from ..context.hidden import hidden
from ..context.numbers import FUNCTION, OBJECT
from ..context.type_table import attribute_at
from ..convert.arguments import put
from ..convert.results import get
from ..object.call_buffers import give, read_object, take
from ..object.core_functions import copy_function, core_function
from ..object.errors import raise_taken, take_pending
from ..object.objects import check_wrapper, type_index_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..object.call_buffers import CallBuffer

__all__ = ["deep_copy", "deep_copy_container", "shallow_copy", "swap_memo"]


@hidden
def _run(frame: CallBuffer, address: int, call: Callable[..., int], n: int, name: str) -> Any:
    result = frame.result
    result[0] = result[1] = 0
    return _end(frame, call(address, frame.words, n, result), name)


@hidden
def _end(frame: CallBuffer, status: int, name: str) -> Any:
    if status != 0:
        block, error = take_pending()
        frame.release()
        raise_taken(block, error, name)
    frame.release()
    return get(frame.result)


@hidden
def _call_one(name: str, wrapper: Any) -> Any:
    function = core_function(name)
    frame = take()
    try:
        put(frame, 0, wrapper, name)
        return _run(frame, function.address, function.call, 1, name)
    finally:
        give(frame)


@hidden
def shallow_copy(wrapper: Any) -> Any:
    """Return a new object with the same field values. The copy uses the function of the object's own type, because an
    ancestor's function would copy only the ancestor's fields."""
    copier = attribute_at(read_object(wrapper, OBJECT, 0, type_index_in), "__ffi_shallow_copy__")
    if copier is None or copier[0] & 0xFFFFFFFF != FUNCTION:
        raise TypeError(
            f"Type `{type(wrapper).__name__}` does not support copy. The underlying C++ type is not copy-constructible."
        )
    frame = take()
    try:
        put(frame, 0, wrapper, "")
        result = frame.result
        result[0] = result[1] = 0
        return _end(frame, copy_function()(copier[1], frame.words[1], result), "__ffi_shallow_copy__")
    finally:
        give(frame)


_memos: dict[int, Any] = {}
"""By thread, the memo of the copy.deepcopy() that the core's call belongs to, None while Python copies an object."""


def swap_memo(memo: Any) -> Any:
    """Replace the memo of this thread, and return the former one."""
    thread = get_ident()
    former = _memos.pop(thread, None)
    if memo is not None:
        _memos[thread] = memo
    return former


@hidden
def deep_copy(wrapper: Any, args: tuple[Any, ...]) -> Any:
    """Return a new object whose fields are deep copies. The memo is for Python objects inside."""
    check_wrapper(wrapper)
    if len(args) > 1:
        raise TypeError(f"a deep copy takes a memo at most, got {len(args)} arguments")
    former = swap_memo({} if not args or args[0] is None else args[0])
    try:
        return _call_one("ffi.DeepCopy", wrapper)
    finally:
        swap_memo(former)


@hidden
def deep_copy_container(wrapper: Any, args: tuple[Any, ...]) -> Any:
    """Return a new container with deep copies of the items, or the form that dataclasses.asdict expects."""
    plain = wrapper._copy_plain() if args == ({},) else None  # asdict has no memo
    return deep_copy(wrapper, args) if plain is None else plain
