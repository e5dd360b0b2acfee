"""Error messages: the formats that both backends use, which the C binding has, and helpers that cut long names and
name arguments as the C binding does."""

from __future__ import annotations

from types import SimpleNamespace

from .binding import binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, TypeVar

    Class = TypeVar("Class", bound=type)

__all__ = ["MISSING", "bind", "check_new", "cut", "final", "messages", "raise_unmade", "shown"]

messages = SimpleNamespace(**binding.messages())
"""The formats of src/hpy_module/context/messages.h."""

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
        raise TypeError(messages.TOO_MANY % (callee, len(names), len(args)))
    given = [*args, *[missing] * (len(names) - len(args))]
    for name, value in kwargs.items():
        if name not in names:
            raise TypeError(messages.UNEXPECTED % (callee, shown(name)))
        at = names.index(name)
        if at < len(args):
            raise TypeError(messages.TWICE % (callee, name))
        given[at] = value
    for at in range(len(args), n_required):
        if names[at] not in kwargs:
            raise TypeError(messages.MISSING % (callee, names[at]))
    return given


def raise_unmade(value: object) -> NoReturn:
    """TypeError for an instance that object.__new__() created."""
    raise TypeError(messages.NOT_FROM_NEW % type(value).__name__) from None


def check_new(cls: Any, own: type, name: str) -> None:
    """TypeError if the first argument of a `__new__` is not a subclass of the method's class."""
    if not isinstance(cls, type):
        raise TypeError(messages.NOT_A_TYPE % (name, type(cls).__name__))
    if own not in cls.__mro__:
        raise TypeError(messages.NOT_A_SUBTYPE % (name, cls.__name__, cls.__name__, name))


def _refuse_subclass(cls: Any, /, **_options: Any) -> NoReturn:
    raise TypeError(messages.FINAL % cls.__bases__[0].__name__)


def final(cls: Class) -> Class:
    """Make a class refuse subclasses (a decorator)."""
    cls.__init_subclass__ = classmethod(_refuse_subclass)  # type: ignore[assignment]
    return cls
