"""Python annotations as type schemas."""

from __future__ import annotations

import collections.abc
import sys
import types
import typing

from . import _core
from ._core import CObject
from ._dtype import dtype
from ._string import Bytes, String
from ._type_info import info_of_class
from ._type_origin import ORIGIN_OF_INDEX
from ._type_schema import TypeSchema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["schema_of_annotation"]

_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
_ORIGIN_OF_CLASS: dict[Any, str] = {
    None: "None",
    type(None): "None",
    typing.Any: "Any",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    String: "str",
    bytes: "bytes",
    Bytes: "bytes",
    list: "List",
    dict: "Dict",
    tuple: "tuple",
    collections.abc.Callable: "Callable",
    typing.Callable: "Callable",
    dtype: "dtype",
    _core.DataType: "dtype",
}


_leaves = {annotation: TypeSchema(origin) for annotation, origin in _ORIGIN_OF_CLASS.items()}


def schema_of_annotation(annotation: Any) -> TypeSchema:
    """See TypeSchema.from_annotation()."""
    try:
        leaf = _leaves.get(annotation)
    except TypeError:  # unhashable: nothing that is known
        leaf = None
    if leaf is not None:
        return leaf
    origin = getattr(annotation, "__origin__", None)
    if origin is not None or type(annotation) in _UNIONS:
        return _schema_of_generic(annotation, origin, typing.get_args(annotation))
    if isinstance(annotation, type):
        schema = _schema_of_class(annotation)
        if schema is not None:
            return schema
    hint = "; resolve it with typing.get_type_hints() first" if isinstance(annotation, (str, typing.ForwardRef)) else ""
    raise TypeError(f"Cannot convert {annotation!r} to TypeSchema{hint}")


def _schema_of_class(cls: type) -> TypeSchema | None:
    if issubclass(cls, CObject):
        return _schema_of_object(cls, ())
    if issubclass(cls, _core.Device):
        return TypeSchema("Device")
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and cls is ctypes.c_void_p:
        return TypeSchema("ctypes.c_void_p")
    return TypeSchema("Tensor") if hasattr(cls, "__dlpack__") else None


def _schema_of_generic(annotation: Any, origin: Any, args: tuple[Any, ...]) -> TypeSchema:
    if origin is list:
        if len(args) > 1:
            raise TypeError(f"list takes at most 1 type argument, got {len(args)}")
        return TypeSchema("List", tuple(map(schema_of_annotation, args)))
    if origin is dict:
        if len(args) not in (0, 2):
            raise TypeError(f"dict requires 0 or 2 type arguments, got {len(args)}")
        return TypeSchema("Dict", tuple(map(schema_of_annotation, args)))
    if origin in _UNIONS or type(annotation) in _UNIONS:
        return _schema_of_union(args)
    if origin is tuple:
        return _schema_of_tuple(annotation, args)
    if origin is collections.abc.Callable:
        return _schema_of_callable(args)
    if hasattr(annotation, "__metadata__"):  # Annotated
        return schema_of_annotation(origin)
    if isinstance(origin, type) and issubclass(origin, CObject):
        return _schema_of_object(origin, args)
    raise TypeError(f"Cannot convert {annotation!r} to TypeSchema")


def _schema_of_union(args: tuple[Any, ...]) -> TypeSchema:
    rest = tuple(schema_of_annotation(arg) for arg in args if arg is not type(None))
    inner = rest[0] if len(rest) == 1 else TypeSchema("Union", rest)
    return inner if len(rest) == len(args) else TypeSchema("Optional", (inner,))


def _schema_of_tuple(annotation: Any, args: tuple[Any, ...]) -> TypeSchema:
    if len(args) == 2 and args[1] is Ellipsis:
        return TypeSchema("Array", (schema_of_annotation(args[0]),))
    if not args and annotation is typing.Tuple:  # noqa: UP006
        return TypeSchema("tuple")
    if args == ((),):  # how Python before 3.11 has tuple[()]
        args = ()
    return TypeSchema("tuple", map(schema_of_annotation, args))


def _schema_of_callable(args: tuple[Any, ...]) -> TypeSchema:
    if len(args) != 2:
        return TypeSchema("Callable")
    params, result = args
    groups: dict[str, tuple[TypeSchema, ...]] = {"return": (schema_of_annotation(result),)}
    if isinstance(params, list):
        groups["params"] = tuple(map(schema_of_annotation, params))
    return TypeSchema("Callable", named_args=groups)


def _schema_of_object(cls: type, args: tuple[Any, ...]) -> TypeSchema:
    info = info_of_class(cls)
    if info is None:
        raise TypeError(f"{cls!r} is not registered: it stands for no native type; use @register_object")
    origin = ORIGIN_OF_INDEX.get(info.type_index, info.type_key)
    n_wanted = {"Array": 1, "List": 1, "Map": 2, "Dict": 2}.get(origin)
    if args and n_wanted is not None and len(args) != n_wanted:
        raise TypeError(f"{origin} requires {n_wanted} type argument{'s' * (n_wanted > 1)}, got {len(args)}")
    return TypeSchema(origin, map(schema_of_annotation, args), info.type_index)
