"""Functions that are hidden from tracebacks, like the functions of the C binding.

PyPy omits their frames. CPython cannot, so there `forget_frames` removes the entries that an exception has from these
functions when it leaves Python code for native code. Below the last native call they stay visible.
"""

from __future__ import annotations

from threading import get_ident

__all__ = ["forget_frames", "hidden"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, TracebackType
    from typing import Any, TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])

_codes: set[CodeType] = set()  # of the hidden functions; empty on PyPy
_last: dict[int, tuple[int, int]] = {}  # by thread: the ids of an exception and of an entry, for forget_frames()


def _note(function: Function) -> Function:
    _codes.add(function.__code__)
    return function


def _next_shown(entry: TracebackType | None) -> TracebackType | None:
    while entry is not None and entry.tb_frame.f_code in _codes:
        entry = entry.tb_next
    return entry


def forget_frames(exception: BaseException) -> None:
    """Remove the entries of hidden functions from the traceback of an exception. The entries from the first one of the
    last call on are shown already, if the thread has not handled another exception since then."""
    if not _codes:
        return
    first = shown = _next_shown(exception.__traceback__)
    if shown is not exception.__traceback__:
        BaseException.with_traceback(exception, shown)  # the class may refuse to set attributes
    known = _last.get(get_ident())
    while shown is not None and (id(exception), id(shown)) != known:
        following = _next_shown(shown.tb_next)
        if following is not shown.tb_next:
            shown.tb_next = following
        shown = following
    _last[get_ident()] = (id(exception), id(first))


if TYPE_CHECKING:

    def hidden(function: Function) -> Function:
        """Hide a function from tracebacks (a decorator)."""
        return function

else:
    try:
        from __pypy__ import hidden_applevel as hidden
    except ImportError:
        hidden = _note
