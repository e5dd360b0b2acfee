"""Texts of errors as the binding in C writes them: names of any length in them are cut, and arguments are named."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["MISSING", "bind", "cut", "shown"]

_MESSAGE_BYTES = 1023


def cut(text: str, n_bytes: int = _MESSAGE_BYTES) -> str:
    """As much of a text as fits into so many bytes of UTF-8."""
    if len(text) * 4 <= n_bytes:
        return text
    return text.encode("utf-8", "surrogatepass")[:n_bytes].decode("utf-8", "ignore")


def shown(text: str, n_bytes: int = 255) -> str:
    """A name in a message."""
    return cut(text.replace("\0", "\\x00"), n_bytes)


MISSING = object()
"""For bind(), where None is a value like others."""


def bind(
    callee: str,
    names: tuple[str, ...],
    n_required: int,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    missing: Any = None,
) -> list[Any]:
    """The arguments of a call by their names, `missing` for one that is not given. TypeError for wrong ones."""
    if len(args) > len(names):
        raise TypeError(f"{callee}() takes at most {len(names)}, got {len(args)} arguments")
    given = [*args, *[missing] * (len(names) - len(args))]
    for name, value in kwargs.items():
        if name not in names:
            raise TypeError(f"{callee}() got an unexpected keyword argument '{shown(name)}'")
        at = names.index(name)
        if at < len(args):
            raise TypeError(f"{callee}() got multiple values for argument '{name}'")
        given[at] = value
    for at in range(len(args), n_required):
        if names[at] not in kwargs:
            raise TypeError(f"{callee}() missing required argument: '{names[at]}'")
    return given
