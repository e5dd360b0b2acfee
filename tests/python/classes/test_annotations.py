"""Annotations that users write for the fields of a py_class, and the standard library's functions for dataclasses."""

import copy
import dataclasses
import enum
import functools
import gc
import inspect
import sys
import typing
import weakref
from collections import abc
from dataclasses import InitVar
from typing import Annotated, Any, Literal, NewType, Optional

import pytest
from support import unique_name

import ffi_hpy
from ffi_hpy.dataclasses import Field, field, py_class

UserId = NewType("UserId", int)


class Color(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


class Word(str, enum.Enum):
    YES = "yes"


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


def test_methods_have_such_annotations_too():
    @py_class(unique_name("annotations.Methods"))
    class Methods(ffi_hpy.Object):
        @ffi_hpy.method
        def count(self, words: abc.Sequence[str], kind: "Literal['a'] | None" = None) -> "int | None":
            return len(words)

    assert Methods().count(["a"]) == 1
    (method,) = (each for each in Methods.__tvm_ffi_type_info__.methods if each.name == "count")
    assert str(method.ty).endswith("Array[str], str | None], int | None]")


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


# --- the standard library ---------------------------------------------------------------------------------------------


@py_class("annotations.Point", eq=True)
class Point(ffi_hpy.Object):
    x: int
    y: float = 0.5
    tags: abc.Sequence[str] = field(default_factory=list, repr=False, metadata={"unit": "m"})


@py_class("annotations.Line")
class Line(Point):
    end: "Optional[Point]" = None


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


def test_a_standard_dataclass_may_derive_from_a_py_class():
    @dataclasses.dataclass(init=False, repr=False, eq=False)
    class Derived(Point):
        pass

    assert [each.name for each in dataclasses.fields(Derived)] == ["x", "y", "tags"]


def test_a_class_without_docstring_shows_its_signature():
    assert Point.__doc__.startswith("Point(x: int, y: float = 0.5, tags: ")

    @py_class(unique_name("annotations.Documented"))
    class Documented(ffi_hpy.Object):
        """Its own."""

        x: int

    assert Documented.__doc__ == "Its own."


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
