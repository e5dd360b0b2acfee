"""What dataclass decorators put into a class: construction, repr, comparison, hash, copies.

The core knows the fields, and the binding has the methods that ask it; here they get their names in the class. What the
class body defines stays, and of `__eq__`/`__ne__` and of the four of the order one that is defined keeps the others away:
generated and written ones would disagree.
"""

from __future__ import annotations

import copy as _copy
import functools

from .. import _core
from .._core import CObject
from .common import type_chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import Signature
    from typing import Any

    from .._type_info import TypeField, TypeInfo

    Make = Callable[[Any, tuple[Any, ...], dict[str, Any]], bool]

__all__ = ["install_dunders", "positional_names", "signature_of"]

_EQUALITY = {"__eq__": CObject._recursive_eq, "__ne__": CObject._recursive_ne}
_ORDER = {
    "__lt__": CObject._recursive_lt,
    "__le__": CObject._recursive_le,
    "__gt__": CObject._recursive_gt,
    "__ge__": CObject._recursive_ge,
}


def install_dunders(
    cls: type,
    *,
    init: bool,
    repr: bool,
    eq: bool,
    order: bool,
    unsafe_hash: bool,
    match_args: bool = True,
    py_class_mode: bool = False,
) -> None:
    """Install the methods that were asked for, and those for copies, into a class that is bound to its native type.

    In `py_class_mode` an object may be there already when an `__init__` begins: a written `__init__` gets one that is
    empty, and a generated one leaves alone what a subclass made.
    """
    info: TypeInfo = cls.__tvm_ffi_type_info__  # type: ignore[attr-defined]
    if "__init__" not in cls.__dict__:
        _install_init(cls, info, init, py_class_mode)
    elif py_class_mode:
        _wrap_init(cls, info)
    wanted: dict[str, Any] = {"__repr__": CObject._repr} if repr else {}
    if eq and not _EQUALITY.keys() & set(cls.__dict__):
        wanted.update(_EQUALITY)
    if order and not _ORDER.keys() & set(cls.__dict__):
        wanted.update(_ORDER)
    if unsafe_hash:
        wanted["__hash__"] = CObject._recursive_hash
    wanted.update(__copy__=CObject._shallow_copy, __deepcopy__=CObject._deep_copy, __replace__=_replace)
    if match_args:
        wanted["__match_args__"] = positional_names(info)
    for name, value in wanted.items():
        if name not in cls.__dict__:
            setattr(cls, name, value)


def _replace(self: Any, /, **changes: Any) -> Any:
    """A copy with other values in some fields, frozen ones included."""
    made = _copy.copy(self)
    for name, value in changes.items():
        getattr(type(made), name).set(made, value)
    return made


# --- parameters of the constructor ------------------------------------------------------------------------------------


def _parameters(info: TypeInfo) -> list[TypeField]:
    """The fields that the constructor takes, those of the root first."""
    return [field for ancestor in type_chain(info) for field in ancestor.fields or () if field.c_init]


def positional_names(info: TypeInfo) -> tuple[str, ...]:
    """The names of the fields that the constructor takes by position, parents' before own."""
    return tuple(field.name for field in _parameters(info) if not field.c_kw_only)


def _in_order(info: TypeInfo) -> list[TypeField]:
    """The same in the order of arguments: by position first, and in both groups those without default first."""
    return sorted(_parameters(info), key=lambda field: (field.c_kw_only, field.c_has_default))


def signature_of(info: TypeInfo) -> Signature:
    """The signature of a generated `__init__`."""
    from inspect import Parameter, Signature

    from ..core import MISSING

    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    for field in _in_order(info):
        kind = Parameter.KEYWORD_ONLY if field.c_kw_only else Parameter.POSITIONAL_OR_KEYWORD
        default = MISSING if field.c_has_default else Parameter.empty
        parameters.append(Parameter(field.name, kind, default=default))
    return Signature(parameters)


# --- construction ---------------------------------------------------------------------------------------------------


def _install_init(cls: type, info: TypeInfo, init: bool, py_class_mode: bool) -> None:
    if not init:
        function = _refusal(cls)
    else:
        make = _core.Initializer(info.type_index, f"{cls.__qualname__}.__init__", _missing()) if py_class_mode else None
        make = make or _native_maker(cls, info)
        if make is None:
            return
        function = _initializer(cls, make)
        function.__signature__ = signature_of(info)  # type: ignore[attr-defined]
    function.__name__, function.__qualname__ = "__init__", f"{cls.__qualname__}.__init__"
    function.__module__ = cls.__module__
    cls.__init__ = function  # type: ignore[misc]


