"""Annotations that users write for the fields of a py_class, and the standard library's functions for dataclasses."""

import array
import collections
import copy
import dataclasses
import decimal
import enum
import functools
import gc
import inspect
import json
import math
import numbers
import pathlib
import sys
import typing
import weakref
from collections import abc
from dataclasses import InitVar
from typing import Annotated, Any, Literal, NewType, Optional

import pytest
from support import IS_DEBUG, unique_name

import ffi_hpy
from ffi_hpy.core import TypeSchema
from ffi_hpy.dataclasses import Field, field, py_class

UserId = NewType("UserId", int)


class Color(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


class Word(str, enum.Enum):
    YES = "yes"


class Half(float, enum.Enum):
    ONE = 0.5


class Many(enum.IntFlag):
    ONE = 1
    TWO = 2
    THREE = 3


ANNOTATIONS = {
    "object": (object, [1, "a", None, Color.RED]),
    "Literal": (Literal["a", "b"], ["a"]),
    "mixed Literal": (Literal[1, "a", None], [1, "a", None]),
    "Enum": (Color, [Color.RED]),
    "optional Enum": (Optional[Color], [Color.RED, None]),
    "IntEnum": (Size, [Size.SMALL]),
    "str Enum": (Word, [Word.YES]),
    "Sequence": (abc.Sequence[int], [[1, 2], (3,)]),
    "typing.Sequence": (typing.Sequence[str], [["a"]]),
    "bare Sequence": (abc.Sequence, [[1, "a"]]),
    "Iterable": (abc.Iterable[float], [[1.5]]),
    "Collection": (abc.Collection[int], [[1]]),
    "MutableSequence": (abc.MutableSequence[int], [[1]]),
    "Mapping": (abc.Mapping[str, int], [{"a": 1}]),
    "typing.Mapping": (typing.Mapping[str, Any], [{"a": None}]),
    "MutableMapping": (abc.MutableMapping[str, int], [{"a": 1}]),
    "NewType": (UserId, [UserId(3)]),
    "Annotated": (Annotated[abc.Sequence[UserId], "sorted"], [[1]]),
    "optional": ("float | None", [1.5, None]),
    "text": ("abc.Sequence[int | str] | None", [[1, "a"], None]),
    "inner text": (Optional["int | str"], [1, "a", None]),
    "Final": (typing.Final[int], [1]),
    "Shape": (ffi_hpy.Shape, [(1, 2), ffi_hpy.Shape([4, 5])]),
    "optional Shape": (Optional[ffi_hpy.Shape], [(), None]),
}


@pytest.mark.parametrize("name", ANNOTATIONS)
def test_an_annotation_accepts_its_values(name):
    annotation, values = ANNOTATIONS[name]
    body = {"__annotations__": {"x": annotation}, "__module__": __name__}
    cls = py_class(unique_name(f"annotations.{name}"))(type(ffi_hpy.Object)("Sample", (ffi_hpy.Object,), body))
    for value in values:
        assert cls(value).x == value
        made = cls(values[0])
        made.x = value
        assert made.x == value


def test_a_field_is_a_native_shape():
    @py_class(unique_name("annotations.Extents"))
    class Extents(ffi_hpy.Object):
        extents: ffi_hpy.Shape

    assert type(Extents([1, 2]).extents) is ffi_hpy.Shape
    with pytest.raises(OverflowError, match=r"9223372036854775808, which is outside the range"):
        Extents([2**63])
    for value in ([1.5], ["a"], 3, "a", None):
        with pytest.raises(TypeError, match=r"expected ffi\.Shape, got"):
            Extents(value)


def test_an_annotation_refuses_other_values():
    for number, (annotation, value) in enumerate(
        [
            (Literal["a"], 1),
            (abc.Sequence[int], ["a"]),
            (abc.Sequence[str], "text"),
            (abc.Mapping[str, int], {"a": "b"}),
            (UserId, "a"),
            ("float | None", "a"),
            (Size, "a"),
        ]
    ):
        body = {"__annotations__": {"x": annotation}, "__module__": __name__}
        cls = py_class(unique_name(f"annotations.Refused{number}"))(
            type(ffi_hpy.Object)("Refused", (ffi_hpy.Object,), body)
        )
        with pytest.raises(TypeError):
            cls(value)


def test_a_member_of_an_enum_has_no_items():
    for annotation in (abc.Sequence[int], typing.Iterable[int]):
        with pytest.raises(TypeError, match=rf"expected Array, got {__name__}\.Color$"):
            sample(annotation)(Color.RED)


def sample(annotation, **body):
    body = {"__annotations__": {"x": annotation}, "__module__": __name__, **body}
    return py_class(unique_name("annotations.Sample"))(type(ffi_hpy.Object)("Sample", (ffi_hpy.Object,), body))


MEMBERS = [
    (Literal["a", 1], ["a", 1], ["b", 2, True, None, 1.0, b"a"]),
    (Literal[True], [True], [1, False, "True"]),
    (Literal[b"x", None], [b"x", None], ["x", b""]),
    (Literal[Color.RED], [Color.RED], ["red", Color, None]),
    (Optional[Literal["a"]], ["a", None], ["b", 1]),
    (Literal["a"] | int if sys.version_info >= (3, 10) else typing.Union[Literal["a"], int], ["a", 5], ["b", None]),
    (Color, [Color.RED], ["red", 1, None, Size.SMALL]),
    (Size, [Size.SMALL, 1], [2, True, "SMALL", 1.0]),
    (Word, [Word.YES, "yes"], ["no", 1]),
    (typing.List[Literal["a", "b"]], [["a", "b"], ["a"]], [["a", "c"], [1]]),  # noqa: UP006
    (typing.Dict[str, Size], [{"x": 1}], [{"x": 2}]),  # noqa: UP006
]


@pytest.mark.parametrize(("annotation", "good", "bad"), MEMBERS, ids=[str(each[0]) for each in MEMBERS])
def test_members_of_a_literal_and_an_enum_are_checked(annotation, good, bad):
    cls = sample(annotation)
    one = cls(good[0])
    for value in good:
        assert cls(value).x == value
        one.x = value
        assert one.x == value
    for value in bad:
        with pytest.raises(TypeError, match=r"field 'x'"):
            cls(value)
        with pytest.raises(TypeError, match=r"Sample.*\.x: "):
            one.x = value
        assert one.x == good[-1]


def test_a_bool_accepts_no_other_number_than_0_and_1():
    cls = sample(bool)
    one = cls(1)
    assert one.x is True
    one.x = 0
    assert one.x is False
    for value in (2, -1, 2**63, 2**64, -(2**70), Many.THREE):
        message = rf"integer {int(value)} out of bool range \[0, 1\]"
        with pytest.raises(TypeError, match=message):
            cls(value)
        with pytest.raises(TypeError, match=message):
            one.x = value
        with pytest.raises(TypeError, match=rf"element \[1\]: {message}"):
            sample(abc.Sequence[bool])([True, value])
    for value in (1.0, "True", None):
        with pytest.raises(TypeError, match="expected bool"):
            one.x = value
    assert one.x is False
    assert sample(bool)(Size.SMALL).x is True


def test_a_member_is_read_as_it_was_set():
    for annotation, value, native in (
        (Size, Size.SMALL, 1),
        (Word, Word.YES, "yes"),
        (Optional[Size], Size.SMALL, 1),
        (Optional[typing.Union[Word, Size]], Word.YES, "yes"),
        (typing.Union[Size, str], Size.SMALL, 1),
        (Literal[Size.SMALL, Word.YES], Word.YES, "yes"),
        (Annotated[Size, "width"], Size.SMALL, 1),
        (Half, Half.ONE, 0.5),
        (Many, Many.ONE | Many.TWO, 3),
    ):
        cls = sample(annotation)
        one = cls(value)
        assert one.x is value if annotation is not Many else type(one.x) is Many
        assert one.x == value
        assert copy.copy(one).x == value
        assert type(copy.deepcopy(one).x) is type(value)
        assert dataclasses.asdict(one) == {"x": value}
        assert type(cls.__tvm_ffi_type_info__.fields[0].getter(one)) is type(native)
        one.x = value
        assert type(one.x) is type(value)
    assert sample(Optional[Size])(None).x is None
    assert sample(typing.Union[Size, int])(7).x == 7
    assert type(sample(typing.Union[Literal["a"], Size])("a").x) is str
    frozen = py_class(unique_name("annotations.Frozen"), frozen=True)(
        type(ffi_hpy.Object)("Frozen", (ffi_hpy.Object,), {"__annotations__": {"x": Size}, "__module__": __name__})
    )
    one = frozen(1)
    assert one.x is Size.SMALL
    with pytest.raises(AttributeError):
        one.x = 1


def test_a_refused_member_is_named():
    with pytest.raises(TypeError, match=r"expected Literal\['a', 1\], got str: 'b' is not one of 'a', 1"):
        sample(Literal["a", 1])("b")
    with pytest.raises(TypeError, match=r"expected Size, got int: 2 is not a valid Size"):
        sample(Size)(2)
    with pytest.raises(TypeError, match=r"expected Color, got str: 'red' is not a member"):
        sample(Color)("red")
    with pytest.raises(TypeError, match=r"expected Literal\['a', 1\], got ffi.Array: \(1,\) is not one of 'a', 1"):
        sample(Literal["a", 1])(ffi_hpy.Array([1]))
    with pytest.raises(TypeError, match=r"expected Color, got ffi.Dict: \{1: 2\} is not a member"):
        sample(Color)(ffi_hpy.Dict({1: 2}))


def test_members_are_checked_on_the_way_from_native_code():
    field = sample(Literal["a", 1])("a")
    assert ffi_hpy.structural.structural_equal(field, copy.copy(field))
    setter = ffi_hpy._core.schema_setter(TypeSchema.from_annotation(Literal["a", 1]), ffi_hpy._core.TYPE_INDEX_ANY)
    assert setter is not None
    schema = TypeSchema.from_annotation(typing.List[Literal["a"]])  # noqa: UP006
    schema.check_value(ffi_hpy.List(["a", "a"]))
    with pytest.raises(TypeError, match=r"element \[1\]: expected Literal\['a'\]"):
        schema.check_value(ffi_hpy.List(["a", "b"]))
    assert TypeSchema.from_annotation(Literal["a"]) != TypeSchema("str")
    assert TypeSchema.from_annotation(Literal["a"]) == TypeSchema.from_annotation(Literal["a"])
    assert hash(TypeSchema.from_annotation(Literal["a"])) == hash(TypeSchema.from_annotation(Literal["a"]))


ITEMS = [
    range(1, 3),
    collections.deque([1, 2]),
    array.array("h", [1, 2]),
    memoryview(b"\x01\x02"),
    ffi_hpy.List([1, 2]),
]


def test_a_sequence_or_iterable_of_any_class_is_accepted():
    sequence, iterable, bare = sample(abc.Sequence[int]), sample(typing.Iterable[int]), sample(abc.Collection)
    for items in ITEMS:
        for cls in (sequence, iterable, bare):
            assert list(cls(items).x) == [1, 2]
            one = cls([])
            one.x = items
            assert list(one.x) == [1, 2]
    for items in ({1, 2}, {1: 0, 2: 0}.keys(), frozenset([1, 2])):
        assert sorted(iterable(items).x) == sorted(bare(items).x) == [1, 2]
        with pytest.raises(TypeError, match="expected"):
            sequence(items)
    assert list(iterable(i for i in (1, 2)).x) == [1, 2]
    assert list(sample(Optional[abc.Sequence[int]])(range(2)).x) == [0, 1]
    assert [list(row) for row in sample(abc.Sequence[abc.Sequence[int]])([range(2), (5,)]).x] == [[0, 1], [5]]
    for wrong in ("ab", b"ab", 1, {1: 2}, ["a"], None):
        with pytest.raises(TypeError, match="expected"):
            sequence(wrong)


def test_a_default_outside_its_type_is_refused_by_the_class():
    for annotation, default, error in (
        (int, 2**63, OverflowError),
        (Optional[int], -(2**70), OverflowError),
        (Literal["a"], "b", TypeError),
        (Size, 7, TypeError),
    ):
        with pytest.raises(error, match=r"^Sample\.x: the default: "):
            sample(annotation, x=default)
        with pytest.raises(error, match=r"^Sample\.x: the default: "):
            sample(annotation, x=field(default=default))
    assert sample(int, x=2**63 - 1)().x == 2**63 - 1
    assert sample(float, x=2**70)().x == 2.0**70


class Index:
    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


class Real(Index):
    def __float__(self):
        return self.number + 0.5


@numbers.Real.register
class Beyond:
    """A finite number whose float is infinite."""

    def __float__(self):
        return math.inf

    def __str__(self):
        return "1e999"


class Large:
    """An object whose float is in the range, unlike its int."""

    def __index__(self):
        return 2**70

    def __float__(self):
        return 0.5


class Unlike:
    """An object without methods of numbers."""


@pytest.mark.parametrize(
    ("annotation", "value", "said"),
    [
        (float, 2**2000, r"integer \d+\.\.\. out of float range \[-1\.797"),
        (float, -(2**1024), r"integer -\d+\.\.\. out of float range \[-1\.797"),
        (int, 2**63, f"integer {2**63} out of int64 range"),
        (Optional[float], 2**2000, "integer .* out of float range"),
        (typing.Union[str, float], 2**2000, "integer .* out of float range"),
        (typing.Union[str, int], -(2**70), f"integer {-(2**70)} out of int64 range"),
        (abc.Sequence[float], [1, 2**2000], r"element \[1\]: integer .* out of float range"),
        (abc.Sequence[float], ffi_hpy.Array([1, 2**2000]), r"element \[1\]: integer .* out of float range"),
        (abc.Sequence[typing.Union[int, str]], ffi_hpy.List(["a", 2**70]), r"element \[1\]: integer .* out of int64"),
        (dict[str, float], {"a": 2**2000}, "value for key 'a': integer .* out of float range"),
        (dict[int, str], {2**63: "a"}, f"key {2**63}: integer {2**63} out of int64 range"),
        (int, Index(2**63), f"integer {2**63} out of int64 range"),
        (float, Index(-(2**1024)), r"integer -\d+\.\.\. out of float range"),
        (typing.Union[str, int], Index(2**70), f"integer {2**70} out of int64 range"),
        (typing.Union[int, float], Index(2**2000), r"integer \d+\.\.\. out of int64 range"),
        (abc.Sequence[int], [Index(1), Index(2**70)], rf"element \[1\]: integer {2**70} out of int64 range"),
        (float, decimal.Decimal("1e400"), r"number 1E\+400 out of float range"),
        (float, decimal.Decimal("-1e400"), r"number -1E\+400 out of float range"),
        (float, Beyond(), "number 1e999 out of float range"),
        (typing.Union[str, float], decimal.Decimal("1e400"), r"number 1E\+400 out of float range"),
        (typing.Union[str, float], Beyond(), "number 1e999 out of float range"),
        (abc.Sequence[float], [1, decimal.Decimal("1e400")], r"element \[1\]: number 1E\+400 out of float range"),
    ],
)
def test_a_number_outside_the_range_of_a_field_is_an_overflow_error(annotation, value, said):
    cls = sample(annotation)
    with pytest.raises(OverflowError, match=rf"__ffi_init__\(\) field 'x':\n  {said}"):
        cls(value)
    with pytest.raises(OverflowError, match=rf"__ffi_init__\(\) field 'x':\n  {said}"):
        cls(x=value)
    one = sample(Optional[annotation])(None)
    with pytest.raises(OverflowError, match=rf"\.x: {said}"):
        one.x = value
    if annotation in (int, float) and type(value) is int:
        with pytest.raises(OverflowError, match=rf"^Sample\.x: the default: {said}"):
            sample(annotation, x=field(default=value))


def test_a_field_takes_the_number_that_an_object_gives():
    for annotation, value, expected in (
        (int, Index(-(2**63)), -(2**63)),
        (int, Real(3), 3),
        (float, Index(2**70), 2.0**70),
        (float, Real(3), 3.5),
        (float, decimal.Decimal("1.5"), 1.5),
        (float, decimal.Decimal("-Infinity"), -math.inf),
        (float, type("Unordered", (), {"__float__": lambda self: math.inf})(), math.inf),
        (typing.Union[str, float], decimal.Decimal("Infinity"), math.inf),
        (Optional[int], Index(7), 7),
        (typing.Union[str, float], Real(1), 1.5),
        (typing.Union[int, float], Real(1), 1),
        (typing.Union[int, float], Large(), 0.5),
    ):
        one = sample(annotation)(value)
        assert (one.x, type(one.x)) == (expected, type(expected))
        one = sample(Optional[annotation])(x=None)
        one.x = value
        assert (one.x, type(one.x)) == (expected, type(expected))
    assert list(sample(abc.Sequence[float])([1, Index(2), Real(3)]).x) == [1, 2, 3.5]
    assert dict(sample(dict[str, int])({"a": Index(2)}).x) == {"a": 2}
    number = Index(1)
    for annotation in (object, Any, typing.Union[int, Any]):  # a type that takes the object as it is comes first
        assert sample(annotation)(number).x is number


def test_a_field_takes_no_number_of_other_objects():
    made = [
        (int, Unlike()),
        (float, Unlike()),
        (bool, Index(1)),
        (int, decimal.Decimal(1)),
        (int, 1.0),
        (str, Index(1)),
    ]
    for methods in (
        {"__index__": lambda self: 1, "__float__": lambda self: 1.0, "__len__": lambda self: 1},
        {"__index__": None, "__float__": None},
        {"__index__": lambda self: "1", "__float__": lambda self: "1"},
        {"__index__": lambda self: {}[1], "__float__": lambda self: {}[1]},
    ):
        value = type("Made", (), methods)()
        made += [(int, value), (float, value), (Optional[int], value), (typing.Union[float, str], value)]
    for annotation, value in made:
        with pytest.raises(TypeError, match=rf"field 'x':\n  expected .*, got .*{type(value).__name__}"):
            sample(annotation)(value)


def test_a_large_number_of_another_type_stays_a_type_error():
    for annotation in (str, Optional[bytes], abc.Sequence[int], typing.Union[str, bytes], Size):
        with pytest.raises(TypeError, match="int"):
            sample(annotation)(2**2000)


def test_the_message_about_a_field_has_the_qualified_name_of_the_class():
    for value, name in ((Unlike(), f"{__name__}.Unlike"), (sys, "module"), (array.array("b"), "array.array")):
        with pytest.raises(TypeError, match=rf"expected float, got {name}$"):
            sample(float)(value)
        with pytest.raises(TypeError, match=rf"element \[1\]: expected float, got {name}$"):
            sample(abc.Sequence[float])([1, value])


def test_the_value_of_an_init_var_is_checked_and_arrives_unchanged():
    @py_class(unique_name("annotations.Checked"))
    class Checked(ffi_hpy.Object):
        x: int = 0
        n: InitVar[int] = 1
        word: InitVar[Literal["a"]] = "a"
        items: InitVar[Optional[abc.Sequence[int]]] = None
        where: InitVar[Optional[pathlib.PurePath]] = None

        def __post_init__(self, n, word, items, where):
            self.x = n
            given.append((n, word, items, where))

    given = []
    items = range(2)
    where = pathlib.PurePath("a")
    assert Checked(n=5, items=items, where=where).x == 5
    assert given[-1] == (5, "a", items, where)
    assert given[-1][2] is items
    assert given[-1][3] is where
    wrong = (("n", "a"), ("n", 2**63), ("n", 1.5), ("word", "b"), ("items", ["a"]), ("items", 1), ("where", "a"))
    for name, value in wrong:
        with pytest.raises(TypeError, match=rf"^Checked\.__init__\(\) argument '{name}': "):
            Checked(**{name: value})
    assert len(given) == 1


def test_methods_have_such_annotations_too():
    @py_class(unique_name("annotations.Methods"))
    class Methods(ffi_hpy.Object):
        @ffi_hpy.method
        def count(self, words: abc.Sequence[str], kind: "Literal['a'] | None" = None) -> "int | None":
            return len(words)

    assert Methods().count(["a"]) == 1
    (method,) = (each for each in Methods.__tvm_ffi_type_info__.methods if each.name == "count")
    assert str(method.ty).endswith("Array[str], str | None], int | None]")


@pytest.mark.parametrize("name", ANNOTATIONS)
def test_a_parameter_and_a_result_of_a_method_have_an_annotation(name):
    annotation, values = ANNOTATIONS[name]

    def echo(self, x):
        return x

    echo.__annotations__ = {"x": annotation, "return": annotation}
    body = {"echo": ffi_hpy.method(echo), "__module__": __name__}
    cls = py_class(unique_name("annotations.Echo"))(type(ffi_hpy.Object)("Echo", (ffi_hpy.Object,), body))
    (native,) = (each for each in cls.__tvm_ffi_type_info__.methods if each.name == "echo")
    shown = str(sample(annotation).__tvm_ffi_type_info__.fields[0].ty)
    assert str(native.ty).endswith(f", {shown}], {shown}]")
    for value in values:
        assert cls().echo(value) == native.func(cls(), value) == value


def test_an_init_var_is_a_parameter_but_not_a_field():
    @py_class(unique_name("annotations.Scaled"))
    class Scaled(ffi_hpy.Object):
        x: int
        factor: InitVar[int]
        y: int = 0
        offset: InitVar[int] = 10
        names: "InitVar[list]" = field(default_factory=list)

        def __post_init__(self, factor, offset, names):
            self.x = self.x * factor + offset
            self.y = len(names)

    @py_class(unique_name("annotations.MoreScaled"))
    class MoreScaled(Scaled):
        z: InitVar[str] = "z"

        def __post_init__(self, factor, offset, names, z):
            super().__post_init__(factor, offset, names)
            self.y += len(z)

    assert list(inspect.signature(Scaled).parameters) == ["x", "factor", "y", "offset", "names"]
    assert [(made.x, made.y) for made in (Scaled(2, 3), Scaled(2, 3, 5, 1, ["a"]), Scaled(factor=1, x=4))] == [
        (16, 0),
        (7, 1),
        (14, 0),
    ]
    assert (MoreScaled(1, 1).x, MoreScaled(1, 1, z="abc").y) == (11, 3)
    assert [each.name for each in ffi_hpy.dataclasses.fields(Scaled)] == ["x", "y"]
    assert [each.name for each in dataclasses.fields(Scaled)] == ["x", "y"]
    assert Scaled.offset == 10
    assert not hasattr(Scaled, "factor")
    for call in (lambda: Scaled(1), lambda: Scaled(1, 2, 3, 4, [], 6), lambda: Scaled(1, 2, factor=3)):
        with pytest.raises(TypeError, match=r"Scaled.__init__\(\)"):
            call()
    with pytest.raises(TypeError):
        Scaled(1, 2, unknown=3)


# --- generic classes and aliases --------------------------------------------------------------------------------------

Item = typing.TypeVar("Item")
Width = typing.TypeVar("Width", bound=int)
Name = typing.TypeVar("Name", str, bytes)


def test_a_generic_class_has_fields_of_its_type_variables():
    @py_class(unique_name("annotations.Box"))
    class Box(ffi_hpy.Object, typing.Generic[Item]):
        item: Item
        items: "list[Item]" = field(default_factory=list)
        function: Optional[abc.Callable[[Item], Item]] = None
        by_name: typing.Dict[str, Item] = field(default_factory=dict)  # noqa: UP006
        width: Width = 1
        name: Name = "a"
        all: typing.Tuple[Item, ...] = ()  # noqa: UP006

        @ffi_hpy.method
        def same(self, item: Item) -> Item:
            return item

    for cls in (Box, Box[int]):
        made = cls("a", [1, "b"], by_name={"x": None}, all=(1, "a"))
        assert (made.item, made.items, made.by_name["x"], made.all) == ("a", [1, "b"], None, (1, "a"))
        assert made.same(2) == 2
        assert cls(1, width=2, name=b"x").width == 2
        for wrong in ({"width": "x"}, {"name": 1}, {"items": 1}, {"function": 1}):
            with pytest.raises(TypeError, match=rf"field '{next(iter(wrong))}'"):
                cls(1, **wrong)
    assert dataclasses.fields(Box)[0].type is Item


def test_a_type_variable_whose_bound_or_constraint_has_no_native_type_means_any_value():
    for bound in (abc.Hashable, Unlike, "Node", Optional[typing.List["Node"]], typing.List[Item]):  # noqa: F821, UP006
        cls = sample(typing.TypeVar("Bounded", bound=bound))
        assert (cls("a").x, cls(None).x) == ("a", None)
    for others in (["Node"], [Unlike], [typing.List[Item]]):  # noqa: UP006
        cls = sample(typing.List[typing.TypeVar("Constrained", int, *others)])  # noqa: UP006
        assert cls(["a", 1]).x == ["a", 1]
        with pytest.raises(TypeError, match="field 'x'"):
            cls(1)


class ListedVariable(list):
    """A variable for parameters, as typing_extensions has it for Python 3.9: a list of itself that passes for a
    TypeVar."""

    __class__ = typing.TypeVar
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self):
        super().__init__([self])

    def __call__(self):
        """Exist: typing accepts a callable as a type."""


