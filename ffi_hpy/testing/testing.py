"""Classes for the types of the testing library, and helpers for tests."""

from __future__ import annotations

from typing import ClassVar

from .. import _ffi_api as _core_api
from .._values.object import Object
from ..dataclasses import IntEnum, StrEnum, c_class, entry
from . import _ffi_api

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .._dtype import dtype
    from .._values.device import Device


def create_object(type_key: str, **kwargs: Any) -> Object:
    """Return a new object of a native type, with fields by name; the other fields have their defaults.

    Raises the core's TypeError, ValueError or RuntimeError for a wrong type, name or value.
    """
    parts = (part for pair in kwargs.items() for part in pair)
    return _core_api.MakeObjectFromPackedArgs(type_key, *parts)  # type: ignore[no-any-return]


def make_unregistered_object() -> Object:
    """Return an object of testing.TestUnregisteredObject, a type without a registered class: its `v1` is 41, its `v2`
    42."""
    return _ffi_api.make_unregistered_object()  # type: ignore[no-any-return]


def add_one(x: int) -> int:
    """Return `x + 1` in 32 bits, computed by native code. TypeError unless x is an int."""
    return _ffi_api.add_one(x)  # type: ignore[no-any-return]


# --- plain objects ----------------------------------------------------------------------------------------------------


@c_class("testing.TestObjectBase")
class TestObjectBase(Object):
    """An object with defaults, the base of other classes."""

    __test__ = False
    v_i64: int
    v_f64: float
    v_str: str

    if TYPE_CHECKING:

        def __init__(self, v_i64: int = ..., v_f64: float = ..., v_str: str = ...) -> None: ...
        def add_i64(self, _1: int, /) -> int: ...


@c_class("testing.TestObjectDerived")
class TestObjectDerived(TestObjectBase):
    """An object with containers, of a derived class."""

    __test__ = False
    v_map: Mapping[Any, Any]
    v_array: Sequence[Any]

    if TYPE_CHECKING:

        def __init__(
            self,
            v_map: Mapping[Any, Any],
            v_array: Sequence[Any],
            v_i64: int = ...,
            v_f64: float = ...,
            v_str: str = ...,
        ) -> None: ...


@c_class("testing.TestIntPair")
class TestIntPair(Object):
    """Two integers that cannot be changed."""

    __test__: ClassVar[bool] = False
    a: int
    b: int

    if TYPE_CHECKING:

        def sum(self, /) -> int: ...


@c_class("testing.TestFrozenCxx", frozen=True)
class TestFrozenCxx(Object):
    """An object with writable native fields whose class forbids assignment."""

    __test__: ClassVar[bool] = False
    value: int
    tag: str


@c_class("testing.TestObjectPtrHolder")
class TestObjectPtrHolder(Object):
    """An object with fields that are objects, one of which may be None."""

    __test__ = False
    value: TestObjectBase
    optional_value: TestObjectBase | None

    if TYPE_CHECKING:

        def __init__(self, value: TestObjectBase, optional_value: TestObjectBase | None = ...) -> None: ...


@c_class("testing.TestNonCopyable")
class TestNonCopyable(Object):
    """An object that cannot be copied."""

    __test__ = False
    value: int


@c_class("testing.SchemaAllTypes")
class _SchemaAllTypes(Object):
    """An object with a field of every type."""

    v_bool: bool
    v_int: int
    v_float: float
    v_device: Device
    v_dtype: dtype
    v_string: str
    v_bytes: bytes
    v_opt_int: int | None
    v_opt_str: str | None
    v_arr_int: Sequence[int]
    v_arr_str: Sequence[str]
    v_map_str_int: Mapping[str, int]
    v_map_str_arr_int: Mapping[str, Sequence[int]]
    v_variant: str | Sequence[int] | Mapping[str, int]
    v_opt_arr_variant: Sequence[int | str] | None

    if TYPE_CHECKING:

        def add_int(self, _1: int, /) -> int: ...
        def append_int(self, _1: Sequence[int], _2: int, /) -> Sequence[int]: ...
        def maybe_concat(self, _1: str | None, _2: str | None, /) -> str | None: ...
        def merge_map(
            self, _1: Mapping[str, Sequence[int]], _2: Mapping[str, Sequence[int]], /
        ) -> Mapping[str, Sequence[int]]: ...
        @staticmethod
        def make_with(_0: int, _1: float, _2: str, /) -> _SchemaAllTypes: ...


# --- comparison and hash ----------------------------------------------------------------------------------------------


@c_class("testing.TestCompare")
class TestCompare(Object):
    """An object with a field that comparison ignores."""

    __test__ = False
    key: int
    name: str
    ignored_field: int


@c_class("testing.TestHash")
class TestHash(Object):
    """An object with a field that hashing ignores."""

    __test__ = False
    key: int
    name: str
    hash_ignored: int


@c_class("testing.TestCustomHash")
class TestCustomHash(Object):
    """An object that hashes its key only."""

    __test__ = False
    key: int
    label: str


@c_class("testing.TestCustomCompare")
class TestCustomCompare(Object):
    """An object that compares and hashes its key only."""

    __test__ = False
    key: int
    label: str


@c_class("testing.TestEqWithoutHash")
class TestEqWithoutHash(Object):
    """An object that defines equality but no hash, which recursive hashing refuses."""

    __test__ = False
    key: int
    label: str