def _refusal(cls: type) -> Callable[..., None]:
    message = f"`{cls.__name__}` cannot be constructed directly. Define a custom __init__ or use a factory method."

    def __init__(self: Any, /, *args: Any, **kwargs: Any) -> None:
        raise TypeError(message)

    return __init__


def _initializer(cls: type, make: Make) -> Callable[..., None]:
    """`__init__` by `make`, which tells whether it made an object: not where a subclass had made it."""
    properties = _init_properties(cls)
    post_init = hasattr(cls, "__post_init__")

    def __init__(self: Any, /, *args: Any, **kwargs: Any) -> None:
        make(self, args, kwargs)

    def __init_and_finish__(self: Any, /, *args: Any, **kwargs: Any) -> None:
        if make(self, args, kwargs):
            for name, function in properties:
                getattr(type(self), name).set(self, function(self))
            if post_init:
                self.__post_init__()

    return __init_and_finish__ if properties or post_init else __init__


def _init_properties(cls: type) -> list[tuple[str, Callable[[Any], Any]]]:
    """Fields that a class computes at the end of construction, with the functions: parents' before own."""
    found: dict[str, Callable[[Any], Any]] = {}
    for base in reversed(cls.__mro__):
        found.update(base.__dict__.get("__ffi_init_property_funcs__", {}))
    return list(found.items())


def _native_maker(cls: type, info: TypeInfo) -> Make | None:
    """What makes objects of a native library's type: its own constructor; the binding, where the library leaves it to the
    fields; None if the type has no constructor."""
    own = next((method.func for method in info.methods if method.name == "__ffi_init__"), None)
    constructor = own or _core.type_attr(info.type_index, "__ffi_init__")
    if constructor is None:
        return None

    def construct(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        if type(self) is not cls:
            _check_type(self, cls, info)
        if kwargs:
            args = (*args, *_named(kwargs))
        self.__init_handle_by_constructor__(constructor, *args)
        return True

    make: Make = construct
    if own is None:
        build = _core.Initializer(info.type_index, f"{cls.__qualname__}.__init__", _missing())

        def make(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
            if type(self) is not cls:
                _check_type(self, cls, info)
            return build(self, args, kwargs) or construct(self, args, kwargs)  # the latter for a second __init__

    return _normalizing(info, make)


def _check_type(self: Any, cls: type, info: TypeInfo) -> None:
    if type(self).__tvm_ffi_type_info__ is not info:
        raise TypeError(
            f"Calling `super().__init__()` is not supported for @c_class `{cls.__name__}`. Use @py_class for "
            f"inheritance with manual __init__, or define `{type(self).__name__}` with init=True."
        )


def _normalizing(info: TypeInfo, make: Make) -> Make:
    """The same with arguments for enum fields that are what singletons stand for."""
    order = _in_order(info)
    enums = {field.name: field.normalize_value for field in order if field._takes_payloads()}
    if not enums:
        return make
    names = [field.name for field in order if not field.c_kw_only]

    def make_with_singletons(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        given = [enums[name](value) if name in enums else value for name, value in zip(names, args)]
        named = {name: enums[name](value) if name in enums else value for name, value in kwargs.items()}
        return make(self, (*given, *args[len(names) :]), named)

    return make_with_singletons


def _named(kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Keyword arguments as native constructors take them, behind a mark; those that are MISSING are left out."""
    from ..core import KWARGS, MISSING

    return (KWARGS, *(part for pair in kwargs.items() if pair[1] is not MISSING for part in pair))


def _missing() -> Any:
    from ..core import MISSING

    return MISSING


def _wrap_init(cls: type, info: TypeInfo) -> None:
    """Give a written `__init__` an object to work on, which is empty unless a subclass made it already."""
    make_empty = _core.type_attr(info.type_index, "__ffi_new__")
    if make_empty is None:
        return
    written = cls.__dict__["__init__"]

    @functools.wraps(written)
    def __init__(self: Any, /, *args: Any, **kwargs: Any) -> None:
        if self.__chandle__() == 0:
            self.__init_handle_by_constructor__(make_empty)
        written(self, *args, **kwargs)

    cls.__init__ = __init__  # type: ignore[misc]
