"""The functions of `_core` that the C binding implements for this side, too, with their checks and messages."""

from __future__ import annotations

from .binding_hooks import binding_class
from .classes.cobject import CObject
from .classes.functions import Function, named
from .context.backend import new_words
from .context.binding import binding
from .context.bridge import convert, from_binding, to_binding
from .context.hidden import hidden
from .object.core_functions import find_function
from .object.objects import class_at, class_set, raise_no_handle, wrap
from .record.define import remember_fields, rows_to_binding
from .record.schemas import tree_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["DELEGATED"]


def _delegate(
    function: Any,
    from_binding: Callable[[Any], Any] = from_binding,
    to_binding: Callable[..., tuple[Any, ...]] | None = None,
    n: int = 0,
    store: Callable[..., Any] | None = None,
) -> Any:
    """Return a function that calls the binding's. `to_binding` replaces its arguments, of which there must be n: any
    other number is for the binding to refuse. `from_binding` converts the result, or `store` makes the change on this
    side, too."""

    @hidden
    def delegate(*args: Any, **kwargs: Any) -> Any:
        result = function(*(to_binding(*args) if to_binding is not None and len(args) == n else args), **kwargs)
        return from_binding(result) if store is None else store(*args)

    return delegate


def _class_to_binding(index: Any, cls: Any) -> tuple[Any, Any]:
    """Replace a class of this side by the binding's class for objects of the type, and one of functions by Function."""
    mro = cls.__mro__ if isinstance(cls, type) else ()
    if Function in mro:
        return index, binding.Function
    return index, binding.class_offer(index, None) or binding_class(index) if CObject in mro else cls


def _function_to_binding(name: Any, fn: Any, override: Any) -> tuple[Any, Any, Any]:
    if not isinstance(fn, Function):
        return name, fn, override
    if not fn._ffi_address:
        raise_no_handle(fn)
    fn.__chandle__()
    return name, to_binding(fn._ffi_address), override


def _schema_to_binding(schema: Any, type_index: Any) -> tuple[Any, Any]:
    return tree_of(schema), type_index


def _named_from_binding(function: Any) -> Any:
    """Return a Function with its own settings, as the binding does."""
    return None if function is None else named(convert(function, new_words(2)), function.__name__)


_ask_for_global = _delegate(binding.global_get, _named_from_binding)


@hidden
def _find_global(*args: Any, **kwargs: Any) -> Any:
    """Return a global function. The binding needs more stack, at the end of a recursion through native code, and is
    asked only where it may have to raise an error."""
    name = args[0] if len(args) == 1 else None
    if type(name) is str and name and name.isascii() and not kwargs:
        address = find_function(name)
        return named(address, name) if address else None
    return _ask_for_global(*args, **kwargs)


def _rows_from_binding(info: tuple[Any, ...]) -> tuple[Any, ...]:
    """Lower the value at the end of each row of a field or method."""
    *first, fields, methods, ancestors = info
    fields, methods = ([(*row[:-1], from_binding(row[-1])) for row in rows] for rows in (fields, methods))
    return (*first, fields, methods, ancestors)


def _register(index: int, cls: type) -> None:
    class_set(index, cls)


def _offer(index: int, cls: type | None) -> type | None:
    return class_at(index) if cls is None else class_set(index, cls, replaces=False)


DELEGATED = {
    "cany_value": _delegate(binding.cany_value),
    "class_offer": _delegate(binding.class_offer, to_binding=_class_to_binding, n=2, store=_offer),
    "class_register": _delegate(binding.class_register, to_binding=_class_to_binding, n=2, store=_register),
    "convert": _delegate(binding.convert),
    "fields_define": _delegate(binding.fields_define, to_binding=rows_to_binding, n=4, store=remember_fields),
    "from_dlpack": _delegate(binding.tensor_from_dlpack, wrap),
    "function_from_address": _delegate(binding.function_from_address),
    "function_from_mlir": _delegate(binding.function_from_mlir),
    "global_get": _find_global,
    "global_set": _delegate(binding.global_set, to_binding=_function_to_binding, n=3),
    "schema_setter": _delegate(binding.schema_setter, to_binding=_schema_to_binding, n=2),
    "type_attr": _delegate(binding.type_attr),
    "type_info": _delegate(binding.type_info, _rows_from_binding),
}
