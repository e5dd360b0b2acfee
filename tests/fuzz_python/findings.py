"""The forbidden results of a call, as far as the process survives to report them."""

from __future__ import annotations

import sys
import traceback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MOST = 40  # findings per process
_TEXT_LENGTH = 300
_KEY_LENGTH = 60  # findings with equal beginnings are one finding


class Findings:
    """The findings of a process, each kind once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[str, Any]] = {}

    def add(self, call: int, kind: str, error: BaseException, lines: list[str]) -> None:
        """Add an exception of a call, with the lines that the call recorded."""
        text = f"{type(error).__name__}: {_text_of(error)}"
        key = (kind, text[:_KEY_LENGTH])
        if key not in self._found and len(self._found) < MOST:
            trace = "".join(traceback.format_tb(error.__traceback__)[-6:])
            self._found[key] = {"call": call, "kind": kind, "text": text, "lines": lines, "trace": trace}

    def all(self) -> list[dict[str, Any]]:
        return list(self._found.values())


def _text_of(error: BaseException) -> str:
    try:
        return str(error)[:_TEXT_LENGTH]
    except Exception:  # its arguments may be hostile
        return "?"


class LeftBehind(Exception):
    """An error is pending in native code after a successful call."""


def pending_check() -> Callable[[], None]:
    """Return a function that raises the error that a call has left pending: the interpreter's exception, or the core's
    error.

    Only CPython has a function for the interpreter's exception.
    """
    if sys.implementation.name != "cpython":
        return lambda: None
    import ctypes

    import ffi_hpy

    look_at_interpreter = ctypes.pythonapi.PyErr_Occurred  # ctypes raises a pending exception
    look_at_interpreter.restype = ctypes.c_void_p
    take = ffi_hpy.LIB.TVMFFIErrorMoveFromRaised
    place = ctypes.c_void_p()
    where = ctypes.byref(place)

    def check() -> None:
        look_at_interpreter()
        take(where)
        if place.value:
            place.value = None
            raise LeftBehind("the core's error")

    return check
