"""`__nb_signature__` of functions that bind.h binds: nanobind's description of their overloads, which tools read."""

from __future__ import annotations

from ast import literal_eval

from .._core import Function
from .._types.function_metadata import metadata_of, parameters_of
from .._types.parameters import NO_DEFAULT, ShownDefault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._types.parameters import Parameters

__all__ = ["NbSignature"]


class NbSignature:
    """`__nb_signature__`: for each overload a line with a mark in place of each default, the documentation, and the
    defaults. Other functions do not have it."""

    def __get__(self, instance: Function | None, owner: type) -> Any:
        if instance is not None:
            entry = metadata_of(instance)
            parts = [(parameters_of(each), each.doc) for each in entry.overloads or (entry,)]
            if all(params.signature is not None for params, _ in parts):
                return tuple([_describe(params, doc) for params, doc in parts])
        raise AttributeError("__nb_signature__")


def _describe(params: Parameters, doc: str) -> tuple[str, str | None, tuple[Any, ...] | None]:
    line, at = f"def {params.signature}", 0
    defaults: list[Any] = []
    for name, default in zip(params.names or (), params.defaults):
        if default is NO_DEFAULT:
            continue
        start = line.find(f"{name}: ", at)
        at = line.find(f" = {default!r}", start)
        if start < 0 or at < 0:  # the author has written the line
            return f"def {params.signature}", doc or None, None
        mark = f" = \\{len(defaults)}"
        line, at = line[:at] + mark + line[at + len(f" = {default!r}") :], at + len(mark)
        defaults.append(_value_of(default))
    return line, doc or None, tuple(defaults) or None


def _value_of(default: Any) -> Any:
    """Return a default. Of a value that its text does not give, the text stands for it: only the function has it."""
    if isinstance(default, ShownDefault):
        try:
            return literal_eval(default.text)
        except (ValueError, SyntaxError):
            pass
    return default
