"""Arguments of methods that are written with `*args, **kwargs`, so that what is wrong is said as the binding in C says
it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["MISSING", "bind"]

MISSING = object()
"""Stands for an argument that is not given."""


def bind(callee: str, names: tuple[str, ...], n_required: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A value for each name; TypeError if arguments and names do not fit."""
    if len(args) > len(names):
        raise TypeError(f"{callee}() takes at most {len(names)}, got {len(args)} arguments")
    given = [*args, *[MISSING] * (len(names) - len(args))]
    for name, value in kwargs.items():
        if name not in names:
            shown = name.replace("\0", "\\x00")
            raise TypeError(f"{callee}() got an unexpected keyword argument '{shown}'")
        if given[names.index(name)] is not MISSING:
            raise TypeError(f"{callee}() got multiple values for argument '{name}'")
        given[names.index(name)] = value
    for name, value in zip(names[:n_required], given):
        if value is MISSING:
            raise TypeError(f"{callee}() missing required argument: '{name}'")
    return given
