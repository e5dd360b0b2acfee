"""Functions that tracebacks do not show, as they show none of the binding in C."""

from __future__ import annotations

__all__ = ["hidden"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])

    def hidden(function: Function) -> Function:
        """Decorates a function that tracebacks do not show."""
        return function

else:
    from __pypy__ import hidden_applevel as hidden
