"""The `__init__` of dataclasses: it creates the object and then runs the class's own steps."""

from __future__ import annotations

import functools
from inspect import Parameter, Signature

from .. import _core
from .._signature import LazySignature, annotation_of, constructor_signature
from .._start.named import named
from .._types import function_metadata
from .._types.schema import TypeSchema
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
    """Return `__init__` for a class whose type is complete: it creates the object, sets the fields, computes the fields
    of init_property, and calls `__post_init__`.

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
    parameters = _in_order(info)
    init_vars = [each for each in parameters if not hasattr(each, "c_init")]
    split = _splitter(cls, parameters)

    def init(self: Any, /, *args: Any, **kwargs: Any) -> None:
        make(self, args, kwargs)

    def init_and_finish(self: Any, /, *args: Any, **kwargs: Any) -> None:
        if make(self, args, kwargs):
            for name, function in computed:
                getattr(type(self), name).set(self, function(self))
            if has_post_init:
                self.__post_init__()

    def init_with_vars(self: Any, /, *args: Any, **kwargs: Any) -> None:
        values, rest = split(args, kwargs)
        if make(self, (), rest):
            for name, function in computed:
                getattr(type(self), name).set(self, function(self))
            if has_post_init:
                self.__post_init__(*values)

    if init_vars:
        init_and_finish = init_with_vars
    function = named(init_and_finish if computed or has_post_init or init_vars else init, cls, "__init__")
    function.__signature__ = LazySignature(lambda: _signature(info))
    function._ffi_maker = None if computed or has_post_init or init_vars else maker  # it replaces the whole function
    return function  # type: ignore[no-any-return]


def refuse_init(cls: type) -> Callable[..., None]:
    """Return `__init__` for a class that must not be constructed."""
    message = f"`{cls.__name__}` cannot be constructed directly. Define a custom __init__ or use a factory method."

    def init(self: Any, /, *args: Any, **kwargs: Any) -> None:
        raise TypeError(message)

    return named(init, cls, "__init__")  # type: ignore[no-any-return]


def wrap_init(cls: Any, written: Callable[..., None]) -> Callable[..., None]:
    """Return `__init__` for a class body that defines one. The function runs on an object: an empty one, unless a
    subclass created the object already."""
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


class _InitVar:
    """A parameter of `__init__` that is not a field: an annotation with InitVar. An _InitVar has the attributes of a
    field that concern parameters."""

    _known_ty = None

    def __init__(self, described: Any) -> None:
        self.name = described.name
        self.dataclass_field = described
        self.c_kw_only = described.kw_only
        self.c_default, self.c_default_factory = described.default, described.default_factory
        self.c_has_default = described.has_default
        try:
            self.schema: TypeSchema | None = TypeSchema._of_field(described.type)
        except TypeError:  # a type that no field can have
            self.schema = None

    def check(self, value: Any, cls: type) -> Any:
        """Return the value; TypeError if it does not match the annotation."""
        if self.schema is not None and value is not self.c_default:
            try:
                self.schema.check_value(value)
            except TypeError as error:
                reason = str(error).partition(f"{self.schema!r}: ")[2] or error
                raise TypeError(f"{cls.__name__}.__init__() argument '{self.name}': {reason}") from None
        return value


def _in_order(info: TypeInfo) -> list[Any]:
    """Return the parameters in the order of arguments: by position, then by keyword; in each group, first those without
    a default."""
    parameters: dict[str, Any] = {}
    for ancestor in type_chain(info):
        own = [(i, 1, field) for i, field in enumerate(ancestor.fields or ())]
        own += [(i, 0, _InitVar(described)) for i, described in getattr(ancestor, "_init_vars", ())]
        parameters.update((each.name, each) for _, _, each in sorted(own, key=lambda place: place[:2]))
    taken = [each for each in parameters.values() if getattr(each, "c_init", True)]
    return sorted(taken, key=lambda each: (each.c_kw_only, each.c_has_default))


def _splitter(cls: type, parameters: list[Any]) -> Callable[..., tuple[list[Any], dict[str, Any]]]:
    """Return a function that splits the arguments of `__init__`: into the values of InitVars, in their order in the
    body, and the other arguments by name."""
    names = [each.name for each in parameters if not each.c_kw_only]
    init_vars = [
        _InitVar(described)
        for each in type_chain(cls.__tvm_ffi_type_info__)  # type: ignore[attr-defined]
        for _, described in getattr(each, "_init_vars", ())
    ]

    def value_of(each: _InitVar, given: dict[str, Any]) -> Any:
        if each.name in given:
            return each.check(given.pop(each.name), cls)
        if not each.c_has_default:
            raise TypeError(f"{cls.__name__}.__init__() missing required argument: '{each.name}'")
        return each.c_default if each.c_default_factory is MISSING else each.c_default_factory()

    def split(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        if len(args) > len(names):
            raise TypeError(f"{cls.__name__}.__init__() takes {len(names)} positional arguments, got {len(args)}")
        given = dict(zip(names, args))
        for name in given.keys() & kwargs.keys():
            raise TypeError(f"{cls.__name__}.__init__() got multiple values for argument '{name}'")
        given.update(kwargs)
        return [value_of(each, given) for each in init_vars], given

    return split


def _signature(info: TypeInfo) -> Signature:
    written = next((method.func for method in info.methods if method.name == "__ffi_init__"), None)
    if (
        isinstance(written, _core.Function)
        and function_metadata.parameters_of(function_metadata.metadata_of(written)).names is not None
    ):
        return constructor_signature(written)
    parameters = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY if field.c_kw_only else Parameter.POSITIONAL_OR_KEYWORD,
            default=_shown_default(field) if field.c_has_default else Parameter.empty,
            annotation=_shown_annotation(field),
        )
        for field in _in_order(info)
    ]
    if any(p.name == "self" for p in parameters):  # a field may be called self
        return Signature([_SELF.replace(kind=Parameter.POSITIONAL_ONLY), *parameters], __validate_parameters__=False)
    return Signature([_SELF, *parameters], __validate_parameters__=False)


def _shown_annotation(field: Any) -> Any:
    if field.dataclass_field is not None and field.dataclass_field.type is not None:
        return field.dataclass_field.type  # as it was written: the schema of a Literal or Enum is less exact
    schema = field._known_ty
    return Parameter.empty if schema is None else annotation_of(schema)


class _Factory:
    """Stands for the default that a function makes, as in the standard library."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _shown_default(field: TypeField) -> Any:
    """Return the default as the class has it, or the sign for a function that makes one."""
    written = field.dataclass_field
    if written is not None and written.default is not MISSING:
        return written.default
    return field.c_default if field.c_default_factory is MISSING else _FACTORY


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
    """Return keyword arguments in the form of native constructors, after a marker; values that are MISSING are left
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