# --- construction -----------------------------------------------------------------------------------------------------


@c_class("testing.TestCxxClassBase")
class _TestCxxClassBase(Object):
    """An object whose class defines `__init__`."""

    v_i64: int
    v_i32: int
    not_field_1 = 1
    not_field_2: ClassVar[int] = 2

    def __init__(self, v_i64: int, v_i32: int) -> None:
        self.__ffi_init__(v_i64 + 1, v_i32 + 2)


@c_class("testing.TestCxxClassDerived", eq=True, order=True, unsafe_hash=True)
class _TestCxxClassDerived(_TestCxxClassBase):
    """An object with every generated method."""

    v_f64: float
    v_f32: float

    if TYPE_CHECKING:

        def __init__(self, v_i64: int, v_i32: int, v_f64: float, v_f32: float = ...) -> None: ...


@c_class("testing.TestCxxClassDerivedDerived")
class _TestCxxClassDerivedDerived(_TestCxxClassDerived):
    """An object whose class is two levels below another."""

    v_str: str
    v_bool: bool

    if TYPE_CHECKING:

        def __init__(
            self, v_i64: int, v_i32: int, v_f64: float, v_bool: bool, v_f32: float = ..., v_str: str = ...
        ) -> None: ...


class _TestCxxIntEnum(IntEnum, type_key="testing.TestCxxIntEnum"):
    """Singletons that can be passed as integers."""

    low = entry(value=10)
    high = entry(value=20)


class _TestCxxStrEnum(StrEnum, type_key="testing.TestCxxStrEnum"):
    """Singletons that can be passed as strings."""

    add = entry(value="+")
    mul = entry(value="*")


@c_class("testing.TestCxxEnumHolder")
class _TestCxxEnumHolder(Object):
    """An object with fields that are singletons: the integer or str of a singleton can be passed in its place."""

    __test__ = False
    priority: _TestCxxIntEnum
    opcode: _TestCxxStrEnum

    if TYPE_CHECKING:

        def __init__(self, priority: _TestCxxIntEnum | int, opcode: _TestCxxStrEnum | str) -> None: ...


@c_class("testing.TestCxxInitSubset")
class _TestCxxInitSubset(Object):
    """An object whose constructor takes one field of three."""

    required_field: int
    optional_field: int
    note: str

    if TYPE_CHECKING:

        def __init__(self, required_field: int) -> None: ...


@c_class("testing.TestCxxKwOnly")
class _TestCxxKwOnly(Object):
    """An object whose constructor takes all arguments by name."""

    x: int
    y: int
    z: int
    w: int

    if TYPE_CHECKING:

        def __init__(self, *, x: int, y: int, z: int, w: int = ...) -> None: ...


@c_class("testing.TestCxxAutoInit")
class _TestCxxAutoInit(Object):
    """An object whose constructor leaves `b` out and takes `c` by name."""

    __test__ = False
    a: int
    b: int
    c: int
    d: int

    if TYPE_CHECKING:

        def __init__(self, a: int, d: int = ..., *, c: int) -> None: ...


@c_class("testing.TestCxxAutoInitSimple")
class _TestCxxAutoInitSimple(Object):
    """An object with two positional fields."""

    __test__ = False
    x: int
    y: int


@c_class("testing.TestCxxAutoInitAllInitOff")
class _TestCxxAutoInitAllInitOff(Object):
    """An object whose constructor takes no arguments."""

    __test__ = False
    x: int
    y: int
    z: int

    if TYPE_CHECKING:

        def __init__(self) -> None: ...


@c_class("testing.TestCxxAutoInitKwOnlyDefaults")
class _TestCxxAutoInitKwOnlyDefaults(Object):
    """An object with fields of every kind for its constructor."""

    __test__ = False
    p_required: int
    p_default: int
    k_required: int
    k_default: int
    hidden: int

    if TYPE_CHECKING:

        def __init__(self, p_required: int, p_default: int = ..., *, k_required: int, k_default: int = ...) -> None: ...


@c_class("testing.TestCxxNoAutoInit", init=False)
class _TestCxxNoAutoInit(Object):
    """An object without a constructor."""

    __test__ = False
    x: int
    y: int


@c_class("testing.TestCxxAutoInitParent")
class _TestCxxAutoInitParent(Object):
    """An object whose class passes parameters of the constructor on to a subclass."""

    __test__ = False
    parent_required: int
    parent_default: int

    if TYPE_CHECKING:

        def __init__(self, parent_required: int, parent_default: int = ...) -> None: ...


@c_class("testing.TestCxxAutoInitChild")
class _TestCxxAutoInitChild(_TestCxxAutoInitParent):
    """An object that inherits parameters of its constructor."""

    __test__ = False
    child_required: int
    child_kw_only: int

    if TYPE_CHECKING:

        def __init__(
            self, parent_required: int, child_required: int, parent_default: int = ..., *, child_kw_only: int
        ) -> None: ...


def __getattr__(name: str) -> Any:
    """Return `requires_py310` and similar marks: a test with the mark is skipped on older versions. The marks import
    pytest."""
    prefix, version = name[: len("requires_py3")], name[len("requires_py3") :]
    if prefix != "requires_py3" or not version.isdecimal():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import sys

    import pytest

    is_older = sys.version_info < (3, int(version))
    return pytest.mark.skipif(is_older, reason=f"requires Python 3.{version}+")
