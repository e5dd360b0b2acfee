"""Methods under the names of Python's operators and protocols: native functions follow Python's rules for them.

An operand that does not convert to the parameter gives NotImplemented, so that Python asks the other operand; an item
that does not convert is not contained. A result of another type than the protocol requires is converted. A method
without an entry here needs no adaptation.
"""

from __future__ import annotations

from operator import index as as_index

from .. import _core, _ffi_api
from .._core import CObject, Function
from .._start.named import named
from .._values.object import MISSING, Object
from .function_metadata import is_bound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any, TypeAlias

    TypeMethod: TypeAlias = Any  # of `info`, which imports this module

__all__ = ["IN_PLACE", "NUMERIC", "adapt"]

NUMERIC = [
    "add",
    "sub",
    "mul",
    "matmul",
    "truediv",
    "floordiv",
    "mod",
    "divmod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "xor",
    "or",
]
IN_PLACE = frozenset(f"__i{name}__" for name in NUMERIC)
_EQUALITY = frozenset(("__eq__", "__ne__"))
_BINARY = frozenset(
    (*(f"__{side}{name}__" for name in NUMERIC for side in ("", "r", "i")), "__lt__", "__le__", "__gt__", "__ge__")
)


def adapt(method: TypeMethod, cls: type) -> Any:
    """Return the attribute of a class for a method that needs one by these rules, else None."""
    name = method.name
    make = _MAKERS.get(name)
    made = None if make is None else make(method)
    if made is None:
        return None
    made = named(made, cls, name)
    made.__doc__ = method.text
    made.__wrapped__ = method.func
    return made


# --- operands ---------------------------------------------------------------------------------------------------------


def _mismatches(method: TypeMethod) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the beginnings of messages: about operands of another type, and about numbers outside the range. The name
    is followed by the signature, if there is one."""
    called = f" when calling: `{method._type_key}.{method.name}"
    types = tuple([f"Mismatched type on argument #{i}{called}" for i in (1, 2)])
    overloads = f"No matching overload found{called}"
    bound = f"{method.name}(): incompatible function arguments."  # of a library that is bound with ffi_hpy/bind.h
    return (*types, overloads, bound), (f"Value out of range on argument #1{called}", overloads)


_KWARGS = _ffi_api.GetKwargsObject()
"""The last argument of a call of a function of bind.h that shall return MISSING for arguments that do not fit: the
message of a TypeError takes 15 times as long as the call (src/core/bind/overload.c)."""

_CAN_BE_OPERATOR = hasattr(_core, "method_descriptor")
"""Whether a function of bind.h can be an operator itself: then its calls return NotImplemented."""


def _is_bound(method: TypeMethod) -> bool:
    return isinstance(method.func, Function) and is_bound(method.func)


def _refusing(func: Any) -> Callable[..., Any]:
    """Return a function of bind.h as one that returns NotImplemented for arguments that do not fit."""
    if _CAN_BE_OPERATOR:
        func._is_operator = True
        return func  # type: ignore[no-any-return]

    def call(*args: object) -> Any:
        result = func(*args, _KWARGS)
        return NotImplemented if type(result) is Object and MISSING.same_as(result) else result

    return call


def _bound_binary(method: TypeMethod) -> Callable[..., Any] | None:
    call, keeps_self = _refusing(method.func), method.name in IN_PLACE and _returns(method, "None")
    if call is method.func and not keeps_self:
        return None

    def operate(self: CObject, other: object, /, *rest: object) -> Any:
        result = call(self, other, *rest)
        return self if keeps_self and result is None else result

    return operate


def _binary(method: TypeMethod) -> Callable[..., Any] | None:
    if _is_bound(method):
        return _bound_binary(method)
    func, keeps_self = method.func, method.name in IN_PLACE
    mismatches, too_large = _mismatches(method)
    out_of_range = too_large if method.name in _EQUALITY else None

    def operate(self: CObject, other: object, /, *rest: object) -> Any:
        try:
            result = func(self, other, *rest)
        except TypeError as error:
            if str(error).startswith(mismatches):
                return NotImplemented
            raise
        except OverflowError as error:
            if out_of_range is not None and str(error).startswith(out_of_range):
                return NotImplemented  # no object equals a number that its own cannot be
            raise
        return self if keeps_self and result is None else result

    return operate


def _contains(method: TypeMethod) -> Callable[..., bool]:
    """`in`: an object that the parameter's type does not accept is not an item. A whole float equals an int."""
    func = method.func
    refusing = _refusing(func) if _is_bound(method) else None
    mismatches, out_of_range = _mismatches(method)
    refused: type | None = None  # the class of the last item with such an error

    def contains(self: CObject, item: object, /) -> bool:
        nonlocal refused
        try:  # where `refusing` is another function, `func` is faster
            result = func(self, item) if refusing is None or type(item) is not refused else refusing(self, item)
            if result is not NotImplemented:
                return bool(result)
        except TypeError as error:
            if not str(error).startswith(mismatches):
                raise
            refused = type(item)
        except OverflowError as error:
            if not str(error).startswith(out_of_range):
                raise
        return isinstance(item, float) and item.is_integer() and contains(self, int(item))

    return contains


