"""Classes of Python with several bases, one of which is a class of a library for nanobind: mixins and refused bases."""

from __future__ import annotations

import copy
import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, TypeVar

import pytest
from support import needs_identity, needs_one_wrapper

import ffi_hpy
from ffi_hpy import libinfo

pytestmark = [needs_one_wrapper, needs_identity]


@pytest.fixture(scope="module")
def bound(import_bound):
    return import_bound("nanobind_objects", f"-I{libinfo.find_nanobind_include_path()}")


class Titled:
    def __repr__(self):
        return "titled " + super().__repr__()

    def __eq__(self, other):
        return other == "titled"

    __hash__ = None

    def __copy__(self):
        return "a copy"

    def same_as(self, other):
        return "the mixin's"


class Counting:
    def __init__(self, *args):
        super().__init__(*args)
        self.count = 1


T = TypeVar("T")


def own_order(cls):
    """Return the method resolution order without the classes from which all bound classes derive."""
    return [owner for owner in cls.__mro__ if owner not in ffi_hpy.Object.__mro__]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_mixins_come_in_the_order_of_python(bound, order):
    bases = [(Titled, Counting, bound.Even)[i] for i in order]
    at = bases.index(bound.Even)
    mixed = type(bound.Even)("Mixed", tuple(bases), {})
    assert own_order(mixed) == [mixed, *bases[: at + 1], bound.Number, *bases[at + 1 :]]
    value = mixed(4)
    assert (bound.number_of(value), value.value) == (8, 8)
    assert hasattr(value, "count") == (Counting in bases[:at])  # a bound constructor calls no further one
    assert repr(value).startswith("titled ")
    assert (value == "titled", value != "titled", value == 1) == (True, False, False)
    assert (value.same_as(1), copy.copy(value)) == ("the mixin's", "a copy")
    with pytest.raises(TypeError):
        hash(value)
    assert bound.number_of(type("Further", (mixed,), {})(1)) == 2


def test_a_mixin_without_a_name_of_the_root_has_no_part_in_the_metaclass(bound):
    class Plain:
        def extra(self):
            return 1

    class Abstract(ABC):
        @abstractmethod
        def extra(self): ...

    class Mixed(bound.Even, Plain, Abstract):
        pass

    assert (type(Mixed), Mixed(1).extra()) == (type(bound.Even), 1)


def test_a_mixin_after_the_bound_base_has_hooks(bound):
    class Hooked(Generic[T]):
        def __init_subclass__(cls, **kwargs):
            super().__init_subclass__(**kwargs)
            cls.made = cls(2)

        def __getattr__(self, name):
            return [name]

    class Mixed(bound.Even, Hooked[int]):
        pass

    assert (Mixed.made.unknown, bound.number_of(Mixed.made), Mixed.__orig_bases__[1]) == (["unknown"], 4, Hooked[int])


def test_a_standard_mixin_compares(bound):
    class Table(bound.Even, Mapping):
        def __getitem__(self, key):
            return {"value": self.value}[key]

        def __iter__(self):
            return iter(["value"])

        def __len__(self):
            return 1

    table = Table(2)
    assert table == {"value": 4}
    assert table != {"value": 5}
    assert bound.number_of(table) == 4


def test_the_bases_of_a_mixed_class_may_change(bound):
    class Other:
        def __repr__(self):
            return "other"

    class Mixed(bound.Even, Titled):
        pass

    value = Mixed(1)
    assert repr(value).startswith("titled ")
    Mixed.__bases__ = (bound.Even, Other)
    assert repr(value) == "other"
    del Other.__repr__
    assert repr(value) not in ("other", "titled")


def test_several_bases_of_nanobind_are_refused(bound):
    class Left(bound.Number):
        pass

    class Right(bound.Number):
        pass

    for bases in ((bound.Even, bound.Number), (Left, Right), (Titled, Left, Right), (bound.Number, bound.Item)):
        with pytest.raises(TypeError, match="Derived has multiple nanobind bases"):
            type(bound.Number)("Derived", bases, {})
    with pytest.raises(TypeError, match=r"The type 'nanobind_objects\.Sealed' prohibits subclassing!"):
        type(bound.Number)("Derived", (Titled, bound.Sealed), {})
    for bases in ((list, bound.Number), (bound.Number, list)):
        with pytest.raises(TypeError):
            type(bound.Number)("Derived", bases, {})


@pytest.mark.parametrize(
    "use", [lambda cls: cls(1), lambda cls: setattr(cls, "x", 1), lambda cls: type(cls)("Further", (cls,), {})]
)
def test_bases_are_refused_at_the_first_use_of_a_class_that_bypasses_the_metaclass(bound, use):
    meta = type(bound.Number)
    with pytest.raises(TypeError, match="has multiple nanobind bases"):
        use(type.__new__(meta, "Bypassing", (bound.Even, bound.Number), {}))  # PyPy asks the metaclass at once
    allowed = type.__new__(meta, "Bypassing", (Counting, bound.Even), {})
    use(allowed)
    assert bound.number_of(type.__new__(meta, "Further", (allowed,), {})(3)) == 6


def test_hooks_of_a_class_make_instances(bound):
    class Mixin:
        def __init_subclass__(cls, **kwargs):
            super().__init_subclass__(**kwargs)
            cls.made = cls(2)

    class Named:
        def __set_name__(self, owner, name):
            owner.named = owner(3)

    class Mixed(Mixin, bound.Even):
        name = Named()

    assert (bound.number_of(Mixed.made), bound.number_of(Mixed.named)) == (4, 6)
