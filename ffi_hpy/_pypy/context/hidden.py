"""Functions that are hidden from tracebacks, like the functions of the C binding."""

from __future__ import annotations

__all__ = ["hidden"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])

    def hidden(function: Function) -> Function:
        """Hide a function from tracebacks (a decorator)."""
        return function

else:
    from __pypy__ import hidden_applevel as hidden
