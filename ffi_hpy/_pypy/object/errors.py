"""Conversion of native errors to exceptions and back.

A pending error is always taken as an error object, both by this module and by native code.
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
from ..context.hidden import forget_frames, hidden
from ..context.numbers import BYTES
from ..context.py_owners import drop, owned_at, owner_new, put_error, take_error
from ..context.signals import raise_interruption
from ..context.texts import messages
from .objects import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = [
    "EXHAUSTED",
    "backtraces",
    "drop_pending",
    "interrupts",
    "is_class_places",
    "is_end",
    "lost",
    "make_error_in_c",
    "moment",
    "name_classes",
    "put_exception",
    "put_whatever_happens",
    "raise_pending",
    "raise_taken",
    "take_object",
    "take_pending",
]


backtraces = new_lock()
"""Held while the backtrace of an error is read or changed, because the call that changes it releases the GIL."""

_CLASS_PLACES = BYTES | 0x5B7D1E02 << 32
"""The type index and the padding of Bytes with FFI_HPY_CLASS_PLACES (c_api.h)."""
_n_raised = 0
lost: dict[int, BaseException] = {}
"""By thread: an exception that left a callback when too little stack was left to make it the pending error."""


def _make_exhausted() -> int:
    """Create the pending error for lost exceptions, while there is stack."""
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
    """The number of native errors that have become exceptions so far. A later exception has a higher number."""
    return _n_raised


def take_pending() -> tuple[int, int]:
    """Take the pending error of this thread: the block of an exception that passed through unchanged, and the handle of
    an error, owned. One or both are 0."""
    out = new_words(1)
    block = take_error(address_of(out))
    return block, out[0]


def take_object() -> int:
    """Take the pending error of this thread as the handle of an error object, owned; 0 if there is none. raise_taken(0,
    handle, ...) can raise it."""
    out = new_words(1)
    core.error_take(out)
    address: int = out[0]
    return address


def drop_pending() -> None:
    """Drop the pending error of this thread."""
    address = take_object()
    if address:
        core.decref(address)


def interrupts(address: int) -> bool:
    """Whether an error is unrelated to the value that is being converted. The handle is stolen only if this function
    raises."""
    if _kind_at(address) == b"EnvErrorAlreadySet":
        return True
    core.incref(address)
    try:
        return hooks.interrupts(wrap(address)) is True
    except BaseException:  # a signal handler raised
        core.decref(address)
        raise


def _kind_at(address: int) -> bytes:
    cell = words_at(address)
    return bytes_at(cell[3], cell[4])


def is_end(address: int) -> bool:
    """Return whether an error only ends an iteration: its kind is StopIteration, and it has neither a message nor a
    backtrace, nor other errors or a context."""
    cell = words_at(address)
    return not (cell[6] or cell[8] or cell[10] or cell[11]) and _kind_at(address) == b"StopIteration"


@hidden
def raise_taken(block: int, address: int, callee: str) -> NoReturn:
    """Raise the exception for the result of take_pending()."""
    global _n_raised
    if block:
        _raise_own(block)
    if not address:
        raise_interruption()
        raise RuntimeError(messages.NO_ERROR % (callee or "native function"))
    if address == EXHAUSTED and get_ident() in lost:
        core.decref(address)
        raise lost.pop(get_ident())
    if _kind_at(address) == b"EnvErrorAlreadySet":
        core.decref(address)
        raise_interruption()
        raise RuntimeError(messages.NO_EXCEPTION)
    _n_raised += 1
    raise hooks.error_to_exception(wrap(address), _n_raised)


def name_classes(address: int, words: Any, args: tuple[Any, ...]) -> int:
    """Return the handle of an error whose message names the classes of arguments in Python, if the error at the address
    says where its message names classes; otherwise the same address. The handle is stolen. The arguments of the call
    are those at `words`."""
    cell = words_at(address)
    if not is_class_places(cell[11]):
        return address
    try:
        return _with_classes(cell, address_of(words), args)
    finally:
        core.decref(address)


def is_class_places(address: int) -> bool:
    """Return whether the context of an error is Bytes with FFI_HPY_CLASS_PLACES."""
    return address != 0 and bool(words_at(address)[1] == _CLASS_PLACES)


def _with_classes(cell: Any, first: int, args: tuple[Any, ...]) -> int:
    context = words_at(cell[11])
    places = bytes_at(context[3], context[4])
    data = str.encode(hooks.name_classes(bytes_at(cell[5], cell[6]), places, first, args))
    chars, text, out = new_chars(data), new_words(2), new_words(1)
    text[0], text[1] = address_of(chars), len(data)
    with backtraces:
        failed = core.error_new(cell + 3, text, cell + 7, cell[10], 0, out) != 0
    if failed:
        raise MemoryError
    made: int = out[0]
    return made


@hidden
def raise_pending(callee: str) -> NoReturn:
    """Raise the exception for the pending error of this thread."""
    block, address = take_pending()
    raise_taken(block, address, callee)


@hidden
def _raise_own(block: int) -> NoReturn:
    """Raise an exception that passed through native code unchanged. The hook records where its traceback re-enters
    Python."""
    global _n_raised
    exception = owned_at(block)
    drop(block)
    _n_raised += 1
    try:
        hooks.exception_arrives(exception, _n_raised)
    except (RecursionError, MemoryError):
        pass  # a lack of stack must not hide the exception: raise it without that record
    raise exception


# --- exceptions of callbacks --------------------------------------------------------------------------------------


def put_exception(exception: BaseException, began: int) -> None:
    """Make an exception the pending error of this thread. The exception leaves a callback that began at the moment
    `began`. May raise any exception if the stack is exhausted."""
    try:
        _put(exception, began)
    except (RecursionError, MemoryError):
        raise
    except BaseException as other:  # an interruption replaces the exception
        _put(other, began)


def _put(exception: BaseException, began: int) -> None:
    forget_frames(exception)
    if not exception.__dict__ or hooks.exception_leaves(exception, began) is True:
        block = owner_new(exception)
        if put_error(block) == 0:
            return
        drop(block)
    address = _error_of(hooks.exception_to_error, exception, began)
    core.error_set(address)
    core.decref(address)


def _error_of(hook: Any, exception: BaseException, began: int) -> int:
    """Return the error object of an exception, owned, with the native frames between the callback and its caller."""
    error = hook(exception, began)
    address: int = error._ffi_address
    core.incref(address)
    frames = core.backtrace(0, 0, 0, 0)
    if words_at(frames)[1]:  # empty unless the environment asks for frames
        update = cast(UPDATE_BACKTRACE, words_at(address)[9])
        with backtraces:
            update(address, words_at(frames), 1)
    return address


def _make_error(block: int) -> int:
    """Return the handle, owned, of the error object for a pending exception, because native code inspects it."""
    exception = owned_at(block)
    drop(block)
    try:
        return _error_of(hooks.exception_asked_for, exception, 0)
    except (RecursionError, MemoryError):
        return _lose(exception)


def _make_other_error(_cls: type, interruption: BaseException, _traceback: Any) -> int:
    """Like _make_error(), for an exception that _make_error() raised: an interruption replaces the exception."""
    try:
        return _error_of(hooks.exception_asked_for, interruption, 0)
    except (RecursionError, MemoryError):
        return _lose(interruption)
    except BaseException as other:
        return _lose(other)


def _lose(exception: BaseException) -> int:
    """Return the handle, owned, of the error that replaces an exception for which none can be created."""
    core.incref(EXHAUSTED)
    lost[get_ident()] = exception
    return EXHAUSTED


make_error_in_c = callback(WORD_OF_WORD, _make_error, 0, _make_other_error)


def put_whatever_happens(_cls: type, exception: BaseException, _traceback: Any) -> None:
    """Like put_exception(), for an exception of the callback function itself. Usually a signal handler raised it before
    the first step."""
    try:
        put_exception(exception, _n_raised)
    except (RecursionError, MemoryError):  # a lack of stack must not hide the exception
        lost[get_ident()] = exception
        core.error_set(EXHAUSTED)
    except BaseException as other:  # another interruption
        lost[get_ident()] = other
        core.error_set(EXHAUSTED)
