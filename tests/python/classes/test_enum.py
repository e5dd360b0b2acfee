"""Enums whose variants native code shares."""

from __future__ import annotations

import copy
import pickle
from typing import ClassVar

import pytest
from support import needs_threads, parallelize, run_python, unique_name

from ffi_hpy import Object
from ffi_hpy.dataclasses import Enum, IntEnum, StrEnum, auto, entry, py_class


def key(name="enum"):
    return unique_name(f"test_enum.{name}")


class Color(Enum, type_key=key("Color")):
    shade: int = 0
    red = entry(shade=3)
    green = entry(4)
    blue = auto()
    white: ClassVar[Color]


class Level(IntEnum, type_key=key("Level")):
    LOW = 1
    HIGH = 10


class Space(StrEnum, type_key=key("Space")):
    SHARED = "smem"
    GLOBAL = "gmem"


def test_variants_in_order_with_their_fields():
    assert [c.name for c in Color] == ["white", "red", "green", "blue"]
    assert [c.shade for c in Color] == [0, 3, 4, 0]
    assert len(Color) == 4
    assert Color
    assert Color.red in list(Color)


def test_lookups():
    assert Color("red") is Color.red or Color("red").same_as(Color.red)
    assert Color(0).same_as(Color.white)
    assert Color(Color.red).same_as(Color.red)
    assert Level(10).same_as(Level.HIGH)
    assert Level("LOW").same_as(Level.LOW)
    assert Space("gmem").same_as(Space.GLOBAL)
    for cls, wrong in ((Color, "pink"), (Color, 9), (Level, 2), (Space, "GLOBAL")):
        with pytest.raises(ValueError, match="is not a valid"):
            cls(wrong)
        with pytest.raises(KeyError):
            cls.get(wrong)
    with pytest.raises(OverflowError):
        Level(2**63)
    with pytest.raises(TypeError):
        Color.get(1.5)


class Code(int):
    """An int that differs from every int."""

    def __eq__(self, other):
        return False

    def __lt__(self, other):
        return False

    __le__ = __gt__ = __ge__ = __lt__
    __hash__ = None

    def __int__(self):
        raise AssertionError("never called")


def test_an_integer_of_another_class_is_looked_up_at_once():
    program = """
import http
from ffi_hpy.dataclasses import IntEnum
class Status(IntEnum, type_key="test_enum.Status"):
    OK = 200
print(Status(http.HTTPStatus.OK).same_as(Status.OK), Status.get(True + 199).same_as(Status.OK))
try:
    Status(http.HTTPStatus.NOT_FOUND)
except ValueError as error:
    print("not a valid Status" in str(error))
"""
    assert run_python(program) == "True True\nTrue\n"
    assert Level(Code(10)).same_as(Level.HIGH)
    with pytest.raises(ValueError, match="is not a valid"):
        Level(Code(2))
    with pytest.raises(OverflowError):
        Level(Code(2**63))


def test_payloads_are_equal_to_their_values():
    assert Level.LOW == 1
    assert Level.LOW != 10
    assert Space.SHARED == "smem"
    assert {Level.LOW: "x"}[1] == "x"
    assert (str(Level.LOW), repr(Space.SHARED)) == ("1", "Space.smem")
    assert Level.LOW != "LOW"
    assert Color.red != 1


def test_variants_are_frozen_singletons():
    with pytest.raises(AttributeError):
        Color.red.shade = 9
    assert pickle.loads(pickle.dumps(Color.red)).same_as(Color.red)
    assert pickle.loads(pickle.dumps(Level.HIGH)).same_as(Level.HIGH)
    assert not copy.copy(Color.red).same_as(Color.red)


@pytest.mark.parametrize(
    ("base", "body", "error"),
    [
        (IntEnum, {"BAD": "text"}, TypeError),
        (IntEnum, {"BAD": True}, TypeError),
        (IntEnum, {"BAD": 2**63}, OverflowError),
        (IntEnum, {"BAD": auto()}, TypeError),
        (StrEnum, {"BAD": 1}, TypeError),
        (StrEnum, {"value": "x"}, TypeError),
        (IntEnum, {"__annotations__": {"value": "int"}}, TypeError),
        (Enum, {"BAD": entry(nothing=1)}, TypeError),
        (Enum, {"BAD": entry(_int_index=1)}, TypeError),
        (StrEnum, {"A": "B", "B": entry(value="A"), "C": entry(value="0")}, None),
    ],
)
def test_bodies_that_make_no_sense(base, body, error):
    def make():
        return type(base)("Made", (base,), {"__module__": __name__, **body}, type_key=key())

    if error is None:
        assert len(make()) == 3
        return
    with pytest.raises(error):
        make()


