"""The `__init__` of classes that define their native type."""

from __future__ import annotations

from functools import wraps
from inspect import Parameter, Signature

from .. import _core
from ..core import MISSING
from .common import type_chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._type_info import TypeInfo

__all__ = ["init_property_funcs", "install_init", "named", "refuse"]


def install_init(cls: Any, init: bool) -> None:
    """Give a class whose type is complete its `__init__`: the one in its body on an empty object, or, with `init`, one
    that takes the fields, or one that refuses. Where a subclass has made the object already, none makes another one."""
    written = cls.__dict__.get("__init__")
    written = getattr(written, "_ffi_own_init", written)  # of a class that waited
    if written is not None:
        cls.__init__ = _on_empty_object(cls, written)
    elif init:
        cls.__init__ = named(cls, "__init__", _from_fields(cls))
    else:
        cls.__init__ = refuse(cls)


def named(cls: type, name: str, function: Any) -> Any:
    """The function as a method of a class."""
    function.__name__ = name
    function.__qualname__ = f"{cls.__qualname__}.{name}"
    function.__module__ = cls.__module__
    return function


def refuse(cls: type) -> Callable[..., None]:
    """An `__init__` that raises TypeError."""
    message = f"`{cls.__name__}` cannot be constructed directly. Define a custom __init__ or use a factory method."

    def refuse(self: Any, /, *args: Any, **kwargs: Any) -> None:
        raise TypeError(message)

    return named(cls, "__init__", refuse)  # type: ignore[no-any-return]


def _on_empty_object(cls: Any, written: Callable[..., None]) -> Callable[..., None]:
    allocate = _core.type_attr(cls.__tvm_ffi_type_info__.type_index, "__ffi_new__")

    @wraps(written)
    def __init__(self: Any, /, *args: Any, **kwargs: Any) -> None:
        if self.__chandle__() == 0:
            self.__init_handle_by_constructor__(allocate)
        written(self, *args, **kwargs)

    return __init__


def _from_fields(cls: Any) -> Callable[..., None]:
    """Makes the object, gives the fields their values, computes those of init_property, calls `__post_init__`."""
    info = cls.__tvm_ffi_type_info__
    build = _core.Initializer(info.type_index, MISSING)
    computed = init_property_funcs(cls)
    has_post_init = hasattr(cls, "__post_init__")

    def init(self: Any, /, *args: Any, **kwargs: Any) -> None:
        build(self, args, kwargs)

    def init_and_finish(self: Any, /, *args: Any, **kwargs: Any) -> None:
        if build(self, args, kwargs):
            for name, function in computed:
                getattr(type(self), name).set(self, function(self))
            if has_post_init:
                self.__post_init__()

    function = init_and_finish if computed or has_post_init else init
    function.__signature__ = _signature(info)  # type: ignore[attr-defined]
    return function


def init_property_funcs(cls: type) -> list[tuple[str, Callable[[Any], Any]]]:
    """Fields that a class computes, with the functions, parents' before own; of those of one name the last."""
    found: dict[str, Callable[[Any], Any]] = {}
    for base in reversed(cls.__mro__):
        found.update(base.__dict__.get("__ffi_init_property_funcs__", {}))
    return list(found.items())


_SELF = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)


def _signature(info: TypeInfo) -> Signature:
    """What `__init__` takes: by position and then by keyword, in both those without default first."""
    fields = {f.name: f for i in type_chain(info) for f in i.fields or ()}
    taken = sorted((f for f in fields.values() if f.c_init), key=lambda f: (f.c_kw_only, f.c_has_default))
    parameters = [
        Parameter(
            f.name,
            Parameter.KEYWORD_ONLY if f.c_kw_only else Parameter.POSITIONAL_OR_KEYWORD,
            default=MISSING if f.c_has_default else Parameter.empty,
        )
        for f in taken
    ]
    if any(p.name == "self" for p in parameters):  # a field may have any name
        return Signature([_SELF.replace(kind=Parameter.POSITIONAL_ONLY), *parameters], __validate_parameters__=False)
    return Signature([_SELF, *parameters], __validate_parameters__=False)
