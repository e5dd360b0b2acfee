"""The core's registries: types with their fields, methods and attributes, classes, and global functions."""

from __future__ import annotations

from .classes.cobject import CObject
from .classes.functions import Function, named
from .context.binding import binding
from .context.bridge import lift, lower
from .context.type_table import attribute_at, default_words, facts_of, method_words
from .convert.results import of_view
from .object.core_functions import find_function
from .object.objects import class_at, raise_no_handle
from .object.objects import class_offer as _offer
from .object.objects import class_set as _set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "class_find",
    "class_offer",
    "class_register",
    "global_get",
    "global_set",
    "method_define",
    "type_attr",
    "type_attr_define",
    "type_info",
]


def type_info(index: int) -> tuple[Any, ...]:
    """Return the registered data of a type index."""
    key, parent, doc, size, fields, methods, ancestors = binding.type_info(index)
    facts = facts_of(index)
    return (
        key,
        parent,
        doc,
        size,
        [(*row[:8], of_view(default_words(facts, i))) for i, row in enumerate(fields)],
        [(*row[:8], of_view(method_words(facts, i))) for i, row in enumerate(methods)],
        ancestors,
    )


def type_attr(*args: Any) -> Any:
    """Return a type's own value in an attribute column, or None."""
    if len(args) != 2 or type(args[0]) is not int or type(args[1]) is not str:
        return lower(binding.type_attr(*args))  # it reports the error
    words = attribute_at(*args)
    return None if words is None else of_view(words)


def type_attr_define(*args: Any) -> None:
    """Set a type's value in an attribute column."""
    binding.type_attr_define(*args)


def method_define(*args: Any) -> None:
    """Register a method of a type."""
    binding.method_define(*args)


def _check_class(name: str, index: int, cls: Any) -> None:
    if not isinstance(cls, type) or CObject not in cls.__mro__:
        raise TypeError(f"{name}() argument 2 must derive from CObject")
    if index != binding.TYPE_INDEX_FUNCTION and Function in cls.__mro__:
        raise TypeError("a class that derives from Function is for functions only")
    if not 0 <= index < 1 << 18:
        raise ValueError(f"{index} is not a type index")


def class_register(index: int, cls: type) -> None:
    """Make native objects of a type instances of a class from now on."""
    _check_class("class_register", index, cls)
    _set(index, cls)


def class_offer(index: int, cls: type) -> type:
    """Like class_register(), for a type without a class. Returns the type's class, which may come from another
    thread."""
    _check_class("class_offer", index, cls)
    return _offer(index, cls)


class_find = class_at


def _check_name(name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"name of a global function must be str, not {type(name).__name__}")


def global_get(name: str) -> Any:
    """The global function of a name, or None."""
    _check_name(name)
    address = find_function(name)
    return named(address, name) if address else None


def global_set(name: str, fn: Any, override: Any) -> None:
    """Register a global function."""
    _check_name(name)
    if not isinstance(fn, Function):
        raise TypeError(f"global_set() argument 'fn' must be a Function, not {type(fn).__name__}")
    binding.global_set(name, _lifted(fn), override)


def _lifted(wrapper: Any) -> Any:
    if not wrapper._ffi_address:
        raise_no_handle(wrapper)
    wrapper.__chandle__()
    return lift(wrapper._ffi_address)
