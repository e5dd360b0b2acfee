"""A native error as an exception, and back.

What is pending on a thread is always taken as an error object: native code asks for it as this module does.
"""

from __future__ import annotations

from threading import get_ident

from __pypy__ import hidden_applevel  # type: ignore[import-not-found,unused-ignore]

from . import hooks
from .backend import QUESTION, UPDATE_BACKTRACE, address_of, bytes_at, callback, cast, core, new_chars, new_words, words_at
from .objects import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["connect_signals", "hidden", "moment", "put_exception", "raise_pending", "raise_taken", "take_pending"]

hidden: Any = hidden_applevel
"""Decorates a function that tracebacks do not show, as they show none of the binding in C."""

_n_raised = 0
_interruptions: dict[int, BaseException] = {}  # by thread: raised by a handler of a signal while native code ran


def moment() -> int:
    """How many native errors have become exceptions: exceptions of a higher number are of a later time."""
    return _n_raised


def take_pending() -> int:
    """The handle of the error that is pending on this thread, owned; 0 if there is none."""
    out = new_words(1)
    core.error_take(out)
    address: int = out[0]
    return address


def _kind_at(address: int) -> bytes:
    cell = words_at(address)
    return bytes_at(cell[3], cell[4])


@hidden
def raise_taken(address: int, callee: str) -> NoReturn:
    """Raise the exception for an error, which is taken; 0 stands for none."""
    global _n_raised
    if not address:
        raise RuntimeError(f"{callee or 'native function'}() returned failure without setting an error")
    if _kind_at(address) == b"EnvErrorAlreadySet":
        core.decref(address)
        interruption = _interruptions.pop(get_ident(), None)
        if interruption is not None:
            raise interruption
        raise RuntimeError("native code reported a Python exception, but none is set")
    _n_raised += 1
    raise hooks.error_to_exception(wrap(address), _n_raised)


@hidden
def raise_pending(callee: str) -> NoReturn:
    """Raise the exception for the error that is pending on this thread."""
    raise_taken(take_pending(), callee)


# --- exceptions of callbacks --------------------------------------------------------------------------------------


def put_exception(exception: BaseException, began: int) -> None:
    """Make an exception the thread's pending error. It leaves a callback that began at a moment."""
    try:
        error = hooks.exception_to_error(exception, began)
    except (RecursionError, MemoryError):
        _put_plain(type(exception).__name__, exception)
        return
    except BaseException as other:  # an interruption takes the place of the exception
        try:
            error = hooks.exception_to_error(other, began)
        except BaseException:
            _put_plain(type(other).__name__, other)
            return
    address = error._address
    if not address:
        _put_plain("RuntimeError", RuntimeError("a callback failed, and its error could not be translated"))
        return
    frames = core.backtrace(0, 0, 0, 0)
    if words_at(frames)[1]:
        update = cast(UPDATE_BACKTRACE, words_at(address)[9])
        update(address, words_at(frames), 1)
    core.error_set(address)


def _put_plain(kind: str, exception: BaseException) -> None:
    """An error without the package's help, when stack or memory is used up."""
    args = exception.args
    message = args[0] if args and type(args[0]) is str else ""
    texts = [new_chars(kind.encode()), new_chars(message.encode("utf-8", "replace")), new_chars(b"")]
    arrays = []
    for text in texts:
        array = new_words(2)
        array[0] = address_of(text)
        array[1] = len(text) - 1
        arrays.append(array)
    out = new_words(1)
    if core.error_new(arrays[0], arrays[1], arrays[2], 0, 0, out) == 0:
        core.error_set(out[0])
        core.decref(out[0])


# --- signals ------------------------------------------------------------------------------------------------------


def _check_signals() -> int:
    """Runs Python code, in which PyPy calls the handlers of signals that are waiting."""
    try:
        hooks.check_signals()
    except BaseException as interruption:
        _interruptions[get_ident()] = interruption
        return -1
    return 0


_question = callback(QUESTION, _check_signals, -1)
_question_name = new_chars(b"PyErr_CheckSignals")


def connect_signals() -> None:
    """From now on the core asks here whether a signal has arrived."""
    core.register_question(address_of(_question_name), address_of(_question))
