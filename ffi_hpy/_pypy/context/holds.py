"""Python objects that native code holds, and what it lets go of.

Each has a number, which native code has inside of a block that the binding makes (src/hpy_module/context/later.h). When
native code lets go of one, on whatever thread and in whatever state, the block waits until a call here asks for it.
"""

from __future__ import annotations

from itertools import count
from threading import get_ident

from . import hooks
from .backend import QUESTION, SAFE_CALL, WORD_OF_WORD, address_of, c_function, callback, core, words_at
from .binding import binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "CALL_AT",
    "DROP_AT",
    "drain",
    "drop",
    "held_at",
    "hold",
    "interruptions",
    "put_error",
    "set_error_maker",
    "set_runner",
    "take_error",
    "waiting",
]

interruptions: dict[int, BaseException] = {}
"""By thread: what the handler of a signal has raised while native code ran, which has learnt of it."""
_held: dict[int, Any] = {}
_numbers = count(1)
_runner: Callable[[Any, Any, int, Any], int]
_error_maker: Callable[[Any], int]
_exception_taker: Callable[[BaseException], None]


def set_runner(runner: Callable[[Any, Any, int, Any], int]) -> None:
    """Give this module the function that runs a callback: (object, arguments, n, result) -> status."""
    global _runner
    _runner = runner


def set_error_maker(maker: Callable[[Any], int], taker: Callable[[BaseException], None]) -> None:
    """Give this module the function that makes the native error of an exception, its handle, owned, and the one that
    makes an exception the pending error whatever happens."""
    global _error_maker, _exception_taker
    _error_maker = maker
    _exception_taker = taker


def _run(block: int, args: Any, n: int, result: Any) -> int:
    return _runner(_held[words_at(block)[1]], args, n, result)


def _make_error(block: int) -> int:
    value = held_at(block)
    drop(block)
    return _error_maker(value)


def _ask() -> int:
    """Runs Python code, in which PyPy calls the handlers of signals that are waiting."""
    if get_ident() in interruptions:
        return -1  # that of an earlier question in this call
    hooks.check_signals()
    return 0


def _take_interruption(_cls: type, interruption: BaseException, _traceback: Any) -> None:
    interruptions[get_ident()] = interruption


def _put_raised(_cls: type, exception: BaseException, _traceback: Any) -> None:
    _exception_taker(exception)


_run_in_c = callback(SAFE_CALL, _run, -1, _put_raised)
_make_error_in_c = callback(WORD_OF_WORD, _make_error, 0)
_ask_in_c = callback(QUESTION, _ask, -1, _take_interruption)
CALL_AT: int
DROP_AT: int
CALL_AT, DROP_AT, _new_at, _take_at, _free_at, _put_error_at, _take_error_at, _first_at = binding.cover(
    address_of(_run_in_c), address_of(_make_error_in_c), address_of(_ask_in_c)
)
"""CALL_AT is the safe_call of callbacks, DROP_AT the deleter of whatever is held."""
put_error = c_function(_put_error_at, "w", "w")
"""Make the exception in a block the pending error of this thread; not 0 if this core does not take exceptions."""
take_error = c_function(_take_error_at, "w", "w")
"""Take what is pending: the block of an exception, or 0, and an error's handle in the word at the given address."""
_new_block = c_function(_new_at, "ww", "w")
_take_blocks = c_function(_take_at, "", "w")
_free_block = c_function(_free_at, "w", "")
waiting = words_at(_first_at)
"""Its first word is not 0 if something waits for drain()."""

_NUMBER, _OBJECT = 0, 1  # FbLaterKind


def hold(value: Any) -> int:
    """The address of a block for an object, which is kept until native code calls the function at DROP_AT with it."""
    number = next(_numbers)
    block: int = _new_block(number, _NUMBER)
    if not block:
        raise MemoryError
    _held[number] = value
    return block


def held_at(block: int) -> Any:
    """The object of a block."""
    return _held[words_at(block)[1]]


def drop(block: int) -> None:
    """End a hold that native code has not got."""
    del _held[words_at(block)[1]]
    _free_block(block)


def drain() -> None:
    """End what native code has let go of."""
    block = _take_blocks()
    while block:
        words = words_at(block)
        following, word, kind = words[0], words[1], words[2]
        _free_block(block)
        block = following
        if kind == _OBJECT:
            core.decref(word)
        else:
            del _held[word]
