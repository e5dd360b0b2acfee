"""Tells the failure of a call from an interruption: what the handler of a signal has raised in the middle of it.

Where a failure is answered with less (a repr without the fields, say), an interruption still has to arrive at the
program, and both may be of any class. A failure comes again if the call is repeated, an interruption does not.
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
        The class of the failure, if the call fails in the same way again. Where stack or memory was lacking it is not
        repeated.

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
        # Two that differ: the one that comes a third time is the failure.
        if again is not None and type(_raised_by(function, args)) is failure:
            raise again
        raise error
    finally:
        del error, again  # their tracebacks have this frame


def _raised_by(function: Callable[..., Any], args: tuple[Any, ...]) -> Exception | None:
    try:
        function(*args)
    except Exception as error:
        return error
    return None
