"""HPy's trace mode, which ffi_hpy's runtime does not have: names to import, and an error for who calls them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

MISSING = "ffi_hpy's HPy runtime has a universal and a debug mode, and none that counts calls"


def get_call_counts() -> NoReturn:
    """How often each function of the context was called."""
    raise NotImplementedError(MISSING)


def get_durations() -> NoReturn:
    """Nanoseconds spent in each function of the context."""
    raise NotImplementedError(MISSING)


def set_trace_functions(
    on_enter: Callable[[str], object] | None = None, on_exit: Callable[[str], object] | None = None
) -> NoReturn:
    """Have functions called before and after each function of the context."""
    raise NotImplementedError(MISSING)


def get_frequency() -> NoReturn:
    """Resolution of the clock, in hertz."""
    raise NotImplementedError(MISSING)
