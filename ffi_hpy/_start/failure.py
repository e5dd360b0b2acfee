"""Distinguishes the failure of a call from an interruption: an exception that a signal handler raised in the middle of
the call.

A failure may be replaced by less (such as a repr without the fields), but an interruption must reach the program, and
both may have any class. A failure occurs again if the call is repeated; an interruption does not.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["confirm_failure"]


def confirm_failure(error: Exception, function: Callable[..., Any], *args: Any) -> type[BaseException]:
    """Repeat a call that has raised `error`.

    Returns:
        The class of the failure, if the call fails in the same way again. A lack of stack or memory is not tried again.

    Raises:
        Exception: the interruption.
    """
    failure = type(error)
    again = None
    if issubclass(failure, (RecursionError, MemoryError)):
        return failure
    try:
        again = _raised_by(function, args)
        if type(again) is failure:
            return failure
        # Of two different exceptions, the failure is the exception that occurs a third time.
        if again is not None and type(_raised_by(function, args)) is failure:
            raise again
        raise error
    finally:
        del error, again  # their tracebacks contain this frame


def _raised_by(function: Callable[..., Any], args: tuple[Any, ...]) -> Exception | None:
    try:
        function(*args)
    except Exception as error:
        return error
    return None
