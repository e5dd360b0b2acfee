"""Containers in the results of the standard library's `dataclasses.asdict` and `dataclasses.astuple`.

These functions convert the items of a list, tuple or dict, and copy every other value by `copy.deepcopy`. Our
containers are not subclasses of list and dict, so their `__deepcopy__`, which the binding has, looks for these
functions among its callers.
"""

from __future__ import annotations

import copy
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["converter_of_asdict"]

_PACKAGE = __name__[: -len("_containers.standard_copy")]
_FACTORIES = {"_asdict_inner": "dict_factory", "_astuple_inner": "tuple_factory"}
"""The names of the functions of the standard library that convert one value, each with its second parameter."""


def converter_of_asdict() -> Callable[[Any], Any] | None:
    """Return the conversion of values by the function of the standard library that copies the container. None if
    another function called `copy.deepcopy`."""
    frame: Any = sys._getframe(2)
    while frame.f_code is not copy.deepcopy.__code__:
        if not str(frame.f_globals.get("__name__")).startswith(_PACKAGE):
            return None
        frame = frame.f_back  # the cffi backend on CPython has frames in between
    frame = frame.f_back
    name = "" if frame is None else frame.f_code.co_name
    if name not in _FACTORIES or frame.f_globals.get("__name__") != "dataclasses":
        return None
    factory = frame.f_locals.get(_FACTORIES[name])
    inner = frame.f_globals.get(name)
    return None if factory is None or inner is None else lambda value: inner(value, factory)
