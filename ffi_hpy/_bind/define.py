"""Modules, classes and enums that a bound library defines: the operations of the global function ffi_hpy.bind.

The library calls it while it is imported, once for each definition. A scope is a module or a class.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType

from .._containers.sequence import Array
from .._core import Function
from .._types.function_metadata import add_metadata
from .._types.info import info_of_class, info_of_index
from .._types.metadata import apply_nonblocking
from .._values.object import ObjectMeta
from .._values.opaque import OpaquePyObject
from ..error import register_error
from ..registry import add_constructor, add_method, add_property, make_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["answer"]

_functions: dict[int, tuple[Any, dict[str, Function]]] = {}
"""The functions of each scope, by its id; the scope is kept, because its library is never unloaded."""


def _functions_of(scope: Any) -> dict[str, Function]:
    return _functions.setdefault(id(scope), (scope, {}))[1]


def _names_in(scope: Any, name: str) -> tuple[str, str]:
    """Return `__module__` and `__qualname__` for a class inside of a scope."""
    if isinstance(scope, ModuleType):
        return scope.__name__, name
    return scope.__module__, f"{scope.__qualname__}.{name}"


# --- functions ------------------------------------------------------------------------------------------------------


def _known_function(scope: Any, name: str) -> Function | None:
    """Return the function that a library has set as an attribute of the scope, to which it can add an overload."""
    return _functions_of(scope).get(name)


def _new_function(scope: Any, name: str, function: Function) -> None:
    function.__name__ = "__init__" if name == "__ffi_init__" else name
    _functions_of(scope)[name] = function


def _function(scope: Any, name: str, function: Function, metadata: str, doc: str) -> None:
    """Set a function, or describe one more overload of it."""
    add_metadata(function, metadata, doc)
    apply_nonblocking(function, metadata)
    setattr(scope, name, function)


def _method(cls: type[Any], name: str) -> None:
    """Add a method that the type has got to its class, or describe one more overload of it."""
    info = info_of_class(cls)
    assert info is not None
    info.__dict__.pop("methods", None)
    method = next(method for method in reversed(info.methods) if method.name == name)
    if name == "__ffi_init__":
        add_constructor(cls, info)
    else:
        add_method(cls, method)


# --- classes --------------------------------------------------------------------------------------------------------


_SLOTS = ("__dict__", "__weakref__")


class BoundMeta(ObjectMeta):
    """Metaclass of bound classes: a class of Python that derives from one is an ordinary class, whose instances have
    attributes and weak references, unless it declares `__slots__`."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], /, **kwargs: Any) -> BoundMeta:
        if "__slots__" not in namespace:
            owners = [owner for base in bases for owner in base.__mro__]
            namespace["__slots__"] = [slot for slot in _SLOTS if not any(slot in vars(owner) for owner in owners)]
        made: Any = super().__new__(mcls, name, bases, namespace, **kwargs)
        return made  # type: ignore[no-any-return]


def _class(scope: Any, name: str, type_index: int, flags: int) -> type:
    """Make the class of a bound C++ class. `flags`: 1 for attributes, plus 2 for weak references to its instances."""
    slots = tuple([slot for i, slot in enumerate(_SLOTS) if flags & 1 << i])
    cls = make_class(BoundMeta, _names_in(scope, name), info_of_index(type_index), slots)
    cls._ffi_is_findable = True  # type: ignore[attr-defined]  # for the cffi backend (_pypy/object/objects.py)
    setattr(scope, name, cls)
    return cls


def _property(cls: type[Any], name: str) -> None:
    info = info_of_class(cls)
    assert info is not None
    add_property(cls, info, name)


def _exception(scope: Any, name: str, base: str) -> type:
    """Make an exception class, and register it for errors of its name."""
    import builtins

    module, qualified = _names_in(scope, name)
    body = {"__module__": module, "__qualname__": qualified}
    cls = type(name, (getattr(builtins, base),), body)
    register_error(f"{module}.{qualified}", cls)
    setattr(scope, name, cls)
    return cls


# --- enums ----------------------------------------------------------------------------------------------------------


class _EnumBuilder:
    """An enum whose members are not complete. `kind`: 1 for members that are ints, plus 2 for flags."""

    def __init__(self, scope: Any, name: str, doc: str, kind: int) -> None:
        self.scope, self.name, self.doc, self.kind = scope, name, doc, kind
        self.members: list[tuple[str, int, str]] = []
        self.is_exported = False

    def finish(self) -> type:
        """Make the class, and set it as an attribute of its scope."""
        import enum

        base: Any = (enum.Enum, enum.IntEnum, enum.Flag, enum.IntFlag)[self.kind]
        module, qualified = _names_in(self.scope, self.name)
        pairs = [(name, value) for name, value, _ in self.members]
        cls: Any = base(self.name, pairs, module=module, qualname=qualified)
        cls.__doc__ = self.doc or None
        for name, _, doc in self.members:
            if doc:
                cls[name].__doc__ = doc
        setattr(self.scope, self.name, cls)
        if self.is_exported:
            for name, _, _ in self.members:
                setattr(self.scope, name, cls[name])
        return cls  # type: ignore[no-any-return]


def _enum_add(builder: _EnumBuilder, name: str, value: int, doc: str) -> None:
    builder.members.append((name, value, doc))


def _enum_export(builder: _EnumBuilder) -> None:
    builder.is_exported = True


def _enum_value(cls: type, value: Any) -> int | None:
    """Return the number of a member; None for an object of another class."""
    return value.value if isinstance(value, cls) else None  # type: ignore[attr-defined]


# --- containers -----------------------------------------------------------------------------------------------------


def _items(value: Any) -> Array[Any] | None:
    """Return the items of an iterable, as a native value; None for strings, mappings and other values."""
    if isinstance(value, (str, bytes, bytearray, Mapping)) or not hasattr(type(value), "__iter__"):
        return None
    return Array(list(value))


def _pairs(value: Any) -> Array[Any] | None:
    """Return the keys and values of a mapping, in turn, as a native value; None for other values."""
    return Array([part for pair in value.items() for part in pair]) if isinstance(value, Mapping) else None


# --- other values ---------------------------------------------------------------------------------------------------


def _submodule(scope: ModuleType, name: str, doc: str) -> ModuleType:
    made = ModuleType(f"{scope.__name__}.{name}", doc or None)
    sys.modules[made.__name__] = made
    setattr(scope, name, made)
    return made


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "known_function": _known_function,
    "new_function": _new_function,
    "function": _function,
    "method": _method,
    "class": _class,
    "property": _property,
    "exception": _exception,
    "enum": _EnumBuilder,
    "enum_add": _enum_add,
    "enum_export": _enum_export,
    "enum_finish": _EnumBuilder.finish,
    "enum_member": lambda cls, value: cls(value),
    "enum_value": _enum_value,
    "submodule": _submodule,
    "set_attribute": setattr,
    "repr": repr,
    "items": _items,
    "pairs": _pairs,
    "tuple": lambda *items: items,
    "list": lambda *items: list(items),
    "set": lambda *items: set(items),
    "dict": lambda *items: dict(zip(items[::2], items[1::2])),
    "big_int": lambda value: value % 2**64,
}


def answer(operation: str, *args: Any) -> Any:
    """Run an operation. Objects of Python are returned as such, not as native values."""
    result = _OPERATIONS[operation](*args)
    is_plain = result is None or type(result) in (int, str, Function, Array)
    return result if is_plain else OpaquePyObject(result)
