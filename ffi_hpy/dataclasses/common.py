"""The helpers of the standard library's `dataclasses`, for classes made by `c_class()` and `py_class()`."""

from __future__ import annotations

import copy
from collections import namedtuple
from functools import wraps
from typing import Any

from .._core import cany_value
from .._core import cany_value as _to_py_class_value  # noqa: F401 - names that tvm_ffi has here
from .._start.late import suggest_names
from .._types.schema import TypeSchema
from ..container import Array, Dict, List, Map
from .field import Field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    Instance = TypeVar("Instance")

__all__ = ["asdict", "astuple", "fields", "is_dataclass", "replace"]

if not TYPE_CHECKING:
    __getattr__ = suggest_names(__name__)

# Types whose values need no copy, by exact type.
_ATOMS = frozenset({bool, bytes, complex, float, int, str, type(None), type(Ellipsis), type(NotImplemented)})


def is_dataclass(obj: Any) -> bool:
    """Tell whether an object is a class made by `c_class()` or `py_class()`, or an instance of one.

    Args:
        obj: any object. Containers are objects too, but not dataclasses.
    """
    cls = obj if isinstance(obj, type) else type(obj)
    return getattr(cls, "__ffi_is_dataclass__", False) is True


def fields(obj_or_cls: Any) -> tuple[Field, ...]:
    """List the fields of a dataclass, the root's first.

    If a class defines a field again, the last definition counts, at the position of the first one.

    Args:
        obj_or_cls: a class made by `c_class()` or `py_class()`, or an instance of one.

    Returns:
        The descriptions of the fields.

    Raises:
        TypeError: for any other object.
    """
    if not is_dataclass(obj_or_cls):
        raise TypeError(
            f"fields() argument must be a c_class or py_class type or instance, got {type(obj_or_cls).__name__}"
        )
    cls = obj_or_cls if isinstance(obj_or_cls, type) else type(obj_or_cls)
    found: dict[str, Field] = {}
    for info in type_chain(getattr(cls, "__tvm_ffi_type_info__", None)):
        found.update((f.name, f.dataclass_field) for f in info.fields or () if f.dataclass_field is not None)
    return tuple(found.values())


def type_chain(info: Any) -> list[Any]:
    """The TypeInfos from the root to `info`."""
    chain: list[Any] = []
    while info is not None:
        chain += (info,)  # without a call: a class may have many ancestors
        info = info.parent_type_info
    return chain[::-1]


def replace(obj: Instance, /, **changes: Any) -> Instance:
    """Copy an object with other values in some fields, even frozen ones.

    Args:
        obj: an instance of a dataclass.
        **changes: the values by name.

    Returns:
        The copy, which shares the values of the other fields with the original.

    Raises:
        AttributeError: for an unknown name.
        TypeError: if the type cannot be copied, or a value does not match its field.
    """
    return obj.__replace__(**changes)  # type: ignore[attr-defined,no-any-return]


def asdict(obj: Any, *, dict_factory: Callable[[list[tuple[str, Any]]], Any] = dict) -> Any:
    """Turn an instance into a dict of its fields, recursively.

    Args:
        obj: an instance of a dataclass.
        dict_factory: a function that creates each dict from a list of pairs.

    Returns:
        The dict. In it, instances and mappings become dicts, sequences become lists, tuples stay tuples; other values
        are deep copies.

    Raises:
        TypeError: for a value that is not an instance of a dataclass.
    """
    _check_instance("asdict", obj)
    return _asdict_inner(obj, dict_factory)


def astuple(obj: Any, *, tuple_factory: Callable[[list[Any]], Any] = tuple) -> Any:
    """Turn an instance into a tuple of the values of its fields, recursively.

    Args:
        obj: an instance of a dataclass.
        tuple_factory: a function that creates the tuple of each instance from a list.

    Returns:
        The tuple. In it, instances become tuples, mappings become dicts, sequences become lists; other values are deep
        copies.

    Raises:
        TypeError: for a value that is not an instance of a dataclass.
    """
    _check_instance("astuple", obj)
    return _astuple_inner(obj, tuple_factory)


def _check_instance(function: str, obj: Any) -> None:
    if isinstance(obj, type) or not is_dataclass(obj):
        raise TypeError(f"{function}() should be called on c_class / py_class instances, not {type(obj).__name__}")


def _asdict_inner(obj: Any, dict_factory: Callable[[list[tuple[str, Any]]], Any]) -> Any:
    return _rebuild(obj, dict_factory, dict_factory)


def _astuple_inner(obj: Any, tuple_factory: Callable[[list[Any]], Any]) -> Any:
    return _rebuild(obj, lambda pairs: tuple_factory([value for _, value in pairs]), dict)


def _rebuild(obj: Any, instance_factory: Callable[..., Any], mapping_factory: Callable[..., Any]) -> Any:
    """Rebuild a value recursively. The factories make an instance of a dataclass and a native mapping from pairs; a
    value of a Python class keeps its class."""

    def inner(value: Any) -> Any:
        cls = type(value)
        if cls in _ATOMS:
            return value
        if isinstance(value, (Map, Dict)):
            return mapping_factory([(inner(k), inner(v)) for k, v in value.items()])
        if not isinstance(value, type) and is_dataclass(value):
            return instance_factory([(f.name, inner(getattr(value, f.name))) for f in fields(value)])
        if isinstance(value, (Array, List)):
            return [inner(v) for v in value]
        if isinstance(value, tuple) and hasattr(cls, "_fields"):
            return cls(*[inner(v) for v in value])
        if isinstance(value, (list, tuple)):
            return cls(inner(v) for v in value)
        if isinstance(value, dict):
            pairs = ((inner(k), inner(v)) for k, v in value.items())
            if not hasattr(cls, "default_factory"):
                return cls(pairs)
            result = cls(value.default_factory)  # type: ignore[attr-defined]
            result.update(pairs)
            return result
        return copy.deepcopy(value)

    return inner(obj)


def _plain_namedtuple(typename: str, names: list[str]) -> Any:
    return namedtuple(typename, names)


def _make_namedtuple(typename: str, fields: tuple[Field, ...]) -> Any:
    """Return a named tuple class with these fields, in this order. The class converts values by the fields' types.

    All fields are required: defaults and initialisation of the original class are not used. TypeError, which names the
    field, for a value that cannot be converted; also from `_make` and `_replace`.
    """
    cls = _plain_namedtuple(typename, [f.name for f in fields])
    schemas = [TypeSchema.from_annotation(f.type) if f._ty_schema is None else f._ty_schema for f in fields]
    cls.__annotations__ = {f.name: f.type for f in fields if f.type is not None}
    names, plain_new, plain_make = cls._fields, cls.__new__, cls._make.__func__

    def convert(name: str, schema: TypeSchema, value: Any) -> Any:
        try:
            return cany_value(schema.convert(value))
        except TypeError as error:
            raise TypeError(f"{typename}.{name}: {error}") from error

    @wraps(plain_new)
    def __new__(cls: type, /, *args: Any, **kwargs: Any) -> Any:
        plain = plain_new(cls, *args, **kwargs)
        return plain_new(cls, *[convert(*parts) for parts in zip(names, schemas, plain)])

    def _make(cls: Any, iterable: Iterable[Any]) -> Any:
        return cls(*plain_make(cls, iterable))  # it checks the length

    cls.__new__ = staticmethod(__new__)
    cls._make = classmethod(_make)
    return cls
