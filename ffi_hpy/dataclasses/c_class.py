"""c_class: a Python class for a native type that describes its fields, with the methods of a dataclass."""

from __future__ import annotations

from ..registry import _add_class_attrs, _warn_missing_field_annotations, can_be_member, register_object
from . import _annotations
from ._dunder import install_dunders
from .field import Field, field
from .py_class import TYPE_ATTRS, py_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from typing_extensions import dataclass_transform

    from .._types.info import TypeField, TypeInfo

    Class = TypeVar("Class", bound=type[Any])
else:

    def dataclass_transform(**_options: Any) -> Any:
        """A stand-in: typing.dataclass_transform is for type checkers, and Python 3.9 lacks it."""
        return lambda function: function


__all__ = ["c_class"]


@dataclass_transform(eq_default=False, order_default=False, field_specifiers=(Field, field))
def c_class(
    type_key: str,
    *,
    frozen: bool = False,
    init: bool = True,
    repr: bool = True,
    eq: bool = False,
    order: bool = False,
    unsafe_hash: bool = False,
    match_args: bool = True,
) -> Callable[[Class], Class]:
    """Class decorator: make a class the Python side of a native type, as a dataclass over its fields.

    The class gets the members that `register_object()` adds, `__copy__`, `__deepcopy__`, `__replace__`, and the methods
    of the options below, unless its body defines them. The annotations of the body are for type checkers and for
    `Field.type`: a UserWarning lists fields without an annotation.

    Args:
        type_key: the name of the native type.
        frozen: whether assignment to the fields of this type, not of its ancestors, raises AttributeError;
            ``Class.field.set(obj, value)`` and `__replace__` still write them.
        init: whether to generate an `__init__` with the fields as parameters, as the type declares them. That method
            calls `__post_init__` at the end. If false, construction is a TypeError. Subclasses for other types get or
            define their own `__init__`.
        repr: whether to generate a `__repr__` of the fields.
        eq: whether to generate `__eq__` and `__ne__` that compare the fields recursively. Like the ordering methods
            they return NotImplemented unless one object is an instance of the other's class.
        order: whether to generate `<`, `<=`, `>` and `>=` in the same way.
        unsafe_hash: whether to generate a `__hash__` of the fields. Changing a field changes the hash.
        match_args: whether to set `__match_args__`, the fields that `__init__` takes by position.

    Returns:
        The decorator.

    Raises:
        ValueError: if no loaded library has registered the type.
        TypeError: for a class that does not derive from Object.

    Examples:
        >>> import ffi_hpy.testing  # loads the library that has the type
        >>> @ffi_hpy.dataclasses.c_class("testing.TestIntPair", eq=True)
        ... class Pair(ffi_hpy.Object):
        ...     a: int
        ...     b: int
        >>> Pair(1, 2) == Pair(1, 2)
        True
    """

    def decorate(cls: Class) -> Class:
        for name, value in list(cls.__dict__.items()):
            if isinstance(value, Field):  # a Field for type checkers must not hide the native field
                delattr(cls, name)
        written = frozenset(cls.__dict__)
        register_object(type_key, init=False)(cls)
        info: TypeInfo = cls.__tvm_ffi_type_info__
        _warn_missing_field_annotations(cls, info, stacklevel=2)
        _attach_field_objects(cls, info, frozen=frozen)
        if frozen:
            for own in info.fields or ():
                if own.name not in written and can_be_member(cls, own.name):
                    setattr(cls, own.name, own.as_property(cls))
        _add_class_attrs(cls, info, TYPE_ATTRS)
        install_dunders(cls, init=init, repr=repr, eq=eq, order=order, unsafe_hash=unsafe_hash, match_args=match_args)
        cls.__ffi_is_dataclass__ = cls.__tvm_ffi_is_dataclass__ = True  # the second name is from 0.1.12
        return cls

    return decorate


c_class.__dataclass_transform__ = dict(py_class.__dataclass_transform__)  # type: ignore[attr-defined]


def _attach_field_objects(cls: type, type_info: TypeInfo, *, frozen: bool = False) -> None:
    """Describe the fields of a type itself in the form of `fields()`: Field objects, with the annotations of a class as
    their `type` if these can be resolved already."""
    try:
        resolved, missing = _annotations.resolve(cls, [cls])
        hints = {} if missing else resolved[cls]
    except Exception:  # annotations are for readers here, and need not be types
        hints = {}
    for own in type_info.fields or ():
        own.frozen = own.frozen or frozen
        own.dataclass_field = _describe(own)
        own.dataclass_field.type = hints.get(own.name)


def _describe(own: TypeField) -> Field:
    return Field(
        own.name,
        own._known_ty,
        default=own.c_default,
        default_factory=own.c_default_factory,
        frozen=own.frozen,
        init=own.c_init,
        repr=own.c_repr,
        hash=own.c_hash,
        compare=own.c_compare,
        kw_only=own.c_kw_only,
        structural_eq=own.c_structural_eq,
        doc=own.doc,
    )
