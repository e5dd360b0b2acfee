"""Reads Python annotations of types. The caller creates the schemas: TypeSchema uses this module."""

from __future__ import annotations

import collections.abc
import enum
import sys
import threading
import types
import typing

from .. import _core
from .._core import CObject
from .._dtype import dtype
from .._values.device import Device
from .._values.plain import DataType
from .._values.single import is_single
from .._values.string import Bytes, PyNativeObject, String
from .checks import Check, EnumCheck, InstanceCheck, ItemsCheck, LiteralCheck
from .origin import INDEX_OF_CLASS, ORIGIN_OF_INDEX

__all__ = ["AnnotationReader", "FieldReader", "is_unpacked"]

abc = collections.abc
Schema = typing.TypeVar("Schema")

_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
_ANNOTATED = type(typing.Annotated[int, "of any"])
_ORIGIN_OF_CLASS: dict[typing.Any, str] = {
    None: "None",
    type(None): "None",
    typing.Any: "Any",
    object: "Any",
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
    DataType: "dtype",
    getattr(typing, "LiteralString", str): "str",
    **dict.fromkeys((abc.Sequence, abc.Iterable, abc.Collection, abc.Reversible), "Array"),
    abc.MutableSequence: "List",
    abc.Mapping: "Map",
    abc.MutableMapping: "Dict",
}
# The containers among these, with the number of their arguments.
_CONTAINERS: dict[typing.Any, tuple[str, int]] = {
    cls: (origin, {"Array": 1, "List": 1, "Map": 2, "Dict": 2}[origin])
    for cls, origin in _ORIGIN_OF_CLASS.items()
    if origin in ("Array", "List", "Map", "Dict")
}
_ANY_ITEMS = frozenset((abc.Sequence, abc.Iterable, abc.Collection, abc.Reversible))
"""Abstract classes whose values of any class are accepted."""
_MOST_INSIDE = 8
"""The most times that an alias is read inside of itself. The arguments of the alias may double each time."""
_WRAPPERS = tuple([getattr(typing, name) for name in ("Final", "Required", "NotRequired") if hasattr(typing, name)])
"""Forms around a type that say nothing about its values."""


def _class_of(value: typing.Any) -> type:
    """Return the class of a value in a Literal; for an enum's member the class of the values that stand for it."""
    if not isinstance(value, enum.Enum):
        return type(value)
    return next((base for base in (int, str) if isinstance(value, base)), object)


def is_unpacked(annotation: typing.Any) -> bool:
    """Whether an annotation stands for several types: `Unpack`, or `*` before a tuple or the name of a TypeVarTuple."""
    origin = getattr(annotation, "__origin__", None)
    return getattr(annotation, "__unpacked__", False) is True or getattr(origin, "_name", "") == "Unpack"


def _with_arguments(alias: typing.Any, args: tuple[typing.Any, ...] | None) -> typing.Any:
    """Return the value of an alias of a `type` statement, with these arguments; None for an alias without brackets."""
    value = alias.__value__
    parameters = (value,) if isinstance(value, typing.TypeVar) else getattr(value, "__parameters__", ())
    given = _arguments_of(alias, args)
    passed = tuple([arg for each in parameters for arg in given.get(each, (each,))])
    if value in parameters:
        return passed[0]
    return value[passed] if parameters else value


def _arguments_of(alias: typing.Any, args: tuple[typing.Any, ...] | None) -> dict[typing.Any, tuple[typing.Any, ...]]:
    """Return the arguments for each parameter of an alias, several for a TypeVarTuple. A parameter without an argument
    stands for any value, any parameters or any number of values. TypeError for more arguments than parameters."""
    parameters = alias.__type_params__
    kinds = [type(each).__name__ for each in parameters]
    if args and kinds == ["ParamSpec"]:
        return {parameters[0]: args}
    left = list(args or ())
    n_rest = max(len(left) - len(parameters) + 1, 0)
    given: dict[typing.Any, tuple[typing.Any, ...]] = {}
    for each, kind in zip(parameters, kinds):
        if kind == "TypeVarTuple":
            given[each] = tuple(each) if args is None else tuple(left[:n_rest])
            del left[:n_rest]
        else:
            given[each] = (left.pop(0) if left else ... if kind == "ParamSpec" else typing.Any,)
    if left:
        n_most, n_given = len(parameters), len(args or ())
        raise TypeError(f"{alias.__name__} takes at most {n_most} type argument{'s' * (n_most != 1)}, got {n_given}")
    return given


