"""Signals that arrive while native code runs: the function that the core calls for TVMFFIEnvCheckSignals."""

from __future__ import annotations

from threading import get_ident

from . import hooks
from .backend import QUESTION, callback
from .hidden import hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["ask_in_c", "interruptions", "keep", "keep_raised", "raise_interruption"]

interruptions: dict[int, list[BaseException]] = {}
"""By thread: exceptions of signal handlers that could not be raised at the time, because native code ran, which got an
error, or because a finalizer ran. Empty if no thread has any."""


def _ask() -> int:
    """Run Python code, so that PyPy calls the handlers of pending signals. Exceptions of the handlers are kept:
    handlers may run before the first step of this function."""
    if get_ident() in interruptions:
        return -1  # from an earlier check in this call
    hooks.check_signals()
    return 0


def keep(interruption: BaseException) -> None:
    """Keep an exception that cannot be raised here, for raise_interruption() on this thread."""
    interruptions.setdefault(get_ident(), []).append(interruption)


@hidden
def raise_interruption() -> None:
    """Raise the first exception kept on this thread, if there is one."""
    kept = interruptions.get(get_ident())
    if kept:
        interruption = kept.pop(0)
        if not kept:
            interruptions.pop(get_ident(), None)
        raise interruption


def keep_raised(_cls: type, interruption: BaseException, _traceback: Any) -> None:
    """Keep the exception of a callback itself."""
    keep(interruption)


ask_in_c = callback(QUESTION, _ask, -1, keep_raised)
