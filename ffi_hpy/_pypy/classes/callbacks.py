"""Python callables as native functions. Native code may call and release them on any thread."""

from __future__ import annotations

from threading import get_ident

from ..context import bridge
from ..context.backend import SAFE_CALL, address_of, callback, core, new_words, words_at
from ..context.binding import RUNS_TO_THE_END, binding
from ..context.hidden import hidden
from ..context.numbers import INT, INT64_MAX, INT64_MIN
from ..context.py_owners import CALL_AT, DROP_AT, drop, owned, owner_new
from ..context.signals import ask_in_c
from ..context.texts import messages
from ..convert import exchanged
from ..convert.arguments import own_value, set_maker
from ..convert.results import of_view
from ..object.errors import EXHAUSTED, lost, make_error_in_c, moment, put_exception, put_whatever_happens, raise_pending
from ..object.objects import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .functions import Function

__all__ = ["function_from_callable"]

_RETURNED = messages.RETURN_VALUE


@hidden
def _run(block: int, args: Any, n: int, result: Any) -> int:
    """safe_call of a callback. The function avoids Python function calls where it can, because callbacks nest."""
    began = moment()
    try:
        fn = owned[words_at(block)[1]]
        if n == 1:
            value = fn(of_view(args))
        elif n == 0:
            value = fn()
        elif n == 2:
            value = fn(of_view(args), of_view(args + 2))
        elif n == 3:
            value = fn(of_view(args), of_view(args + 2), of_view(args + 4))
        else:
            value = _call_many(fn, args, n)
        if value is None:
            return 0
        if type(value) is int and INT64_MIN <= value <= INT64_MAX:
            result[0] = INT
            result[1] = value
            return 0
        own_value(value, result, _RETURNED)
    except BaseException as exception:
        try:
            put_exception(exception, began)
        except (RecursionError, MemoryError):  # the stack is exhausted: from here on only C functions are called
            lost[get_ident()] = exception
            _set_error(EXHAUSTED)
        # Any other exception is an interruption; put_whatever_happens() gets it
        return -1
    return 0


@hidden
def _call_many(fn: Any, args: Any, n: int) -> Any:
    return fn(*[of_view(args + 2 * i) for i in range(n)])


_run_in_c = callback(SAFE_CALL, _run, -1, put_whatever_happens)
binding.start_cffi_backend(address_of(_run_in_c), address_of(make_error_in_c), address_of(ask_in_c), RUNS_TO_THE_END)
_set_error = core.error_set


def function_from_callable(fn: Any, *exchange_api: Any) -> Function:
    """A native function that calls a Python callable."""
    if exchange_api or not callable(fn):
        return _with_exchange(fn, *exchange_api)
    function: Function = wrap(_make(fn))
    return function


def _make(fn: Any) -> int:
    """Return the object of a new function that calls a callable."""
    block = owner_new(fn)
    out = new_words(1)
    if core.function_new(block, CALL_AT, DROP_AT, out) != 0:
        drop(block)
        raise_pending("function_from_callable")
    address: int = out[0]
    return address


set_maker(function_from_callable, _make)


def _with_exchange(fn: Any, *exchange_api: Any) -> Function:
    """Return a function whose tensor arguments arrive as arrays of a library; the C binding implements it, and raises
    the error for other arguments."""

    @hidden
    def call(*args: Any) -> Any:
        return fn(*[exchanged.from_binding(arg) for arg in args])

    function: Function = bridge.from_binding(
        binding.function_from_callable(call if callable(fn) else fn, *exchange_api)
    )
    return function
