"""Lists, tuples and dicts on their way into native code, where they and the values inside become containers."""

from __future__ import annotations

from ..context import hooks
from ..context.backend import core, words_at
from ..context.binding import binding
from ..context.hidden import hidden
from ..context.numbers import INT, INT64_MAX, INT64_MIN
from ..object.call_buffers import frame_for, give
from ..object.core_functions import core_function
from ..object.errors import raise_pending
from ..object.identity import LISTED, share, uses_of
from ..object.objects import Wrapper, complete, is_wrapper, settled
from .arguments import Place, own_last, put, put_nested, put_opaque, set_conversion
from .exchanged import marked
from .lent import MADE_OF_TUPLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..object.call_buffers import CallBuffer
    from .arguments import Callee

__all__ = ["make_mapping", "make_sequence"]


@hidden
def _put_item(frame: CallBuffer, i: int, value: Any, place: Callee, depth: int) -> None:
    """Convert an item of a container. The result must not depend on the Python value: converting the next item may run
    Python code that drops this one."""
    t = type(value)
    if t is int or t is str or t is float or value is None:  # the call buffer owns the results for these
        put(frame, i, value, place)
        return
    if is_wrapper(value) and not marked:
        _put_own(frame, i, value)
        return
    mark = len(frame.held)
    put_nested(frame, i, value, place, depth)
    if len(frame.held) != mark:
        own_last(frame, i, mark)


@hidden
def _put_own(frame: CallBuffer, i: int, wrapper: Wrapper) -> None:
    """Like _put_object, but with an owned reference instead of a use."""
    if not wrapper._ffi_address:
        complete(wrapper)
    uses = wrapper._ffi_uses
    if uses is None:
        uses = uses_of(wrapper)
    uses.append(None)
    try:
        address = wrapper._ffi_address or settled(wrapper)
        if wrapper._ffi_listing != LISTED:
            share(wrapper)
        core.incref(address)
    finally:
        uses.pop()
    frame.held.append(address)
    frame.words[i] = words_at(address)[1] & 0xFFFFFFFF
    frame.words[i + 1] = address


@hidden
def _make(name: str, frame: CallBuffer, n: int) -> int:
    """Return the container that a core function creates from the arguments in a call buffer, owned."""
    result = frame.result
    result[0] = 0
    result[1] = 0
    function = core_function(name)
    try:
        failed = function.call(function.address, frame.words, n, result) != 0
    except BaseException:  # a signal handler raised
        if result[0]:
            core.decref(result[1])
        raise
    if failed:
        raise_pending(name)
    made: int = result[1]
    if hooks.object_made is not None:
        hooks.object_made(made)
    return made


@hidden
def make_sequence(name: str, values: Any, place: Callee, depth: int) -> int:
    """Return the object of a new container, `name` is "ffi.Array" or "ffi.List", with the items of a sequence. All of
    them are arguments of one call. A list is copied first, because another thread, or Python code that the conversion
    of an item runs, may change the list."""
    if type(values) is list:
        values = values[:]
    n = len(values)
    frame = frame_for(n)
    try:
        words = frame.words
        for at in range(n):
            value = values[at]
            if type(value) is int and INT64_MIN <= value <= INT64_MAX:
                words[2 * at] = INT
                words[2 * at + 1] = value
            else:
                _put_item(frame, 2 * at, value, place, depth)
        return _make(name, frame, n)
    finally:
        give(frame)


@hidden
def make_mapping(name: str, value: Any, place: Callee, depth: int) -> int:
    """Return the object of a new container, `name` is "ffi.Map" or "ffi.Dict", with the current entries of a
    mapping."""
    return make_mapping_of(name, list(value.items()), place, depth)


@hidden
def make_mapping_of(name: str, pairs: list[Any], place: Callee, depth: int) -> int:
    """Return the object of a new container with pairs."""
    n = 2 * len(pairs)
    frame = frame_for(n)
    try:
        i = 0
        for pair in pairs:
            _put_item(frame, i, pair[0], place, depth)
            _put_item(frame, i + 2, pair[1], place, depth)
            i += 4
        return _make(name, frame, n)
    finally:
        give(frame)


@hidden
def _put_container(frame: CallBuffer, i: int, address: int) -> None:
    frame.held.append(address)
    frame.words[i] = words_at(address)[1] & 0xFFFFFFFF
    frame.words[i + 1] = address


def _inside(i: int, callee: Callee) -> Callee:
    return callee if type(callee) is str or type(callee) is Place else Place(i, callee)


@hidden
def _put_sequence(frame: CallBuffer, i: int, value: Any, callee: Callee, depth: int) -> None:
    address = make_sequence("ffi.Array", value, _inside(i, callee), depth + 1)
    if isinstance(value, tuple):
        words_at(address)[1] |= MADE_OF_TUPLE
    _put_container(frame, i, address)


@hidden
def _put_mapping(frame: CallBuffer, i: int, value: Any, callee: Callee, depth: int) -> None:
    pairs = list(value.items())
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            put_opaque(frame, i, value, callee, depth)  # the function refuses the object by its own message
            return
    _put_container(frame, i, make_mapping_of("ffi.Map", pairs, _inside(i, callee), depth + 1))


set_conversion(binding.TAG_SEQUENCE, _put_sequence)
set_conversion(binding.TAG_MAPPING, _put_mapping)
