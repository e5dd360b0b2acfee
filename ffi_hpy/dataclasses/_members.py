"""The parts of a class body that are for native code: methods, and values of type attributes."""

from __future__ import annotations

import inspect
import json
from typing import Any

from .._core import type_attr
from ..core import TypeSchema
from . import _annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Method = TypeVar("Method", bound="Callable[..., Any] | staticmethod[..., Any]")
    # name, value, whether static, metadata (JSON; None for attributes)
    Entry = tuple[str, Any, bool, "str | None"]

__all__ = [
    "TYPE_ATTRS",
    "attr_policies",
    "collect_entries",
    "collect_py_methods",
    "inherited_entries",
    "method",
    "names_of_kind",
]

TYPE_ATTRS = frozenset(
    {
        "__any_equal__",
        "__any_hash__",
        "__data_from_json__",
        "__data_to_json__",
        "__ffi_compare__",
        "__ffi_convert__",
        "__ffi_convert_type_schema__",
        "__ffi_eq__",
        "__ffi_hash__",
        "__ffi_repr__",
        "__s_equal__",
        "__s_hash__",
        "__s_maybe_inplace_mutate__",
        "__s_mutate__",
        "__s_visit__",
    }
)
_INHERITED_ATTRS = ("__s_equal__", "__s_hash__", "__s_visit__", "__data_to_json__", "__data_from_json__")
"""Hooks that a class inherits from the nearest parent that has them, because native code reads only the hooks of the
type itself."""


def method(fn: Method) -> Method:
    """Mark a method in the body of a `py_class()` as a method of the native type. Native code and other languages can
    look it up by name and call it.

    The functions of native code's own protocols (``__ffi_repr__`` and others) need no mark. As in a dataclass, the
    annotations of a method describe its values and check none.

    Args:
        fn: a function that takes the instance as the first argument, or a staticmethod.

    Returns:
        The same object.

    Raises:
        TypeError: for a classmethod, because native code passes no class, and for an object that is not callable.

    Examples:
        >>> from ffi_hpy.dataclasses import method, py_class
        >>> @py_class("example.Counter")
        ... class Counter(ffi_hpy.Object):
        ...     count: int = 0
        ...     @method
        ...     def add(self, n: int) -> int:
        ...         self.count += n
        ...         return self.count
        >>> Counter().add(2)
        2
    """
    if isinstance(fn, classmethod):
        raise TypeError("@method: @classmethod is not supported, as native code passes no class; use @staticmethod")
    target: Any = fn.__func__ if isinstance(fn, staticmethod) else fn
    if not callable(target):
        raise TypeError(f"@method: expected a callable, got {type(fn).__name__}")
    target.__ffi_method__ = True
    return fn


def names_of_kind(cls: type, attribute: str, default: tuple[Any, ...], kind: type, words: str) -> tuple[Any, ...]:
    """Return the items of a class attribute. TypeError unless it is a list of items of one type."""
    values = getattr(cls, attribute, default)
    if not isinstance(values, (tuple, list)) or not all(isinstance(value, kind) for value in values):
        raise TypeError(f"{cls.__name__}.{attribute} must be a tuple or list of {words}, got {values!r}")
    return tuple(values)


def attr_policies(cls: type) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the names that become type attributes, and the names that are inherited from a parent."""
    extra = names_of_kind(cls, "__ffi_type_attr_names__", (), str, "strings")
    inherited = names_of_kind(cls, "__ffi_inherit_type_attrs__", _INHERITED_ATTRS, str, "strings")
    return TYPE_ATTRS.union(extra, inherited), inherited


def inherited_entries(info: Any, names: tuple[str, ...]) -> list[Entry]:
    """Return the values of these attributes that a class inherits from parents, unless its body mentions them."""
    entries: list[Entry] = []
    for name in names:
        if name in info.type_cls.__dict__:
            continue
        owner = info.parent_type_info  # the nearest first, without the root, which has no hooks
        while owner is not None and owner.parent_type_info is not None:
            value = type_attr(owner.type_index, name)
            if value is not None:
                entries.append((name, value, True, None))
            # A class whose body mentions the name does not have such a hook; a class that inherits it has looked for
            # it.
            if value is not None or name in getattr(owner.type_cls, "__dict__", ()) or name in owner._inherited_attrs:
                break
            owner = owner.parent_type_info
    return entries


def _is_marked(value: Any) -> bool:
    target = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
    return callable(target) and getattr(target, "__ffi_method__", False) is True


def collect_py_methods(cls: type) -> list[tuple[str, Any, bool]] | None:
    """Return (name, function or value, whether static) for the parts of a class body that are for native code; None if
    there are none."""
    names, _ = attr_policies(cls)
    return [entry[:3] for entry in collect_entries(cls, names)] or None


def collect_entries(cls: type, names: frozenset[str]) -> list[Entry]:
    """Return the parts of a class body: attributes of these names, and marked methods."""
    entries: list[Entry] = []
    for name, value in list(cls.__dict__.items()):  # copied: other threads may set attributes
        is_attr = name in names
        if not is_attr and not _is_marked(value):
            continue
        if isinstance(value, classmethod):
            raise TypeError(
                f"{cls.__name__}.{name} is wrapped by @classmethod, but native code passes no class; use @staticmethod"
            )
        is_static = isinstance(value, staticmethod)
        function = value.__func__ if is_static else value
        entries.append((name, function, is_static, None if is_attr else _method_metadata(cls, function, is_static)))
    return entries


def _method_metadata(cls: type, function: Any, is_static: bool) -> str:
    """Return the type schema of a method as JSON; a schema of any function if its annotations are incomplete."""
    schema = _method_schema(cls, function, is_static) or TypeSchema("Callable")
    return json.dumps({"type_schema": schema.to_json()})


def _method_schema(cls: type, function: Any, is_static: bool) -> TypeSchema | None:
    parameters = list(inspect.signature(function).parameters.values())
    if any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters):
        return None
    hints = _annotations.resolve_function(cls, function)
    if hints is None:
        return None
    schemas = {name: _schema_or_any(_annotations.in_class(hint, cls)) for name, hint in hints.items()}
    any_value = TypeSchema("Any")
    arguments = [schemas.get(p.name, any_value) for p in parameters[0 if is_static else 1 :]]
    if not is_static:
        arguments.insert(0, TypeSchema.from_annotation(cls))
    returned = schemas.get("return", any_value)
    return TypeSchema("Callable", named_args={"return": (returned,), "params": tuple(arguments)})


def _schema_or_any(hint: Any) -> TypeSchema:
    """Return the schema of an annotation of a method. A class without a native type has no meaning for native code."""
    try:
        return TypeSchema.from_annotation(hint)
    except TypeError:
        return TypeSchema("Any")
