"""The `__init__` of dataclasses: it creates the object and then runs the class's own steps."""

from __future__ import annotations

import functools
from inspect import Parameter, Signature

from .. import _core
from .._signature import LazySignature, annotation_of, constructor_signature
from .._start.named import named
from .._types import about
from ..core import MISSING
from ..registry import arguments_of_constructor
from .common import type_chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._types.info import TypeField, TypeInfo

    Make = Callable[[Any, tuple[Any, ...], dict[str, Any]], bool]

__all__ = ["init_property_funcs", "make_init", "parameters_of", "refuse_init", "wrap_init"]


def make_init(cls: Any, py_class_mode: bool) -> Callable[..., None] | None:
    """Return `__init__` for a class whose type is complete: it creates the object, sets the fields, computes those of
    init_property, and calls `__post_init__`.

    For a class that defines its type (`py_class_mode`) it does nothing if a subclass has created the object already.
    For the type of a native library it works for that type only; None if the type has no constructor.
    """
    info = cls.__tvm_ffi_type_info__
    build = _core.Initializer(info.type_index, MISSING) if py_class_mode else None
    make, maker = _native_maker(cls, info) if build is None else (build, build)
    if make is None:
        return None
    computed = init_property_funcs(cls)
    has_post_init = hasattr(cls, "__post_init__")

    def init(self: Any, /, *args: Any, **kwargs: Any) -> None:
        make(self, args, kwargs)

    def init_and_finish(self: Any, /, *args: Any, **kwargs: Any) -> None:
        if make(self, args, kwargs):
            for name, function in computed:
                getattr(type(self), name).set(self, function(self))
            if has_post_init:
                self.__post_init__()

    function = named(init_and_finish if computed or has_post_init else init, cls, "__init__")
    function.__signature__ = LazySignature(lambda: _signature(info))
    function._ffi_maker = None if computed or has_post_init else maker  # it replaces the whole function
    return function  # type: ignore[no-any-return]


def refuse_init(cls: type) -> Callable[..., None]:
    """Return `__init__` for a class that must not be constructed."""
    message = f"`{cls.__name__}` cannot be constructed directly. Define a custom __init__ or use a factory method."

    def init(self: Any, /, *args: Any, **kwargs: Any) -> None:
        raise TypeError(message)

    return named(init, cls, "__init__")  # type: ignore[no-any-return]


def wrap_init(cls: Any, written: Callable[..., None]) -> Callable[..., None]:
    """Return `__init__` for a class body that defines one. It runs on an object: an empty one, unless a subclass
    created the object already."""
    make_empty = _core.type_attr(cls.__tvm_ffi_type_info__.type_index, "__ffi_new__")
    if make_empty is None:
        return written

    def init(self: Any, /, *args: Any, **kwargs: Any) -> None:
        if self.__chandle__() == 0:
            self.__init_handle_by_constructor__(make_empty)
        written(self, *args, **kwargs)

    # The class's names are set already, and a missing docstring need not be copied (see named.py).
    settled = {"__name__", "__qualname__", "__module__", *(["__doc__"] if written.__doc__ is None else [])}
    copied = [attribute for attribute in functools.WRAPPER_ASSIGNMENTS if attribute not in settled]
    return functools.update_wrapper(named(init, cls, "__init__"), written, copied)


def init_property_funcs(cls: type) -> list[tuple[str, Callable[[Any], Any]]]:
    """Return the fields that a class computes, with their functions, parents' first; the last one counts if a name is
    repeated."""
    found: dict[str, Callable[[Any], Any]] = {}
    for base in reversed(cls.__mro__):
        if "__ffi_init_property_funcs__" in base.__dict__:
            found.update(base.__dict__["__ffi_init_property_funcs__"])
    return list(found.items())


# --- parameters -------------------------------------------------------------------------------------------------------

_SELF = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)


def parameters_of(info: TypeInfo) -> list[TypeField]:
    """Return the fields that the constructor takes, the root's first. A field that a class defines again keeps the
    position of its first definition."""
    fields = {field.name: field for ancestor in type_chain(info) for field in ancestor.fields or ()}
    return [field for field in fields.values() if field.c_init]


def _in_order(info: TypeInfo) -> list[TypeField]:
    """Return the parameters in the order of arguments: by position, then by keyword; in each group, first those without
    a default."""
    return sorted(parameters_of(info), key=lambda field: (field.c_kw_only, field.c_has_default))


def _signature(info: TypeInfo) -> Signature:
    written = next((method.func for method in info.methods if method.name == "__ffi_init__"), None)
    if isinstance(written, _core.Function) and about.parameters_of(about.note_of(written)).names is not None:
        return constructor_signature(written)
    parameters = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY if field.c_kw_only else Parameter.POSITIONAL_OR_KEYWORD,
            default=_shown_default(field) if field.c_has_default else Parameter.empty,
            annotation=Parameter.empty if (schema := field._known_ty) is None else annotation_of(schema),
        )
        for field in _in_order(info)
    ]
    if any(p.name == "self" for p in parameters):  # a field may be called self
        return Signature([_SELF.replace(kind=Parameter.POSITIONAL_ONLY), *parameters], __validate_parameters__=False)
    return Signature([_SELF, *parameters], __validate_parameters__=False)


def _shown_default(field: TypeField) -> Any:
    """Return the default if it is a plain value; otherwise MISSING in its place."""
    is_plain = field.c_default is None or isinstance(field.c_default, (bool, int, float, str))
    return field.c_default if is_plain else MISSING


# --- types of native libraries ----------------------------------------------------------------------------------------


def _native_maker(cls: type, info: TypeInfo) -> tuple[Make | None, Any]:
    """Return the function that creates objects of a native library's type: the constructor that the library wrote. If
    the core generates the constructor from the fields, the binding does its work instead. The second result is an
    Initializer or Function with the same effect for a new instance of `cls` and positional arguments, None if there is
    none."""
    written = next((method.func for method in info.methods if method.name == "__ffi_init__"), None)
    constructor = written or _core.type_attr(info.type_index, "__ffi_init__")
    if constructor is None:
        return None, None

    native: Any = constructor

    def construct(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        if type(self) is not cls:
            _check_type(self, cls, info)
        if kwargs:
            args = arguments_of_constructor(cls, native, args, kwargs, _named)
        self.__init_handle_by_constructor__(constructor, *args)
        return True

    if written is not None:
        return construct, constructor if type(constructor) is _core.Function else None
    build = _core.Initializer(info.type_index, MISSING)

    def fill(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        if type(self) is not cls:
            _check_type(self, cls, info)
        return build(self, args, kwargs) or construct(self, args, kwargs)  # the constructor, for a second __init__

    make = _with_singletons(info, fill)
    return make, build if make is fill else None


def _check_type(self: Any, cls: type, info: TypeInfo) -> None:
    if type(self).__tvm_ffi_type_info__ is not info:
        raise TypeError(
            f"Calling `super().__init__()` is not supported for @c_class `{cls.__name__}`. Use @py_class for "
            f"inheritance with manual __init__, or define `{type(self).__name__}` with init=True."
        )


def _named(kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return keyword arguments in the form of native constructors, after a marker; those that are MISSING are left
    out."""
    from ..core import KWARGS

    return (KWARGS, *(part for pair in kwargs.items() if pair[1] is not MISSING for part in pair))


def _with_singletons(info: TypeInfo, make: Make) -> Make:
    """Return `make` with arguments of enum fields replaced by their singletons."""
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