def test_aliases_are_one_variant():
    class Op(StrEnum, type_key=key("Op")):
        PLUS = "+"
        ADD = "+"

    assert Op.PLUS.same_as(Op.ADD)
    assert len(Op) == 1


def test_methods_and_descriptors_are_not_variants():
    class Rich(IntEnum, type_key=key("Rich")):
        A = 1

        def double(self):
            return 2 * self.value

        @property
        def triple(self):
            return 3 * self.value

    assert (len(Rich), Rich.A.double(), Rich.A.triple) == (1, 2, 3)


def test_attributes_of_extensions():
    name = unique_name("cost").replace(".", "_")
    cost = Level.def_attr(name, default=-1)
    assert cost.name == name
    assert (cost[Level.LOW], Level.LOW in cost, cost.get(Level.LOW, 5)) == (-1, False, 5)
    cost[Level.LOW] = None
    assert (cost[Level.LOW], Level.LOW in cost, 1 in cost) == (None, True, False)
    assert Level.attr_dict[name][Level.LOW] is None
    with pytest.raises(TypeError):
        cost[Color.red] = 1
    with pytest.raises(KeyError):
        Level.def_attr(f"{name}_other")[Level.LOW]


def test_fields_take_payloads():
    @py_class(key("Holder"))
    class Holder(Object):
        level: Level
        space: Space = Space.SHARED

    made = Holder(10)
    assert made.level.same_as(Level.HIGH)
    assert made.space.same_as(Space.SHARED)
    made.space = "gmem"
    assert made.space.same_as(Space.GLOBAL)
    with pytest.raises(TypeError):
        made.level = 3
    with pytest.raises(TypeError):
        made.space = "nothing"


@needs_threads
def test_threads_share_attributes():
    maps = [Level.def_attr(unique_name("attr").replace(".", "_")) for _ in range(20)]

    def work(i):
        for one in maps:
            one[Level.LOW if i % 2 else Level.HIGH] = i
        return True

    assert all(parallelize(work))
    assert all(Level.LOW in one and Level.HIGH in one for one in maps)


@needs_threads
def test_threads_that_add_to_one_enum_make_each_variant_once():
    keys = [unique_name() for _ in range(20)]
    for taken in keys:

        class First(Enum, type_key=taken):
            blue = auto()

    def work(i):
        classes = []
        for taken in keys:

            class Colour(Enum, type_key=taken):
                red = auto()
                green = auto()
                blue: ClassVar[Enum]

            classes.append(Colour)
        return classes

    for classes in zip(*parallelize(work)):
        for one in classes:
            assert [variant.name for variant in one] == ["blue", "red", "green"]
            assert [variant._value for variant in one] == [0, 1, 2]
            assert [one.get(i).name for i in range(3)] == ["blue", "red", "green"]


# --- enums of native libraries ----------------------------------------------------------------------------------------


def test_variants_of_a_native_enum_are_attributes():
    program = """
import ffi_hpy.testing
from ffi_hpy.dataclasses import IntEnum
class Priority(IntEnum, type_key="testing.TestCxxIntEnum"):
    pass
print(Priority.low.value, Priority.high.same_as(Priority("high")), hasattr(Priority, "middle"))
"""
    assert run_python(program) == "10 True False\n"


def test_variants_of_a_native_enum_are_attributes_of_a_class_that_a_decorator_registers():
    program = """
import ffi_hpy.testing
from ffi_hpy.dataclasses import Enum
@ffi_hpy.register_object("testing.TestEnumVariant")
class Variant(Enum):
    pass
print([type(variant) is Variant for variant in (Variant.Alpha, Variant.Beta)], Variant.Alpha.name)
"""
    assert run_python(program) == "[True, True] Alpha\n"
