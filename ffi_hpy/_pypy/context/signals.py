"""Signals that arrive while native code runs: the function that the core calls for TVMFFIEnvCheckSignals."""

from __future__ import annotations

from threading import get_ident

from . import hooks
from .backend import QUESTION, callback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["ask_in_c", "interruptions", "keep"]

interruptions: dict[int, BaseException] = {}
"""By thread: what the handler of a signal has raised while native code ran, which has learnt of it."""


def _ask() -> int:
    """Runs Python code, in which PyPy calls the handlers of signals that are waiting. What they raise goes to keep():
    they may run before the first step of this function."""
    if get_ident() in interruptions:
        return -1  # that of an earlier question in this call
    hooks.check_signals()
    return 0


def keep(_cls: type, interruption: BaseException, _traceback: Any) -> None:
    """Keep what a callback has raised itself, for raise_interruption()."""
    interruptions[get_ident()] = interruption


ask_in_c = callback(QUESTION, _ask, -1, keep)
