"""The functions behind `hpy.trace`, over ffi_hpy._hpy."""

from __future__ import annotations

import time

from ._runtime import _hpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Hook = Callable[[str], object]

_AS_BEFORE: Hook = len  # not a hook: a marker for an argument that is not given


def get_call_counts() -> dict[str, int]:
    """Return the number of calls of each context function, by names such as ctx_Add."""
    return dict(_hpy.trace_calls())


def get_durations() -> dict[str, int]:
    """Return the nanoseconds spent in each context function, including the functions that it calls."""
    return dict(_hpy.trace_nanoseconds())


def set_trace_functions(on_enter: Hook | None = _AS_BEFORE, on_exit: Hook | None = _AS_BEFORE) -> None:
    """Make each context function call `on_enter(name)` before and `on_exit(name)` after its work; None ends that.

    An argument that is not given leaves its hook unchanged. Context functions that the hooks call are not reported, and
    exceptions of the hooks go to sys.unraisablehook.
    """
    for hook in (on_enter, on_exit):
        if hook is not None and not callable(hook):
            raise TypeError(f"expected a callable object or None, got {hook!r}")
    if on_enter is not _AS_BEFORE:
        _hpy.trace_on_enter(on_enter)
    if on_exit is not _AS_BEFORE:
        _hpy.trace_on_exit(on_exit)


def get_frequency() -> int:
    """Resolution of the clock, in hertz."""
    return round(1 / time.clock_getres(time.CLOCK_MONOTONIC))