# --- results ----------------------------------------------------------------------------------------------------------


def _returns(method: TypeMethod, origin: str) -> bool:
    """Return whether the schema declares a result of a type."""
    groups = getattr(method._known_ty, "named_args", None) or {}
    return any(result.origin == origin for result in groups.get("return", ()))


def _iterator(method: TypeMethod) -> Callable[..., Any] | None:
    func = method.func
    if _returns(method, "collections.abc.Iterator"):
        return None

    def iterate(self: CObject, /) -> Any:
        result = func(self)
        return result if hasattr(type(result), "__next__") else iter(result)

    return iterate


_END: Any = object()


def _next(method: TypeMethod) -> Callable[..., Any] | None:
    step = getattr(method.func, "_step", None)
    if step is None:  # of the C binding, where the method itself is fast
        return None

    def advance(self: CObject, /) -> Any:
        item = step(self, _END)
        if item is _END:
            raise StopIteration
        return item

    return advance


def _return(value: Any) -> Generator[Any, None, Any]:
    """An iterator that ends at once; the value is the result of the `await`."""
    yield from ()
    return value


def _awaited(method: TypeMethod) -> Callable[..., Any]:
    func = method.func

    def wait(self: CObject, /) -> Any:
        result = func(self)
        cls = type(result)
        if hasattr(cls, "__next__"):
            return result
        if hasattr(cls, "__await__"):
            return result.__await__()
        return _return(result)

    return wait


def _converted(origin: str, convert: Callable[[Any], Any]) -> Callable[[TypeMethod], Callable[..., Any] | None]:
    """Return a maker of methods that convert the result, unless the schema declares a result of that type."""

    def make(method: TypeMethod) -> Callable[..., Any] | None:
        func = method.func
        if _returns(method, origin):
            return None

        def conversion(self: CObject, /) -> Any:
            return convert(func(self))

        return conversion

    return make


def _exit(method: TypeMethod) -> Callable[..., Any] | None:
    """`__exit__` and `__aexit__` with fewer parameters than Python passes: none, or the exception alone."""
    func, schema = method.func, method._known_ty
    groups = getattr(schema, "named_args", None) or {}
    n_taken = len(groups.get("params", ())) - 1
    if n_taken not in (0, 1):
        return None

    def leave(self: CObject, kind: object, value: object, traceback: object, /) -> Any:
        return func(self, value) if n_taken == 1 else func(self)

    return leave


_MAKERS: dict[str, Callable[[TypeMethod], Callable[..., Any] | None]] = {
    **dict.fromkeys(_BINARY | _EQUALITY, _binary),
    "__contains__": _contains,
    "__iter__": _iterator,
    "__reversed__": _iterator,
    "__next__": _next,
    "__await__": _awaited,
    "__bool__": _converted("bool", bool),
    "__index__": _converted("int", lambda value: int(as_index(value))),
    "__int__": _converted("int", lambda value: int(as_index(value))),
    "__float__": _converted("float", float),
    "__exit__": _exit,
    "__aexit__": _exit,
}
