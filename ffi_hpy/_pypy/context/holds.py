"""Python objects that native code holds, and what it lets go of.

Each has a number, which native code has inside of a block that the binding makes (src/hpy_module/context/later.h). When
native code lets go of one, on whatever thread and in whatever state, the block waits until a call here asks for it.
"""

from __future__ import annotations

from itertools import count

from .backend import c_function, core, words_at
from .binding import binding
from .signals import interruptions, keep, raise_interruption

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "CALL_AT",
    "DROP_AT",
    "drain",
    "drop",
    "end_at",
    "end_waiting",
    "finish",
    "held",
    "held_at",
    "hold",
    "put_error",
    "take_error",
    "waiting",
]

held: list[Any] = [None]
"""The objects, by number. No dict: that of PyPy keeps what was taken out of it alive where it has moved its entries
together."""
_unused: list[int] = []  # numbers below the next of _numbers; append and pop are atomic
_numbers = count()
CALL_AT: int
DROP_AT: int
CALL_AT, DROP_AT, _new_at, _next_at, _free_at, _put_error_at, _take_error_at, _end_at, _first_at = binding.cover(
    0, 0, 0
)
"""CALL_AT is the safe_call of callbacks, DROP_AT the deleter of whatever is held."""
put_error = c_function(_put_error_at, "w", "w")
"""Make the exception in a block the pending error of this thread; not 0 if this core does not take exceptions."""
take_error = c_function(_take_error_at, "w", "w")
"""Take what is pending: the block of an exception, or 0, and an error's handle in the word at the given address."""
end_at = c_function(_end_at, "w", "w")
"""Give up the reference in the word at an address, and leave 0 there: once, however often it is called."""
_push_block = c_function(DROP_AT, "w", "")
_new_block = c_function(_new_at, "ww", "w")
_next_block = c_function(_next_at, "", "w")
_free_block = c_function(_free_at, "w", "")
waiting = words_at(_first_at)
"""Its first word is not 0 if something waits for drain()."""

_NUMBER, _OBJECT = 0, 1  # FbLaterKind


def hold(value: Any) -> int:
    """The address of a block for an object, which is kept until native code calls the function at DROP_AT with it."""
    try:
        number = _unused.pop()
    except IndexError:
        number = next(_numbers)
        while len(held) <= number:
            held.append(None)
    block: int = _new_block(number, _NUMBER)
    if not block:
        _unused.append(number)
        raise MemoryError
    held[number] = value
    return block


def _forget(number: int) -> None:
    held[number] = None
    _unused.append(number)


def held_at(block: int) -> Any:
    """The object of a block."""
    return held[words_at(block)[1]]


def drop(block: int) -> None:
    """End a hold that native code has not got."""
    _forget(words_at(block)[1])
    _free_block(block)


def drain() -> None:
    """End what waits, and raise what a finalizer has kept for this thread."""
    end_waiting()
    raise_interruption()


def end_waiting() -> None:
    """End what native code has let go of, one after the other: a signal may interrupt this, and the rest waits."""
    block = _next_block()
    while block:
        words = words_at(block)
        word, kind = words[1], words[2]
        _free_block(block)
        if kind == _OBJECT:
            core.decref(word)
        else:
            _forget(word)
        block = _next_block()
    if interruptions:
        _wake()


def _wake() -> None:
    """Have the next use of native code call drain()."""
    _push_block(hold(None))


_MOST_TRIES = 100


def finish(end: Callable[[Any], None], owner: Any, interruption: BaseException) -> None:
    """Call end(owner) again, which a signal has interrupted within a finalizer. What the handler has raised is kept for
    the next use of native code."""
    for _ in range(_MOST_TRIES):
        if isinstance(interruption, (RecursionError, MemoryError)):
            break
        try:
            keep(interruption)
            _wake()
            end(owner)
        except BaseException as other:
            interruption = other
        else:
            return
    raise interruption