def test_a_callable_may_have_parameters_of_a_variable():
    kind = ListedVariable() if sys.version_info < (3, 10) else typing.ParamSpec("kind")
    for form in (typing.Callable, abc.Callable):
        cls = sample(Optional[form[kind, Item]])
        assert cls(lambda a, b: a + b).x(1, 2) == 3
        assert str(cls.__tvm_ffi_type_info__.fields[0].ty) == "Callable[..., Any] | None"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes have no type parameters")
def test_annotations_may_be_strings_with_type_parameters_of_the_class_and_of_a_method():
    names = {"__name__": __name__, "ffi_hpy": ffi_hpy, "field": field, "T": str}
    exec(
        """
from __future__ import annotations

class Box[T: int](ffi_hpy.Object):
    item: T
    items: list[T] = field(default_factory=list)
    inner: "list[T] | None" = None

    @ffi_hpy.method
    def same[Other](self, item: T, other: Other) -> list[Other]:
        return [other]
""",
        names,
    )
    box = py_class(unique_name("annotations.Parameters"))(names["Box"])
    made = box(1, [2], [3])
    assert (made.item, made.items, made.inner, made.same(1, "a")) == (1, [2], [3], ["a"])
    for wrong in ({"item": "a"}, {"items": ["a"]}, {"inner": ["a"]}):
        with pytest.raises(TypeError, match=f"field '{next(iter(wrong))}'"):
            box(**{"item": 1, **wrong})
    (method,) = (each for each in box.__tvm_ffi_type_info__.methods if each.name == "same")
    assert str(method.ty).endswith("int, Any], List[Any]]")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="typing has no Self")
