"""A native error as an exception, and back.

What is pending on a thread is always taken as an error object: native code asks for it as this module does.
"""

from __future__ import annotations

from threading import get_ident

from ..._start.fork import new_lock
from ..context import hooks
from ..context.backend import (
    UPDATE_BACKTRACE,
    WORD_OF_WORD,
    address_of,
    bytes_at,
    callback,
    cast,
    core,
    new_chars,
    new_words,
    words_at,
)
from ..context.hidden import hidden
from ..context.holds import drop, held_at, hold, put_error, take_error
from ..context.signals import raise_interruption
from .objects import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = [
    "EXHAUSTED",
    "backtraces",
    "drop_pending",
    "interrupts",
    "lost",
    "make_error_in_c",
    "moment",
    "put_exception",
    "put_whatever_happens",
    "raise_pending",
    "raise_taken",
    "take_object",
    "take_pending",
]


backtraces = new_lock()
"""Held while the backtrace of an error is read or changed: the call that changes it gives up the GIL."""

_n_raised = 0
lost: dict[int, BaseException] = {}
"""By thread: an exception that left a callback where no stack was left to make it the pending error."""


def _make_exhausted() -> int:
    """The error that is pending for a lost exception, made while there is stack."""
    texts = [
        new_chars(text)
        for text in (b"RecursionError", b"maximum recursion depth exceeded: callbacks within callbacks", b"")
    ]
    arrays = [new_words(2) for _ in texts]
    for text, array in zip(texts, arrays):
        array[0], array[1] = address_of(text), len(text) - 1
    out = new_words(1)
    if core.error_new(arrays[0], arrays[1], arrays[2], 0, 0, out) != 0:
        raise MemoryError
    address: int = out[0]
    return address


EXHAUSTED = _make_exhausted()


def moment() -> int:
    """How many native errors have become exceptions: exceptions of a higher number are of a later time."""
    return _n_raised


def take_pending() -> tuple[int, int]:
    """Take what is pending on this thread: the block of an exception that comes back as it is, and the handle of an
    error, owned. One of them is 0, or both."""
    out = new_words(1)
    block = take_error(address_of(out))
    return block, out[0]


def take_object() -> int:
    """Take what is pending on this thread as the handle of an error, owned; 0 if nothing is. It can be raised by
    raise_taken(0, handle, ...)."""
    out = new_words(1)
    core.error_take(out)
    address: int = out[0]
    return address


def drop_pending() -> None:
    """Forget what is pending on this thread."""
    address = take_object()
    if address:
        core.decref(address)


def interrupts(address: int) -> bool:
    """Whether an error says nothing about the value that is being converted: its handle is taken only if this fails."""
    if _kind_at(address) == b"EnvErrorAlreadySet":
        return True
    core.incref(address)
    try:
        return hooks.interrupts(wrap(address)) is True
    except BaseException:  # a signal came
        core.decref(address)
        raise


def _kind_at(address: int) -> bytes:
    cell = words_at(address)
    return bytes_at(cell[3], cell[4])


@hidden
def raise_taken(block: int, address: int, callee: str) -> NoReturn:
    """Raise the exception for the result of take_pending()."""
    global _n_raised
    if block:
        _raise_own(block)
    if not address:
        raise_interruption()
        raise RuntimeError(f"{callee or 'native function'}() returned failure without setting an error")
    if address == EXHAUSTED and get_ident() in lost:
        core.decref(address)
        raise lost.pop(get_ident())
    if _kind_at(address) == b"EnvErrorAlreadySet":
        core.decref(address)
        raise_interruption()
        raise RuntimeError("native code reported a Python exception, but none is set")
    _n_raised += 1
    raise hooks.error_to_exception(wrap(address), _n_raised)


@hidden
def raise_pending(callee: str) -> NoReturn:
    """Raise the exception for the error that is pending on this thread."""
    block, address = take_pending()
    raise_taken(block, address, callee)


@hidden
def _raise_own(block: int) -> NoReturn:
    """Raise an exception that came through native code as it is. The hook notes where in its traceback the way ends."""
    global _n_raised
    exception = held_at(block)
    drop(block)
    _n_raised += 1
    try:
        hooks.exception_arrives(exception, _n_raised)
    except (RecursionError, MemoryError):
        pass  # the lack of stack must not hide the exception: it is raised without the note
    raise exception


# --- exceptions of callbacks --------------------------------------------------------------------------------------


def put_exception(exception: BaseException, began: int) -> None:
    """Make an exception the thread's pending error. It leaves a callback that began at a moment. May raise anything
    where the stack ends."""
    try:
        _put(exception, began)
    except (RecursionError, MemoryError):
        raise
    except BaseException as other:  # an interruption takes the place of the exception
        _put(other, began)


def _put(exception: BaseException, began: int) -> None:
    if not exception.__dict__ or hooks.exception_leaves(exception, began) is True:
        block = hold(exception)
        if put_error(block) == 0:
            return
        drop(block)
    address = _error_of(hooks.exception_to_error, exception, began)
    core.error_set(address)
    core.decref(address)


def _error_of(hook: Any, exception: BaseException, began: int) -> int:
    """The error object of an exception, owned, with the native frames between the callback and its caller."""
    error = hook(exception, began)
    address: int = error._ffi_address
    core.incref(address)
    frames = core.backtrace(0, 0, 0, 0)
    if words_at(frames)[1]:  # none, unless the environment asks for them
        update = cast(UPDATE_BACKTRACE, words_at(address)[9])
        with backtraces:
            update(address, words_at(frames), 1)
    return address


def _make_error(block: int) -> int:
    """Native code asks for the error object of an exception that is pending as it is: its handle, owned."""
    exception = held_at(block)
    drop(block)
    try:
        return _error_of(hooks.exception_asked_for, exception, 0)
    except (RecursionError, MemoryError):
        return _lose(exception)


def _make_other_error(_cls: type, interruption: BaseException, _traceback: Any) -> int:
    """As _make_error(), for what that has raised: an interruption takes the place of the exception."""
    try:
        return _error_of(hooks.exception_asked_for, interruption, 0)
    except (RecursionError, MemoryError):
        return _lose(interruption)
    except BaseException as other:
        return _lose(other)


def _lose(exception: BaseException) -> int:
    """The handle, owned, of the error that stands for an exception of which none can be made."""
    core.incref(EXHAUSTED)
    lost[get_ident()] = exception
    return EXHAUSTED


make_error_in_c = callback(WORD_OF_WORD, _make_error, 0, _make_other_error)


def put_whatever_happens(_cls: type, exception: BaseException, _traceback: Any) -> None:
    """As put_exception(), for what a callback has raised itself, mostly before its first step: what the handler of a
    signal has raised."""
    try:
        put_exception(exception, _n_raised)
    except (RecursionError, MemoryError):  # the lack of stack must not hide the exception
        lost[get_ident()] = exception
        core.error_set(EXHAUSTED)
    except BaseException as other:  # another interruption
        lost[get_ident()] = other
        core.error_set(EXHAUSTED)
