"""Helpers for error messages in the form of the C binding's: long names are cut, and arguments are named."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, TypeVar

    Class = TypeVar("Class", bound=type)

__all__ = ["MISSING", "bind", "check_new", "cut", "final", "raise_unmade", "shown"]

_MESSAGE_BYTES = 1023


def cut(text: str, n_bytes: int = _MESSAGE_BYTES) -> str:
    """Return as much of a str as fits into n_bytes of UTF-8."""
    if len(text) * 4 <= n_bytes:
        return text
    return text.encode("utf-8", "surrogatepass")[:n_bytes].decode("utf-8", "ignore")


def shown(text: str, n_bytes: int = 255) -> str:
    """Return a name for a message."""
    return cut(text.replace("\0", "\\x00"), n_bytes)


MISSING = object()
"""For bind(), where None is an ordinary value."""


def bind(
    callee: str,
    names: tuple[str, ...],
    n_required: int,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    missing: Any = None,
) -> list[Any]:
    """Return the arguments of a call in the order of `names`, `missing` for omitted ones. TypeError for wrong
    arguments."""
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


def raise_unmade(value: object) -> NoReturn:
    """TypeError for an instance that object.__new__() created."""
    raise TypeError(f"this {type(value).__name__} was not made by the __new__ of its class") from None


def check_new(cls: Any, own: type, name: str) -> None:
    """TypeError if the first argument of a `__new__` is not a subclass of its own class."""
    if not isinstance(cls, type):
        raise TypeError(f"{name}.__new__(X): X is not a type but of type {type(cls).__name__}")
    if own not in cls.__mro__:
        raise TypeError(f"{name}.__new__({cls.__name__}): {cls.__name__} is not a subtype of {name}")


def _refuse_subclass(cls: Any, /, **_options: Any) -> NoReturn:
    raise TypeError(f"type '{cls.__bases__[0].__name__}' is not an acceptable base type")


def final(cls: Class) -> Class:
    """Make a class refuse subclasses (a decorator)."""
    cls.__init_subclass__ = classmethod(_refuse_subclass)  # type: ignore[assignment]
    return cls
