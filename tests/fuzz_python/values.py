"""Random values: anything that a program might pass."""

from __future__ import annotations

import array
import collections
import os
import pathlib
import types
from typing import Any

import typed

import ffi_hpy
from ffi_hpy import access_path, core, structural
from ffi_hpy import dataclasses as ffi_dataclasses
from ffi_hpy.testing import TestIntPair, TestObjectBase, TestObjectDerived, _TestCxxIntEnum, create_object

try:
    import numpy
except ImportError:  # PyPy 8 has none
    numpy = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from world import World

SMALL = 1 << 16
_INTS = (0, 1, 2, 3, -1, -2, 7, 8, 16, 255)
_BIG_INTS = tuple(
    sign * ((1 << bits) + delta) for bits in (7, 8, 15, 16, 31, 32, 62, 63, 64, 100, 1100) for delta in (-1, 0, 1)
    for sign in (1, -1)
)  # fmt: skip
_FLOATS = (0.0, -0.0, 1.5, -1.0, 1e308, 5e-324, float("inf"), float("-inf"), float("nan"), 2.0**63, 1e20)
_TEXTS = (
    *("", "a", "ab", "x" * 7, "x" * 8, "x" * 300, "\0", "a\0b", "é", "€uro", "😀", "\udc80", "a\udfff", "v_i64", "key"),
    *("cpu", "cuda:1", "cpu:-1", "cuda:99999999999", "float32", "int8x4", "float4_e2m1fnx2", "int99999999999", "bool"),
    *("ffi.Array", "ffi.Object", "testing.TestIntPair", "testing.echo", "ffi.List", "ffi.json.Parse", "no.such.name"),
    *("object.A", "fuzz.one", "fuzz.two", "pre", "post", "none", "tree", "init", "__init__", "_name", "release_gil"),
    *('{"a": [1, 2.5, null]}', '{"root_index":0,"nodes":[{"type":"int","data":1}]}', "[[[[]]]]", '"\\ud800"', "1e999"),
    *('{"type":"ffi.Array","args":[{"type":"int"}]}', '{"root_index":1,"nodes":[]}', "nan", "%s%n", "{}", "../x"),
)
_BYTES = (b"", b"\0", b"abc", b"\xff" * 9, b"x" * 300, b"\x80abc", b"12345678")
_CLASSES = (int, str, list, dict, object, type, float, bool, bytes, tuple, BaseException, ValueError, type(None))


@ffi_dataclasses.py_class("fuzz.Point", eq=True, order=True)
class Point(ffi_hpy.Object):
    x: int
    y: float = 0.5
    name: str = "p"
    items: ffi_hpy.List[int] = ffi_dataclasses.field(default_factory=list)


@ffi_dataclasses.py_class("fuzz.Node", structural_eq="tree")
class Node(ffi_hpy.Object):
    value: Any
    next: Any = None


