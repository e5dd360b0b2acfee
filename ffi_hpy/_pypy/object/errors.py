"""A native error as an exception, and back.

What is pending on a thread is always taken as an error object: native code asks for it as this module does.
"""

from __future__ import annotations

from threading import get_ident

from ..context import hooks
from ..context.backend import UPDATE_BACKTRACE, address_of, bytes_at, cast, core, new_chars, new_words, words_at
from ..context.holds import drop, held_at, hold, interruptions, put_error, set_error_maker, take_error
from .objects import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])

    def hidden(function: Function) -> Function:
        """Decorates a function that tracebacks do not show, as they show none of the binding in C."""
        return function

else:
    from __pypy__ import hidden_applevel as hidden

__all__ = [
    "LOST_ERROR",
    "drop_pending",
    "hidden",
    "lost",
    "moment",
    "put_exception",
    "put_lost",
    "raise_interruption",
    "raise_pending",
    "raise_taken",
    "take_object",
    "take_pending",
]


_n_raised = 0


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


def _kind_at(address: int) -> bytes:
    cell = words_at(address)
    return bytes_at(cell[3], cell[4])


@hidden
def raise_taken(block: int, address: int, callee: str) -> NoReturn:
    """Raise the exception for what take_pending() gave."""
    global _n_raised
    if block:
        _raise_own(block)
    if not address:
        raise_interruption()
        raise RuntimeError(f"{callee or 'native function'}() returned failure without setting an error")
    if address == LOST_ERROR and get_ident() in lost:
        core.decref(address)
        raise lost.pop(get_ident())
    if _kind_at(address) == b"EnvErrorAlreadySet":
        core.decref(address)
        raise_interruption()
        raise RuntimeError("native code reported a Python exception, but none is set")
    _n_raised += 1
    raise hooks.error_to_exception(wrap(address), _n_raised)


@hidden
def raise_interruption() -> None:
    """Raise what the handler of a signal has raised while native code ran on this thread, if there is something."""
    interruption = interruptions.pop(get_ident(), None)
    if interruption is not None:
        raise interruption


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
    """Make an exception the thread's pending error. It leaves a callback that began at a moment."""
    if not exception.__dict__ or hooks.exception_leaves(exception, began) is True:
        block = hold(exception)
        if put_error(block) == 0:
            return
        drop(block)
    try:
        address = _error_of(hooks.exception_to_error, exception, began)
    except (RecursionError, MemoryError):
        raise
    except BaseException as other:  # an interruption takes the place of the exception
        address = _error_of(hooks.exception_to_error, other, began)
    core.error_set(address)
    core.decref(address)


def _error_of(hook: Any, exception: BaseException, began: int) -> int:
    """The error object of an exception, owned, with the native frames between the callback and its caller."""
    error = hook(exception, began)
    address: int = error._address
    core.incref(address)
    frames = core.backtrace(0, 0, 0, 0)
    if words_at(frames)[1]:  # none, unless the environment asks for them
        update = cast(UPDATE_BACKTRACE, words_at(address)[9])
        update(address, words_at(frames), 1)
    return address


def _error_asked_for(exception: BaseException) -> int:
    """Native code asks for the error object of an exception that is pending as it is."""
    try:
        return _error_of(hooks.exception_asked_for, exception, 0)
    except (RecursionError, MemoryError):
        pass
    except BaseException as other:  # an interruption takes the place of the exception
        exception = other
        try:
            return _error_of(hooks.exception_asked_for, exception, 0)
        except BaseException:
            pass
    core.incref(LOST_ERROR)
    lost[get_ident()] = exception
    return LOST_ERROR


def _put_whatever_happens(exception: BaseException) -> None:
    try:
        put_exception(exception, _n_raised)
    except BaseException:
        lost[get_ident()] = exception
        put_lost(LOST_ERROR)


set_error_maker(_error_asked_for, _put_whatever_happens)


# --- the last resort ----------------------------------------------------------------------------------------------
# An exception that leaves a callback where no stack is left to make an error of it stays here. What is pending instead
# was made in advance, so that putting it there takes C functions only: native code sees a RecursionError, and Python
# code, once there is stack again, the exception itself.


def _make_plain(kind: bytes, message: bytes) -> int:
    """The handle of a new error, made without the package's help."""
    texts = [new_chars(kind), new_chars(message), new_chars(b"")]
    arrays = [new_words(2) for _ in texts]
    for array, text in zip(arrays, texts):
        array[0], array[1] = address_of(text), len(text) - 1
    out = new_words(1)
    if core.error_new(*arrays, 0, 0, out) != 0:
        raise MemoryError
    address: int = out[0]
    return address


lost: dict[int, BaseException] = {}
"""By thread: the exception for which LOST_ERROR is pending."""
LOST_ERROR = _make_plain(b"RecursionError", b"maximum recursion depth exceeded: callbacks within callbacks")
put_lost = core.error_set  # a name of its own: asking an instance for an attribute may take stack
