"""`__nb_signature__` of functions that bind.h binds: nanobind's description of their overloads, which tools read."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Sequence

from .._core import Function
from .._types.function_metadata import metadata_of, parameters_of, signature_of_init
from .._types.parameters import NO_DEFAULT, ShownDefault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._types.parameters import Parameters

__all__ = ["LateSignatures", "NbSignature"]


class NbSignature:
    """`__nb_signature__`: for each overload a line with a mark in place of each default, the documentation, and the
    defaults. Other functions do not have it."""

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is not None:
            is_function = isinstance(instance, Function)  # otherwise it is a Constructor
            made = _signatures_of(instance if is_function else instance.function, not is_function)
            if made is not None:
                return made
        raise AttributeError("__nb_signature__")


class LateSignatures(Sequence):  # type: ignore[type-arg]
    """`__nb_signature__` of a function of Python that calls a bound one: a tuple that is made when a program reads it,
    because a library defines many such functions."""

    def __init__(self, function: Function, is_constructor: bool = False) -> None:
        self._function, self._is_constructor = function, is_constructor

    def _all(self) -> tuple[Any, ...]:
        return _signatures_of(self._function, self._is_constructor) or ()

    def __getitem__(self, index: Any) -> Any:
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())

    def __eq__(self, other: object) -> bool:
        return self._all() == (other._all() if isinstance(other, LateSignatures) else other)

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())


def _signatures_of(function: Function, is_constructor: bool = False) -> tuple[Any, ...] | None:
    entry = metadata_of(function)
    parts = [(parameters_of(each), each.doc) for each in entry.overloads or (entry,)]
    if any(params.signature is None for params, _ in parts):
        return None
    return tuple([_describe(params, doc, is_constructor) for params, doc in parts])


def _describe(params: Parameters, doc: str, is_constructor: bool) -> tuple[str, str | None, tuple[Any, ...] | None]:
    assert params.signature is not None
    written = signature_of_init(params.signature) if is_constructor else params.signature
    line, at = f"def {written}", 0
    defaults: list[Any] = []
    for name, default in zip(params.names or (), params.defaults):
        if default is NO_DEFAULT:
            continue
        start = line.find(f"{name}: ", at)
        at = line.find(f" = {default!r}", start)
        if start < 0 or at < 0:  # the author has written the line
            return f"def {written}", doc or None, None
        mark = f" = \\{len(defaults)}"
        line, at = line[:at] + mark + line[at + len(f" = {default!r}") :], at + len(mark)
        defaults.append(_value_of(default))
    return line, doc or None, tuple(defaults) or None


def _value_of(default: Any) -> Any:
    """Return a default. The text replaces a value that cannot be computed from the text: only the function has that
    value."""
    if isinstance(default, ShownDefault):
        try:
            return literal_eval(default.text)
        except (ValueError, SyntaxError):
            pass
    return default
