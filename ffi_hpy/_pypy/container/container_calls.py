"""Calls of the core's functions for a container, whose object is the first argument in a call buffer."""

from __future__ import annotations

from ..context.backend import core, words_at
from ..context.hidden import hidden
from ..object.call_buffers import give, take, use
from ..object.core_functions import conversion_to, core_function
from ..object.errors import raise_taken, take_pending
from ..object.objects import check_wrapper, settled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..object.call_buffers import CallBuffer

__all__ = ["begin", "call", "own_fixed"]


@hidden
def begin(wrapper: Any, frame: CallBuffer, fixed: int, changing: int) -> int:
    """Make the object of a wrapper the first argument of a call. The object must be of one of two types. Returns its
    type index."""
    check_wrapper(wrapper)
    use(frame, wrapper)
    address = wrapper._ffi_address or settled(wrapper)
    words = frame.words
    type_index: int = words_at(address)[1] & 0xFFFFFFFF
    if type_index != fixed and type_index != changing:
        wrapper._refuse_object()
    words[0] = type_index
    words[1] = address
    return type_index


@hidden
def call(frame: CallBuffer, name: str, n: int, expected: Any = None) -> bool:
    """Call a function of the core with the n arguments in a call buffer. The result is in the buffer, owned. Errors are
    raised, except for the expected class: then the function returns False."""
    result = frame.result
    result[0] = 0
    result[1] = 0
    function = core_function(name)
    if function.call(function.address, frame.words, n, result) == 0:
        return True
    return _fail(frame, name, expected)


@hidden
def _fail(frame: CallBuffer, name: str, expected: Any) -> bool:
    block, error = take_pending()
    if expected is None:
        frame.release()  # releasing the arguments may run code that uses the thread's error
        raise_taken(block, error, name)
    try:
        raise_taken(block, error, name)
    except expected:
        pass
    return False


@hidden
def own_fixed(wrapper: Any, fixed: int, changing: int) -> int:
    """Return an owned object of the type `fixed` with the items of a wrapper: its own object, or a copy made at one
    moment."""
    frame = take()
    try:
        if begin(wrapper, frame, fixed, changing) == fixed:
            address: int = frame.words[1]
            core.incref(address)
            return address
        result = frame.result
        result[0] = 0
        result[1] = 0
        function = conversion_to(fixed)
        if function.call(function.address, frame.words, 1, result) != 0:
            _fail(frame, "__ffi_convert__", None)
        made: int = result[1]
        return made
    finally:
        give(frame)
