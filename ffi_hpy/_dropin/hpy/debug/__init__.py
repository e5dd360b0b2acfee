"""HPy's debug mode: the leak detector, and the native stacks of handles."""

from __future__ import annotations

from .leakdetector import HPyDebugError, HPyLeakError, LeakDetector

__all__ = [
    "HPyDebugError",
    "HPyLeakError",
    "LeakDetector",
    "disable_handle_stack_traces",
    "set_handle_stack_trace_limit",
]


def set_handle_stack_trace_limit(limit: int | None) -> None:
    """Record `limit` frames of the native stack when a handle is opened, for later display. None records none."""
    from ..universal import _debug

    _debug.set_handle_stack_trace_limit(limit)


def disable_handle_stack_traces() -> None:
    """Record no native stacks."""
    set_handle_stack_trace_limit(None)