def test_self_is_the_class():
    @py_class(unique_name("annotations.Chain"))
    class Chain(ffi_hpy.Object):
        number: int
        next: Optional[typing.Self] = None
        others: "list[typing.Self]" = field(default_factory=list)

        @ffi_hpy.method
        def last(self, default: "typing.Self | None" = None) -> typing.Self:
            return self if self.next is None else self.next.last()

    end = Chain(2)
    assert Chain(1, end, [end]).next.same_as(end)
    assert Chain(1, end).last().same_as(end)
    for wrong in ({"next": 1}, {"others": [Point(1)]}):
        with pytest.raises(TypeError, match=r"expected annotations\.Chain"):
            Chain(1, **wrong)


def test_final_and_class_variables_may_have_no_type():
    @py_class(unique_name("annotations.Bare"))
    class Bare(ffi_hpy.Object):
        x: typing.Final = 5
        shared: typing.ClassVar = 6

    assert (Bare().x, Bare("a").x, Bare.shared) == (5, "a", 6)
    assert [each.name for each in dataclasses.fields(Bare)] == ["x"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python has no such statement")
def test_an_alias_may_have_parameters_and_contain_itself():
    names = {}
    exec("type Rows[T] = list[list[T]]\ntype Tree = int | list[Tree]\ntype Same[T] = T\ntype Words = list[str]", names)
    rows = sample(names["Rows"][int])
    assert rows([[1], [2]]).x == [[1], [2]]
    tree = sample(names["Tree"])
    assert (tree(1).x, tree([1, [2]]).x[0]) == (1, 1)
    assert sample(names["Same"][int])(3).x == 3
    assert sample(names["Words"])(["a"]).x == ["a"]
    for cls, wrong in ((rows, [["a"]]), (tree, "a"), (sample(names["Same"][int]), "a"), (sample(names["Words"]), [1])):
        with pytest.raises(TypeError, match="field 'x'"):
            cls(wrong)


ALIASES = """
from typing import Callable
type Row[T] = list[T]
type Same[T] = T
type Swapped[K, V] = dict[V, K] | None
type Tuple[*Ts] = tuple[*Ts]
type Ends[T, *Ts, U] = tuple[T, *Ts, U]
type Padded[T] = tuple[T, *tuple[int, ...]]
type Of[**P, T] = Callable[P, T]
type Counter[**P] = Callable[P, int]
type Taker[*Ts] = Callable[[*Ts], int]
type Table = Row[int]
type Turned[K, V] = K | list[Turned[V, K]]
type Grown[T] = T | tuple[Grown[list[T]], Grown[dict[str, T]]]
"""


def schema_of_alias(text):
    names = {}
    exec(ALIASES, names)
    return str(TypeSchema.from_annotation(eval(text, names)))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python has no such statement")
def test_an_alias_may_have_parameters_of_each_kind():
    for text, schema in (
        ("Swapped[int, str]", "Dict[str, int] | None"),
        ("Tuple[int, str]", "tuple[int, str]"),
        ("Tuple[()]", "tuple[()]"),
        ("Ends[int, str]", "tuple[int, str]"),
        ("Ends[int, bool, float, str]", "tuple[int, bool, float, str]"),
        ("Padded[str]", "tuple"),
        ("Of[[int], str]", "Callable[[int], str]"),
        ("Of[..., str]", "Callable[..., str]"),
        ("Counter[[int, str]]", "Callable[[int, str], int]"),
        ("Counter[int, str]", "Callable[[int, str], int]"),
        ("Taker[int, str]", "Callable[[int, str], int]"),
    ):
        assert schema_of_alias(text) == schema
    for text in ("Row[int, str]", "Swapped[int, str, int]"):
        with pytest.raises(TypeError, match=r"takes at most . type arguments?, got [23]"):
            schema_of_alias(text)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python has no such statement")
def test_an_alias_without_arguments_has_values_of_any_type():
    for text, schema in (
        ("Row", "List[Any]"),
        ("Same", "Any"),
        ("Swapped", "Dict[Any, Any] | None"),
        ("Tuple", "tuple"),
        ("Ends", "tuple"),
        ("Of", "Callable[..., Any]"),
        ("Counter", "Callable[..., int]"),
        ("Taker", "Callable[..., int]"),
    ):
        assert schema_of_alias(text) == schema


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python has no such statement")
def test_an_alias_in_its_own_arguments_keeps_their_types():
    for text, schema in (
        ("Row[Row[int]]", "List[List[int]]"),
        ("Row[Row[Row[str]]]", "List[List[List[str]]]"),
        ("Row[Table]", "List[List[int]]"),
        ("Row[Row]", "List[List[Any]]"),
        ("Swapped[Swapped[int, str], bool]", "Dict[bool, Dict[str, int] | None] | None"),
        ("Turned[int, str]", "int | List[str | List[Any]]"),
    ):
        assert schema_of_alias(text) == schema
    assert schema_of_alias("Grown[int]").startswith("int | tuple[List[int] | tuple[List[List[int]] | ")


RECURSIVE = """
from typing import Callable
from dataclasses import InitVar
from ffi_hpy import Object, method
from ffi_hpy.dataclasses import field, py_class

type Tree = list[NamesItself] | None
type Pair[T] = dict[str, T] | list[NamedLater]
type Of[**P, R] = Callable[P, R]

@py_class(unique_name("annotations.NamesItself"))
class NamesItself(Object):
    kids: Tree = None
    pair: Pair[int] = field(default_factory=list)
    first: InitVar[Tree] = None

    @method
    def same(self, tree: Tree) -> Tree:
        return tree

@py_class(unique_name("annotations.Bounded"))
class Bounded[T: NamedLater](Object):
    item: T
    function: Of[[T], T]

@py_class(unique_name("annotations.NamedLater"))
class NamedLater(Object):
    x: int
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python has no such statement")
def test_an_alias_or_a_bound_may_name_the_class_itself_or_a_later_class():
    names = {"__name__": __name__, "unique_name": unique_name}
    exec(RECURSIVE, names)
    node, later, bounded = names["NamesItself"], names["NamedLater"], names["Bounded"]
    leaf = node()
    assert node([leaf], [later(1)]).kids[0] is leaf
    assert (node(None, {"a": 1}).pair, leaf.same([leaf])) == ({"a": 1}, [leaf])
    assert bounded(later(2), lambda x: x).item.x == 2
    for wrong in ({"kids": [later(1)]}, {"pair": [leaf]}, {"pair": {"a": "b"}}):
        with pytest.raises(TypeError, match=f"field '{next(iter(wrong))}'"):
            node(**wrong)
    with pytest.raises(TypeError, match="argument 'first'"):
        node(first=[later(1)])
    with pytest.raises(TypeError, match="field 'item'"):
        bounded(leaf, lambda x: x)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python has no such statement")
def test_the_message_about_an_alias_has_the_name_that_it_lacks():
    names = {}
    exec("type Lost = list[Missing]", names)
    cls = sample(names["Lost"])
    with pytest.raises(TypeError, match=r"unresolved forward references: x: Lost \(name 'Missing' is not defined\)"):
        cls([])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes have no type parameters")
def test_a_class_may_have_any_number_of_type_parameters():
    names = {"ffi_hpy": ffi_hpy, "__name__": __name__}
    exec("class Row[T, *Ts](ffi_hpy.Object):\n    items: tuple[T, *Ts]\n    key: T = 0", names)
    row = py_class(unique_name("annotations.Row"))(names["Row"])
    assert row((1, "a")).items == (1, "a")
    with pytest.raises(TypeError, match="field 'items'"):
        row(1)


def test_an_annotation_of_a_method_may_be_a_class_without_a_native_type():
    @py_class(unique_name("annotations.Foreign"))
    class Foreign(ffi_hpy.Object):
        @ffi_hpy.method
        def first(self, items: "set[int]", n: complex = 0j) -> collections.deque:
            return collections.deque(items, int(n.real))

    assert Foreign().first({1, 2}, 1) == collections.deque([2])
    (method,) = (each for each in Foreign.__tvm_ffi_type_info__.methods if each.name == "first")
    assert str(method.ty).endswith("Any, Any], Any]")


# --- the standard library ---------------------------------------------------------------------------------------------


@py_class("annotations.Point", eq=True)
class Point(ffi_hpy.Object):
    x: int
    y: float = 0.5
    tags: abc.Sequence[str] = field(default_factory=list, repr=False, metadata={"unit": "m"})


@py_class("annotations.Line")
class Line(Point):
    end: "Optional[Point]" = None


@pytest.mark.parametrize("module", [dataclasses, ffi_hpy.dataclasses, copy], ids=lambda module: module.__name__)
def test_a_copy_with_the_value_of_an_init_var_calls_init(module):
    @py_class(unique_name())
    class Scaled(ffi_hpy.Object):
        size: float
        factor: InitVar[float] = 1.0

        def __post_init__(self, factor):
            self.size *= factor

    if not hasattr(module, "replace"):  # copy has it from Python 3.13 on
        pytest.skip("this module has no replace()")
    assert module.replace(Scaled(2.0), size=1.5, factor=4.0).size == 6
    assert module.replace(Scaled(2.0, 5.0), size=1.5).size == 1.5


def test_the_standard_library_sees_a_dataclass():
    assert dataclasses.is_dataclass(Point)
    assert dataclasses.is_dataclass(Line(1))
    assert [each.name for each in dataclasses.fields(Line)] == ["x", "y", "tags", "end"]
    x, y, tags = dataclasses.fields(Point(1))
    assert (x.default, y.default, x.type) == (dataclasses.MISSING, 0.5, int)
    assert tags.default_factory is list
    assert tags.default is dataclasses.MISSING
    assert tags.metadata["unit"] == "m"
    assert (tags.repr, x.repr, x.init) == (False, True, True)
    assert isinstance(ffi_hpy.dataclasses.fields(Point)[0], Field)


def test_the_standard_library_converts_instances():
    line = Line(1, tags=["a"], end=Point(2))
    assert dataclasses.asdict(line) == {
        "x": 1,
        "y": 0.5,
        "tags": ["a"],
        "end": {"x": 2, "y": 0.5, "tags": []},
    }
    assert dataclasses.astuple(Point(2)) == (2, 0.5, ())
    changed = dataclasses.replace(line, x=7)
    assert type(changed) is Line
    assert (changed.x, changed.end) == (7, line.end)
    assert line.x == 1
    with pytest.raises(TypeError):
        dataclasses.replace(line, unknown=1)
    if sys.version_info >= (3, 13):
        assert copy.replace(line, x=8).x == 8


def test_the_standard_library_converts_instances_inside_of_containers():
    @py_class(unique_name("annotations.Nested"))
    class Nested(ffi_hpy.Object):
        one: Point
        in_list: typing.List[Point]  # noqa: UP006
        in_dict: typing.Dict[str, Point]  # noqa: UP006
        in_mapping: abc.Mapping[str, abc.Sequence[Point]]
        in_tuple: typing.Tuple[Point, int]  # noqa: UP006

    made = Nested(Point(1), [Point(2)], {"a": Point(3)}, {"b": [Point(4)]}, (Point(5), 6))

    def as_dict(x, cls=dict):
        return cls([("x", x), ("y", 0.5), ("tags", ())])

    for factory in (dict, collections.OrderedDict):
        found = dataclasses.asdict(made, dict_factory=factory)
        assert type(found["one"]) is type(found["in_list"][0]) is type(found["in_dict"]["a"]) is factory
        assert found == {
            "one": as_dict(1),
            "in_list": [as_dict(2)],
            "in_dict": {"a": as_dict(3)},
            "in_mapping": {"b": (as_dict(4),)},
            "in_tuple": (as_dict(5), 6),
        }
    assert (type(found["in_list"]), type(found["in_dict"]), type(found["in_mapping"])) == (list, dict, dict)
    assert json.loads(json.dumps(dataclasses.asdict(made)["in_list"], default=list)) == [{"x": 2, "y": 0.5, "tags": []}]
    one, in_list, in_dict, in_mapping, in_tuple = dataclasses.astuple(made)
    assert (one, in_list, in_dict) == ((1, 0.5, ()), [(2, 0.5, ())], {"a": (3, 0.5, ())})
    assert (in_mapping["b"][0][0], in_tuple[0][0], in_tuple[1]) == (4, 5, 6)
    assert type(copy.deepcopy(made).in_list) is ffi_hpy.List
    assert type(copy.deepcopy(made.in_dict)["a"]) is Point


def test_the_standard_library_describes_fields():
    @py_class(unique_name("annotations.Described"))
    class Described(ffi_hpy.Object):
        x: int = dataclasses.field(default=3, metadata={"unit": "m"})
        items: typing.List[int] = dataclasses.field(default_factory=list, repr=False)  # noqa: UP006
        made: int = dataclasses.field(init=False, default=9)
        factor: InitVar[int] = dataclasses.field(default=2)

        def __post_init__(self, factor):
            self.x *= factor

    assert list(inspect.signature(Described).parameters) == ["x", "items", "factor"]
    assert (Described().x, Described(1, [2], 4).x, Described().items, Described().made) == (6, 4, [], 9)
    assert repr(Described()).endswith("(x=6, made=9)")
    assert dataclasses.fields(Described)[0].metadata == {"unit": "m"}
    assert Described.factor == 2


def test_a_standard_dataclass_may_derive_from_a_py_class():
    @dataclasses.dataclass(init=False, repr=False, eq=False)
    class Derived(Point):
        pass

    assert [each.name for each in dataclasses.fields(Derived)] == ["x", "y", "tags"]


def test_a_class_without_docstring_shows_its_signature():
    assert Point.__doc__.startswith("Point(x: int, y: float = 0.5, tags: ")

    @py_class(unique_name("annotations.Documented"))
    class Documented(ffi_hpy.Object):
        """The class's own."""

        x: int

    assert Documented.__doc__ == "The class's own."


def test_the_signature_of_a_class_has_annotations_and_defaults_as_they_were_written():
    @py_class(unique_name("annotations.Written"))
    class Written(ffi_hpy.Object):
        mode: Literal["r", 1] = "r"
        color: Color = Color.RED
        items: abc.Sequence[int] = ()
        names: abc.Mapping[str, float] = field(default_factory=dict)

    parameters = inspect.signature(Written).parameters
    assert [each.annotation for each in parameters.values()] == list(typing.get_type_hints(Written).values())
    assert [each.default for each in parameters.values()][:3] == ["r", Color.RED, ()]
    assert Written.__doc__.endswith(" = <factory>)")


def test_instances_have_weak_references_on_request():
    @py_class(unique_name("annotations.Weak"), weakref_slot=True)
    class Weak(ffi_hpy.Object):
        x: int

        def __repr__(self):
            return "weak " + super().__repr__()

        @property
        def mine(self):
            return __class__

    made = Weak(1)
    reference = weakref.ref(made)
    assert reference() is made
    assert repr(made).startswith("weak annotations.Weak.")
    assert made.mine is Weak
    assert Weak.__qualname__.endswith("Weak")
    del made
    gc.collect()
    assert reference() is None


def test_a_cached_property_works_with_a_dict():
    def define(**options):
        class Cached(ffi_hpy.Object):
            __slots__ = () if options else ("__dict__",)
            x: int
            n_calls = 0

            @functools.cached_property
            def double(self):
                type(self).n_calls += 1
                return self.x * 2

        return py_class(unique_name(f"annotations.Cached{len(options)}"), **options)(Cached)

    for cls in (define(), define(slots=False)):
        made = cls(4)
        assert (made.double, made.double) == (8, 8)
        assert cls.n_calls == 1
        made.other = 1
        assert made.__dict__ == {"double": 8, "other": 1}


@pytest.mark.skipif(IS_DEBUG, reason="hpy's debug mode gives another reason")
def test_the_message_about_an_array_in_place_of_a_list_has_no_reason_of_numpy():
    numpy = pytest.importorskip("numpy")

    @py_class(unique_name())
    class Holder(ffi_hpy.Object):
        values: list[bytes]

    for given in (numpy.array([b"ab"]), numpy.array([None]), numpy.zeros(2, ">i4")):
        with pytest.raises(TypeError, match=r"expected List, got numpy\.ndarray$"):
            Holder(given)