class Values:
    """Makes values with a world's random numbers."""

    hostile: Callable[[World], Any]
    bound: Callable[[Values, int], Any]
    callbacks: tuple[Callable[..., Any], ...]

    def __init__(self, world: World) -> None:
        self.world = world

    # --- by kind ------------------------------------------------------------------------------------------------------

    def any(self, depth: int = 0) -> Any:
        """Return a value of any kind. `depth` is its depth inside other values."""
        world = self.world
        roll = world.below_one()
        if roll < 0.2:
            return self.pooled()
        if roll < 0.3:
            return self.hostile(world)
        return getattr(self, world.pick(_SHALLOW if depth >= 2 else _KINDS))(depth + 1)

    def native(self) -> Any:
        """Return a value, mostly of one of the package's classes."""
        world = self.world
        return getattr(self, world.pick(_NATIVE))(1) if world.below_one() < 0.6 else self.any()

    def of_kind(self, kind: str) -> Any:
        """Return a value of the kind that the name of a type means, or that fits an annotation; of any kind for unknown
        names."""
        method = _BY_NAME.get(kind)
        return typed.value_of(self, kind) if method is None else getattr(self, method)(1)

    def simple(self, depth: int = 0) -> Any:
        return getattr(self, self.world.pick(("int", "float", "text", "nothing", "bytes")))(2)

    def key(self) -> Any:
        return self.text() if self.world.one_in(2) else self.int()

    def pooled(self, depth: int = 0) -> Any:
        made = self.world.pool[self.world.below(len(self.world.pool))]
        is_text = type(made) in (str, bytes, bytearray)
        self.world.is_big |= (is_text and len(made) > SMALL) or (type(made) is int and not -SMALL <= made <= SMALL)
        return made

    # --- Python's -----------------------------------------------------------------------------------------------------

    def nothing(self, depth: int = 0) -> Any:
        return None

    def other(self, depth: int = 0) -> Any:
        return self.world.pick((..., NotImplemented, 1j, complex("nan"), object(), core.MISSING, core.KWARGS))

    def bool(self, depth: int = 0) -> bool:
        return self.world.one_in(2)

    def int(self, depth: int = 0) -> int:
        if self.world.below_one() < 0.75:
            return self.world.pick(_INTS)  # type: ignore[no-any-return]
        value: int = self.world.pick(_BIG_INTS)
        self.world.is_big |= not -SMALL <= value <= SMALL
        return value

    def float(self, depth: int = 0) -> float:
        return self.world.pick(_FLOATS)  # type: ignore[no-any-return]

    def text(self, depth: int = 0) -> str:
        return self.world.pick(_TEXTS)  # type: ignore[no-any-return]

    def bytes(self, depth: int = 0) -> Any:
        made = self.world.pick(_BYTES)
        how = self.world.below(8)
        return (bytearray(made), memoryview(made), memoryview(bytearray(made)))[how] if how < 3 else made

    def list(self, depth: int = 0) -> Any:
        made = [self.any(depth) for _ in range(self._length())]
        if self.world.one_in(30):
            made.append(made)
        return made

    def tuple(self, depth: int = 0) -> Any:
        return tuple([self.any(depth) for _ in range(self._length())])

    def ints(self, depth: int = 0) -> Any:
        made = [self.int() for _ in range(self._length())]
        return made if self.world.one_in(2) else tuple(made)

    def dict(self, depth: int = 0) -> Any:
        made = {self.key(): self.any(depth) for _ in range(self._length())}
        if self.world.one_in(30):
            made["self"] = made
        return made

    def pairs(self, depth: int = 0) -> Any:
        return [(self.key(), self.any(depth)) for _ in range(self._length())]

    def group(self, depth: int = 0) -> Any:
        made = [self.simple() for _ in range(self._length())]
        return self.world.pick((set, frozenset, collections.deque, iter, tuple))(made)

    def iterator(self, depth: int = 0) -> Any:
        source = self.any(depth + 1)
        try:
            return iter(source)
        except Exception:
            return (x for x in (source, source))

    def range(self, depth: int = 0) -> Any:
        return range(self.world.below(5), self.world.below(60), 1 + self.world.below(3))

    def slice(self, depth: int = 0) -> Any:
        return slice(*[None if self.world.one_in(3) else self.int() for _ in range(3)])

    def error(self, depth: int = 0) -> Any:
        return self.world.pick((ValueError, KeyError, RuntimeError, TypeError, OSError))(self.simple())

    def cls(self, depth: int = 0) -> Any:
        return self.world.pick(_CLASSES if self.world.one_in(3) else FFI_CLASSES)

    def callback(self, depth: int = 0) -> Any:
        return self.world.pick(self.callbacks)

    def path(self, depth: int = 0) -> Any:
        text = self.text().replace("..", "up")
        return text if self.world.one_in(2) else pathlib.PurePath(text) if "\0" not in text else os.fsencode("x\0")

    def namespace(self, depth: int = 0) -> Any:
        return types.SimpleNamespace(a=self.any(depth), __name__="x")

    # --- arrays -------------------------------------------------------------------------------------------------------

    def foreign_array(self, depth: int = 0) -> Any:
        world = self.world
        if numpy is None or world.one_in(4):
            return array.array(world.pick("bBhHiIlLqQfd"), [1] * world.below(5))
        code = world.pick(("f4", "f8", "i1", "u8", "?", "c8", "f2", ">i4", "S3", "M8[s]", "O", "i4"))
        made = numpy.zeros([world.below(4) for _ in range(world.below(4))], dtype=code)
        how = world.below(5)
        return made.T if how == 0 else made[..., ::-1] if how == 1 and made.ndim else made

    def tensor(self, depth: int = 0) -> Any:
        if numpy is None:
            return self._found(ffi_hpy.Tensor)
        return ffi_hpy.from_dlpack(numpy.zeros([self.world.below(4) for _ in range(self.world.below(4))], "f4"))

    def capsule(self, depth: int = 0) -> Any:
        tensor = self.tensor()
        return tensor.__dlpack__() if isinstance(tensor, ffi_hpy.Tensor) else tensor

    # --- the package's ------------------------------------------------------------------------------------------------

    def ffi_array(self, depth: int = 0) -> Any:
        return ffi_hpy.Array(self._items(depth))

    def ffi_list(self, depth: int = 0) -> Any:
        made = ffi_hpy.List(self._items(depth))
        if self.world.one_in(30):
            made.append(made)
        return made

    def ffi_map(self, depth: int = 0) -> Any:
        return ffi_hpy.Map({self.key(): self._item(depth) for _ in range(self._length())})

    def ffi_dict(self, depth: int = 0) -> Any:
        made = ffi_hpy.Dict({self.key(): self._item(depth) for _ in range(self._length())})
        if self.world.one_in(30):
            made["self"] = made
        return made

    def ffi_string(self, depth: int = 0) -> Any:
        return ffi_hpy.convert(self.text().encode("ascii", "replace").decode())

    def ffi_bytes(self, depth: int = 0) -> Any:
        return ffi_hpy.convert(self.world.pick(_BYTES))

    def shape(self, depth: int = 0) -> Any:
        return ffi_hpy.Shape([self.world.below(5) for _ in range(self._length())])

    def dtype(self, depth: int = 0) -> Any:
        return ffi_hpy.dtype(self.world.pick(("float32", "int8x4", "bool", "float4_e2m1fnx2", "handle", "bfloat16")))

    def device(self, depth: int = 0) -> Any:
        return ffi_hpy.Device(self.world.pick(("cpu", "cuda", "rocm", 1, 2)), self.world.pick((0, 1, -1, 99)))

    def function(self, depth: int = 0) -> Any:
        if self.world.one_in(2):
            return ffi_hpy.convert(self.world.pick(self.callbacks))
        return ffi_hpy.get_global_func(self.world.pick(_FUNCTIONS))

    def object(self, depth: int = 0) -> Any:
        how = self.world.below(9)
        if how == 0:
            return TestIntPair(self.world.below(9), 2)
        if how == 1:
            return create_object("testing.TestObjectDerived", v_i64=1, v_map=ffi_hpy.Map({}), v_array=ffi_hpy.Array([]))
        if how == 2:
            return create_object("testing.TestObjectBase")
        if how == 3:
            return Point(self.world.below(5))
        if how == 4:
            return Node(self._item(depth), self._item(depth))
        if how == 5:
            return structural.StructuralKey(self._item(depth))
        if how == 6:
            return self.world.pick(list(_TestCxxIntEnum))
        if how == 7:
            return structural.VisitInterrupt(self._item(depth))
        return core.OpaquePyObject(self.simple())

    def access(self, depth: int = 0) -> Any:
        made = access_path.AccessPath.root()
        for _ in range(self._length()):
            made = made.attr("a") if self.world.one_in(2) else made.array_item(self.world.below(4))
        return made

    def ffi_error(self, depth: int = 0) -> Any:
        return core.Error("ValueError", "m", '  File "f", line 1, in g\n')

    def schema(self, depth: int = 0) -> Any:
        return core.TypeSchema(
            self.world.pick(("int", "ffi.String", "Any", "ffi.Array", "Optional", "ffi.Map", "float", "Callable"))
        )

    def info(self, depth: int = 0) -> Any:
        return self.world.pick(FFI_CLASSES).__dict__.get("__tvm_ffi_type_info__")

    def opaque(self, depth: int = 0) -> Any:
        return core.CAny(self.simple()) if self.world.one_in(2) else ffi_hpy.List([])._move()

    def module(self, depth: int = 0) -> Any:
        return ffi_hpy.system_lib()

    # --- inside -------------------------------------------------------------------------------------------------------

    def _length(self) -> int:
        roll = self.world.below_one()
        return int(roll * 5) if roll < 0.97 else int(roll * 40)

    def _item(self, depth: int) -> Any:
        """Return a value that fits into a native container, mostly."""
        return self.any(depth) if self.world.one_in(4) else self.simple()

    def _items(self, depth: int) -> list[Any]:
        return [self._item(depth) for _ in range(self._length())]

    def _found(self, cls: type) -> Any:
        return next((value for value in self.world.pool if cls in type(value).__mro__), None)


