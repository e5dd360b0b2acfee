"""The functions behind `hpy.trace`, over ffi_hpy._hpy."""

from __future__ import annotations

import time

from ._runtime import _hpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Hook = Callable[[str], object]

_AS_BEFORE: Hook = len  # no hook: what stands for an argument that is not given


def get_call_counts() -> dict[str, int]:
    """How often each function of the context was called, by names such as ctx_Add."""
    return dict(_hpy.trace_calls())


def get_durations() -> dict[str, int]:
    """Nanoseconds spent in each function of the context, with what it calls."""
    return dict(_hpy.trace_nanoseconds())


def set_trace_functions(on_enter: Hook | None = _AS_BEFORE, on_exit: Hook | None = _AS_BEFORE) -> None:
    """Have `on_enter(name)` called before and `on_exit(name)` after each function of the context; None: no more.

    What is not given stays. Functions of the context that they call themselves are not told, and what they raise goes
    to sys.unraisablehook.
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
