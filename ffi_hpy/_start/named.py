"""The names of classes, and functions with their own names, for classes that are created while other threads run.

A closure that becomes a method has the name of its definition. CPython without a GIL stops all threads for each
assignment to `__name__`, `__qualname__`, `__module__` or `__doc__` of a function, and each stop takes milliseconds if
threads are busy. There a second function is created instead, with its names from the beginning.
"""

from __future__ import annotations

import sys
from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["module_of", "named"]

module_of: Callable[[type], Any] = type.__dict__["__module__"].__get__
"""Returns the `__module__` of a class, also if the metaclass has a property of that name, which may fail."""

_STOPS_THREADS = hasattr(sys, "_is_gil_enabled") and not sys._is_gil_enabled()


def named(function: Any, owner: type, name: str) -> Any:
    """Return the function as the method `name` of a class. The function must be new, without keyword-only defaults, and
    have no other users; its code defines no functions. On some interpreters it stays unchanged, and a new function is
    returned."""
    qualname = f"{owner.__qualname__}.{name}"
    if not _STOPS_THREADS:
        function.__name__, function.__qualname__, function.__module__ = name, qualname, owner.__module__
        function.__annotations__ = {}  # these are its code's own, and mean nothing in the class's module
        return function
    code = function.__code__.replace(co_name=name, co_qualname=qualname)
    # __module__ comes from the __name__ among the globals. A copy of the other globals is sufficient: they never
    # change.
    known = function.__globals__
    scope = {used: known[used] for used in ("__builtins__", *code.co_names) if used in known}
    scope["__name__"] = owner.__module__
    made = FunctionType(code, scope, name, function.__defaults__, function.__closure__)
    made.__dict__.update(function.__dict__)
    return made