class _Opened(threading.local):
    """The aliases whose values the thread is reading, with their arguments: None for an alias without brackets."""

    def __init__(self) -> None:
        self.aliases: list[tuple[typing.Any, tuple[typing.Any, ...] | None]] = []


class AnnotationReader(typing.Generic[Schema]):
    """Reads annotations: calls `make` with the arguments of TypeSchema, and `checked` to add a check to a schema."""

    def __init__(self, make: typing.Callable[..., Schema], checked: typing.Callable[[Schema, Check], Schema]) -> None:
        self._make, self._checked = make, checked
        self._leaves = {annotation: make(origin) for annotation, origin in _ORIGIN_OF_CLASS.items()}
        self._opened = _Opened()
        self._leaves.update({cls: checked(self._leaves[cls], ItemsCheck(cls)) for cls in _ANY_ITEMS})

    def read(self, annotation: typing.Any) -> Schema:
        """Return the schema of an annotation. TypeError for an annotation without a schema."""
        try:
            leaf = self._leaves.get(annotation)
        except TypeError:  # unhashable, so not in the table
            leaf = None
        if leaf is not None:
            return leaf
        origin = getattr(annotation, "__origin__", None)
        if origin is not None or type(annotation) in _UNIONS:
            return self._read_generic(annotation, origin)
        if hasattr(annotation, "__supertype__") and not isinstance(annotation, type):  # a NewType
            return self.read(annotation.__supertype__)
        if hasattr(annotation, "__value__") and not isinstance(annotation, type):
            return self._read_alias(annotation, None)
        if isinstance(annotation, type):
            schema = self._read_class(annotation)
            if schema is None:
                schema = self._read_other(annotation)
            if schema is not None:
                return schema
        is_text = isinstance(annotation, (str, typing.ForwardRef))
        hint = "; resolve it with typing.get_type_hints() first" if is_text else ""
        raise TypeError(f"Cannot convert {annotation!r} to TypeSchema{hint}")

    def _read_alias(self, alias: typing.Any, args: tuple[typing.Any, ...] | None) -> Schema:
        """Read the value of an alias of a `type` statement. Inside of itself, with the same arguments or too deep, the
        alias stands for any value."""
        opened = self._opened.aliases
        inside = [given for each, given in opened if each is alias]
        if args in inside or len(inside) >= _MOST_INSIDE:
            return self._leaves[typing.Any]
        opened.append((alias, args))
        try:
            return self.read(_with_arguments(alias, args))
        finally:
            opened.pop()

    def _read_class(self, cls: type) -> Schema | None:
        if issubclass(cls, CObject):
            return self._read_object(cls, ())
        if issubclass(cls, Device):
            return self._make("Device")
        if issubclass(cls, PyNativeObject) and issubclass(cls, tuple):
            return self._make("ffi.Shape")
        ctypes = sys.modules.get("ctypes")
        if ctypes is not None and cls is ctypes.c_void_p:
            return self._make("ctypes.c_void_p")
        if issubclass(cls, enum.Enum):
            return self._read_enum(cls)
        return self._make("Tensor") if hasattr(cls, "__dlpack__") and not is_single(cls) else None

    def _read_enum(self, cls: type[enum.Enum]) -> Schema:
        """Members that are ints or strs become such values. Others stay Python objects."""
        base = next((base for base in (int, str) if issubclass(cls, base)), object)
        return self._checked(self.read(base), EnumCheck(cls))

    def _read_generic(self, annotation: typing.Any, origin: typing.Any) -> Schema:
        if type(annotation) is _ANNOTATED:  # its origin is the annotation inside, possibly `list`
            return self.read(origin)
        # typing.get_args() differs only for Callable. A bare typing.List has no __args__.
        args: tuple[typing.Any, ...] = getattr(annotation, "__args__", ())
        if origin is list and len(args) > 1:
            raise TypeError(f"list takes at most 1 type argument, got {len(args)}")
        if origin is dict and len(args) not in (0, 2):
            raise TypeError(f"dict requires 0 or 2 type arguments, got {len(args)}")
        if origin in _CONTAINERS:
            name, n_args = _CONTAINERS[origin]
            schema = self._make(name, tuple(map(self.read, args)) if len(args) == n_args else ())
            return self._checked(schema, ItemsCheck(origin)) if origin in _ANY_ITEMS else schema
        if origin is typing.Literal:
            return self._checked(self._read_union(tuple(dict.fromkeys(map(_class_of, args)))), LiteralCheck(args))
        if origin in _WRAPPERS:
            return self.read(args[0])
        if origin in _UNIONS or type(annotation) in _UNIONS:
            return self._read_union(args)
        if origin is tuple:
            return self._read_tuple(annotation, args)
        if hasattr(origin, "__value__"):
            return self._read_alias(origin, args)
        if origin is collections.abc.Callable:
            return self._read_callable(typing.get_args(annotation))
        if isinstance(origin, type) and issubclass(origin, CObject):
            return self._read_object(origin, args)
        other = self._read_other(origin) if isinstance(origin, type) else None
        if other is None:
            raise TypeError(f"Cannot convert {annotation!r} to TypeSchema")
        return other

    def _read_other(self, cls: type) -> Schema | None:
        """Return the schema of a class without a native type, None if it has no schema."""
        return None

    def _read_union(self, args: tuple[typing.Any, ...]) -> Schema:
        rest = tuple(dict.fromkeys(self.read(arg) for arg in args if arg not in (None, type(None))))
        is_optional = any(arg in (None, type(None)) for arg in args)
        if not rest:
            return self._make("None")
        inner = rest[0] if len(rest) == 1 else self._make("Union", rest)
        return self._make("Optional", (inner,)) if is_optional else inner

    def _read_tuple(self, annotation: typing.Any, args: tuple[typing.Any, ...]) -> Schema:
        if len(args) == 2 and args[1] is Ellipsis:
            return self._make("Array", (self.read(args[0]),))
        if not args and annotation is typing.Tuple:  # noqa: UP006
            return self._make("tuple")
        if args == ((),):  # the form of tuple[()] in Python before 3.11
            args = ()
        if any(map(is_unpacked, args)):
            return self._make("tuple")  # of any length: a schema names each item
        return self._make("tuple", tuple(map(self.read, args)))

    def _read_callable(self, args: tuple[typing.Any, ...]) -> Schema:
        if len(args) != 2:
            return self._make("Callable")
        params, result = args
        groups: dict[str, tuple[Schema, ...]] = {"return": (self.read(result),)}
        if isinstance(params, list) and not any(map(is_unpacked, params)):
            groups["params"] = tuple(map(self.read, params))
        return self._make("Callable", named_args=groups)

    def _read_object(self, cls: type, args: tuple[typing.Any, ...]) -> Schema:
        index = INDEX_OF_CLASS.get(cls)
        if index is None:
            raise TypeError(f"{cls!r} is not registered: it stands for no native type; use @register_object")
        origin = ORIGIN_OF_INDEX.get(index) or str(_core.type_info(index)[0])
        n_wanted = {"Array": 1, "List": 1, "Map": 2, "Dict": 2}.get(origin)
        if args and n_wanted is not None and len(args) != n_wanted:
            raise TypeError(f"{origin} requires {n_wanted} type argument{'s' * (n_wanted > 1)}, got {len(args)}")
        return self._make(origin, tuple(map(self.read, args)), index)


class FieldReader(AnnotationReader[Schema]):
    """Reads the annotations of fields, which may also hold instances of classes without a native type."""

    def _read_other(self, cls: type) -> Schema | None:
        """None for a class whose instances turn into native values: no field would hold them."""
        protocols = ("__tvm_ffi_value__", "__tvm_ffi_object__", "asobject")
        if any(hasattr(cls, name) for name in protocols):
            return None
        return self._checked(self._leaves[typing.Any], InstanceCheck(cls))