_SHALLOW = ("nothing", "bool", "int", "int", "float", "text", "text", "bytes", "cls", "callback", "other", "pooled")
_KINDS = (
    *_SHALLOW,
    *("list", "tuple", "ints", "dict", "pairs", "group", "iterator", "range", "slice", "error", "path", "namespace"),
    *("foreign_array", "tensor", "capsule", "ffi_array", "ffi_list", "ffi_map", "ffi_dict", "ffi_string", "ffi_bytes"),
    *("shape", "dtype", "device", "function", "object", "access", "ffi_error", "schema", "info", "opaque", "module"),
    *("ffi_array", "ffi_list", "ffi_list", "ffi_map", "ffi_dict", "ffi_dict", "function", "object"),
    *("bound",) * 12,
)

_NATIVE = _KINDS[_KINDS.index("tensor") :]

# Names in annotations and in metadata, with their kinds.
_BY_NAME = {
    **dict.fromkeys(("int", "SupportsIndex", "idx", "index", "device_id", "start", "stop"), "int"),
    **dict.fromkeys(("str", "name", "key", "String", "type_key", "func_name"), "text"),
    **dict.fromkeys(("list", "Sequence", "Iterable", "Collection", "MutableSequence"), "list"),
    **dict.fromkeys(("dict", "Mapping", "MutableMapping"), "dict"),
    **dict.fromkeys(("Callable", "callback", "callbacks", "fn", "func", "f"), "callback"),
    **dict.fromkeys(("type", "cls"), "cls"),
    **dict.fromkeys(("Exception", "BaseException"), "error"),
    **dict.fromkeys(("PathLike", "Path", "path"), "path"),
    **dict.fromkeys(("ndarray", "ext_tensor", "SupportsDLPack"), "foreign_array"),
    **dict.fromkeys(("Object", "CObject", "ObjectBase"), "object"),
    **dict.fromkeys(("DataType", "dtype"), "dtype"),
    **dict.fromkeys(("StructuralKey", "VisitInterrupt", "Enum"), "object"),
    "float": "float", "bool": "bool", "bytes": "bytes", "tuple": "tuple", "pairs": "pairs", "capsule": "capsule",
    "slice": "slice", "Array": "ffi_array", "List": "ffi_list", "Map": "ffi_map", "Dict": "ffi_dict",
    "Tensor": "tensor", "Shape": "shape", "Device": "device", "Function": "function", "Error": "ffi_error",
    "AccessPath": "access", "TypeSchema": "schema", "TypeInfo": "info", "Module": "module", "Bytes": "ffi_bytes",
    "object": "object", "CSequence": "ffi_array", "CList": "ffi_list", "CMapping": "ffi_map", "CDict": "ffi_dict",
    "CAny": "opaque", "None": "nothing",
}  # fmt: skip

KNOWN_NAMES = frozenset(_BY_NAME)

FFI_CLASSES = (
    *(ffi_hpy.Array, ffi_hpy.List, ffi_hpy.Map, ffi_hpy.Dict, ffi_hpy.Object, ffi_hpy.Function, ffi_hpy.Tensor),
    *(ffi_hpy.Device, ffi_hpy.dtype, ffi_hpy.Shape, ffi_hpy.String, ffi_hpy.Bytes, ffi_hpy.Module, core.Error),
    *(core.CAny, core.OpaquePyObject, core.ObjectRValueRef, core.DataType, core.TypeSchema, core.CObject),
    *(access_path.AccessPath, access_path.AccessStep, structural.StructuralKey, structural.VisitInterrupt),
    *(TestIntPair, TestObjectBase, TestObjectDerived, _TestCxxIntEnum, Point, Node, core.TypeInfo, core.FFIProperty),
    *(core.PyNativeObject, ffi_hpy.ObjectConvertible, ffi_dataclasses.Enum, ffi_dataclasses.IntEnum),
)

_FUNCTIONS = ("testing.echo", "testing.apply", "testing.nop", "testing.add_one", "ffi.ReprPrint", "ffi.Array")
