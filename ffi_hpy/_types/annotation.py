"""Python annotations as trees, of which TypeSchema.from_annotation() makes schemas."""

from __future__ import annotations

import collections.abc
import sys
import types
import typing

from .. import _core
from .._core import CObject
from .._dtype import dtype
from .._string import Bytes, String
from .origin import INDEX_OF_CLASS, ORIGIN_OF_INDEX, UNKNOWN

__all__ = ["Tree", "read_annotation"]


class Tree(typing.NamedTuple):
    """The arguments of TypeSchema, with trees in place of schemas."""

    origin: str
    args: tuple[Tree, ...] | None = None
    type_index: int = UNKNOWN
    named_args: dict[str, tuple[Tree, ...]] | None = None


_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
_ORIGIN_OF_CLASS: dict[typing.Any, str] = {
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


_leaves = {annotation: Tree(origin) for annotation, origin in _ORIGIN_OF_CLASS.items()}


def read_annotation(annotation: typing.Any) -> Tree:
    """The tree of an annotation. TypeError for an annotation that has no schema."""
    try:
        leaf = _leaves.get(annotation)
    except TypeError:  # unhashable, so not in the tables
        leaf = None
    if leaf is not None:
        return leaf
    origin = getattr(annotation, "__origin__", None)
    if origin is not None or type(annotation) in _UNIONS:
        return _tree_of_generic(annotation, origin, typing.get_args(annotation))
    if isinstance(annotation, type):
        tree = _tree_of_class(annotation)
        if tree is not None:
            return tree
    hint = "; resolve it with typing.get_type_hints() first" if isinstance(annotation, (str, typing.ForwardRef)) else ""
    raise TypeError(f"Cannot convert {annotation!r} to TypeSchema{hint}")


def _tree_of_class(cls: type) -> Tree | None:
    if issubclass(cls, CObject):
        return _tree_of_object(cls, ())
    if issubclass(cls, _core.Device):
        return Tree("Device")
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and cls is ctypes.c_void_p:
        return Tree("ctypes.c_void_p")
    return Tree("Tensor") if hasattr(cls, "__dlpack__") else None


def _tree_of_generic(annotation: typing.Any, origin: typing.Any, args: tuple[typing.Any, ...]) -> Tree:
    if origin is list:
        if len(args) > 1:
            raise TypeError(f"list takes at most 1 type argument, got {len(args)}")
        return Tree("List", tuple(map(read_annotation, args)))
    if origin is dict:
        if len(args) not in (0, 2):
            raise TypeError(f"dict requires 0 or 2 type arguments, got {len(args)}")
        return Tree("Dict", tuple(map(read_annotation, args)))
    if origin in _UNIONS or type(annotation) in _UNIONS:
        return _tree_of_union(args)
    if origin is tuple:
        return _tree_of_tuple(annotation, args)
    if origin is collections.abc.Callable:
        return _tree_of_callable(args)
    if hasattr(annotation, "__metadata__"):  # Annotated
        return read_annotation(origin)
    if isinstance(origin, type) and issubclass(origin, CObject):
        return _tree_of_object(origin, args)
    raise TypeError(f"Cannot convert {annotation!r} to TypeSchema")


def _tree_of_union(args: tuple[typing.Any, ...]) -> Tree:
    rest = tuple(read_annotation(arg) for arg in args if arg is not type(None))
    inner = rest[0] if len(rest) == 1 else Tree("Union", rest)
    return inner if len(rest) == len(args) else Tree("Optional", (inner,))


def _tree_of_tuple(annotation: typing.Any, args: tuple[typing.Any, ...]) -> Tree:
    if len(args) == 2 and args[1] is Ellipsis:
        return Tree("Array", (read_annotation(args[0]),))
    if not args and annotation is typing.Tuple:  # noqa: UP006
        return Tree("tuple")
    if args == ((),):  # the form of tuple[()] before Python 3.11
        args = ()
    return Tree("tuple", tuple(map(read_annotation, args)))


def _tree_of_callable(args: tuple[typing.Any, ...]) -> Tree:
    if len(args) != 2:
        return Tree("Callable")
    params, result = args
    groups: dict[str, tuple[Tree, ...]] = {"return": (read_annotation(result),)}
    if isinstance(params, list):
        groups["params"] = tuple(map(read_annotation, params))
    return Tree("Callable", named_args=groups)


def _tree_of_object(cls: type, args: tuple[typing.Any, ...]) -> Tree:
    index = INDEX_OF_CLASS.get(cls)
    if index is None:
        raise TypeError(f"{cls!r} is not registered: it stands for no native type; use @register_object")
    origin = ORIGIN_OF_INDEX.get(index) or str(_core.type_info(index)[0])
    n_wanted = {"Array": 1, "List": 1, "Map": 2, "Dict": 2}.get(origin)
    if args and n_wanted is not None and len(args) != n_wanted:
        raise TypeError(f"{origin} requires {n_wanted} type argument{'s' * (n_wanted > 1)}, got {len(args)}")
    return Tree(origin, tuple(map(read_annotation, args)), index)
