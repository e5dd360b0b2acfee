"""The members of dataclasses that the standard library looks for: `__dataclass_fields__`, slots, the docstring."""

from __future__ import annotations

import dataclasses
import inspect
from types import SimpleNamespace
from typing import Any

from .._values.object import MISSING
from .common import type_chain
from .field import field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .field import Field

__all__ = ["SignatureDoc", "StandardFields", "as_own_field", "params_of", "with_slots"]


class StandardFields:
    """`__dataclass_fields__`: created on first use, for a class that is complete."""

    def __init__(self) -> None:
        self._known: dict[type, dict[str, Any]] = {}

    def __get__(self, instance: object, owner: type) -> dict[str, Any]:
        found = self._known.get(owner)
        if found is None:
            info = getattr(owner, "__tvm_ffi_type_info__", None)
            definition = getattr(info, "_definition", None)
            if definition is not None and not definition.complete():
                raise AttributeError(f"{owner.__name__} has annotations that cannot be resolved yet")
            found = self._known[owner] = dict(_standard_fields(info))
        return found


def _standard_fields(info: Any) -> Iterator[tuple[str, Any]]:
    for each in type_chain(info):
        for own in each.fields or ():
            if own.dataclass_field is not None:
                yield own.name, _standard_field(own.dataclass_field, "_FIELD")
        for _before, described in getattr(each, "_init_vars", ()):
            yield described.name, _standard_field(described, "_FIELD_INITVAR")


def _standard_field(own: Field, kind: str) -> Any:
    """Return the description of a field in the form of the standard library."""
    options: dict[str, Any] = {"init": own.init, "repr": own.repr, "hash": own.hash, "compare": own.compare}
    options["metadata"] = own.metadata
    if own.default is not MISSING:
        options["default"] = own.default
    if own.default_factory is not MISSING:
        options["default_factory"] = own.default_factory
    made: Any = dataclasses.field()
    for name, value in options.items():
        setattr(made, name, value)
    made.name, made.type, made._field_type = own.name, own.type, getattr(dataclasses, kind)
    if hasattr(made, "kw_only"):
        made.kw_only = bool(own.kw_only)
    return made


def as_own_field(value: Any) -> Any:
    """Return a value in the body of a class, with a description by the standard library's `field()` in our form."""
    if not isinstance(value, dataclasses.Field):
        return value
    names = ("default", "default_factory", "init", "repr", "hash", "compare", "kw_only", "metadata", "doc")
    options = {name: getattr(value, name, dataclasses.MISSING) for name in names}
    return field(**{name: option for name, option in options.items() if option is not dataclasses.MISSING})


def params_of(**options: bool) -> Any:
    """Return `__dataclass_params__`, which the standard decorator reads from the bases of a class."""
    return SimpleNamespace(**options)


class SignatureDoc:
    """The docstring of a class that has none: its name and signature, as the standard library writes them."""

    def __get__(self, instance: object, owner: type) -> str | None:
        if self is not owner.__dict__.get("__doc__"):
            return None
        try:
            text = str(inspect.signature(owner)).replace(" -> None", "")
        except (TypeError, ValueError):
            text = "(...)"
        return f"{owner.__name__}{text}"


# --- slots ------------------------------------------------------------------------------------------------------------


def with_slots(cls: Any, *slots: str) -> Any:
    """Return the class with additional slots, `__dict__` or `__weakref__`: the class itself if it has them, else
    another class with the same body."""
    example = cls.__new__(cls)
    lacking = [slot for slot in slots if not hasattr(example, slot)]
    if not lacking:
        return cls
    body = dict(cls.__dict__)
    own = body.get("__slots__", ())
    own = (own,) if isinstance(own, str) else tuple(own)
    for name in ("__dict__", "__weakref__", *own):
        body.pop(name, None)
    body["__slots__"] = (*own, *lacking)
    made = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    for value in list(body.values()):
        for function in _functions_in(value):
            _replace_class_cell(function, cls, made)
    return made


def _functions_in(value: Any) -> Iterator[Callable[..., Any]]:
    for part in (value, *(getattr(value, name, None) for name in ("__func__", "fget", "fset", "fdel", "func"))):
        function = inspect.unwrap(part) if callable(part) else part
        if inspect.isfunction(function):
            yield function


def _replace_class_cell(function: Any, old: type, new: type) -> None:
    """Let `super()` and `__class__` in a method mean the new class."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        if name == "__class__" and cell.cell_contents is old:
            cell.cell_contents = new
