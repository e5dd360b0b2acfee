"""The operations on Python objects that the binding in C runs for C++, compared with those of the package."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ffi_hpy import _core
from ffi_hpy._bind.define import answer
from ffi_hpy._convert import convert_func
from ffi_hpy._values.opaque import OpaquePyObject

pytestmark = pytest.mark.skipif(not hasattr(_core, "function_from_operations"), reason="the cffi backend has none")


class Item:
    """A value that native code has no form for."""


class Refusing:
    """An object whose protocols raise."""

    def __getattr__(self, name):
        raise KeyError(name)

    def __len__(self):
        return -1

    def __getitem__(self, key):
        raise OverflowError(key)

    __setattr__ = __setitem__ = __call__ = __getitem__

    def __iter__(self):
        return self

    def __next__(self):
        raise ZeroDivisionError


class Text(str):
    """A str with another class."""

    __slots__ = ()


VALUES = [None, True, 7, 2**70, -0.5, "a", "a text of many letters", "\ud800", Text("t"), b"b", [1], (2,), {3}, {4: 5}]
ITEM = Item()


def outcome(function, *args):
    """Return the result of an operation, or its error."""
    try:
        found = function(*(OpaquePyObject(arg) if i else arg for i, arg in enumerate(args)))
    except BaseException as error:
        return type(error), str(error)
    return type(found), found


CASES = [
    *(("getattr", SimpleNamespace(x=value), "x") for value in [*VALUES, ITEM]),
    *(("getitem", [value], 0) for value in [*VALUES, ITEM]),
    *(("next", iter([])) for _ in range(2)),
    ("getattr", ITEM, "missing"),
    ("getattr", ITEM, "missing", 1),
    ("getattr", Refusing(), "x"),
    ("setattr", ITEM, "x", 1),
    ("setattr", 5, "x", 1),
    ("setattr", Refusing(), "x", 1),
    ("getitem", [1], 1),
    ("getitem", {}, "k"),
    ("getitem", 5, 1),
    ("getitem", Refusing(), 1),
    ("setitem", [1], 0, 2),
    ("setitem", [1], 5, 2),
    ("setitem", (1,), 0, 2),
    ("setitem", Refusing(), 0, 2),
    ("len", "abc"),
    ("len", 5),
    ("len", Refusing()),
    ("append", [1], 2),
    ("append", (1,), 2),
    ("append", None, 2),
    ("append", [1]),
    ("next", Refusing()),
    ("call", abs, "p", -3),
    ("call", abs, ""),
    ("call", dict, "k", "a", 1),
    ("call", dict, "*", [[("a", 1)]]),
    ("call", dict, "#", {"a": 1}),
    ("call", dict, "#", 5),
    ("call", 5, "p", 1),
    ("call", Refusing(), "p", 1),
    ("call", abs, b"p", 1),
    ("call", abs),
    ("nothing", 5),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_operation_does_the_same_as_in_the_package(case):
    operation, *args = case
    expected = outcome(convert_func(answer), operation, *args)
    assert outcome(_core.function_from_operations(answer), operation, *args) == expected


def test_changes_arrive():
    operate = _core.function_from_operations(answer)
    items, mapping, holder = [1], {}, SimpleNamespace()
    operate("append", OpaquePyObject(items), 2)
    operate("setitem", OpaquePyObject(mapping), "k", OpaquePyObject(ITEM))
    operate("setattr", OpaquePyObject(holder), "x", OpaquePyObject(items))
    assert (items, mapping, holder.x) == ([1, 2], {"k": ITEM}, items)
    assert mapping["k"] is ITEM
    assert holder.x is items


def test_next_returns_each_item_in_a_list():
    operate = _core.function_from_operations(answer)
    items = OpaquePyObject(iter([None, ITEM, []]))
    found = [operate("next", items) for _ in range(5)]
    assert [type(each) for each in found] == [list, list, list, type(None), type(None)]
    assert [found[0][0], found[1][0] is ITEM, found[2][0]] == [None, True, []]


def test_an_iterator_may_have_any_item():
    operate = _core.function_from_operations(answer)
    for item in (next, [], object):
        assert operate("next", OpaquePyObject(iter([item])))[0] is item


def test_an_error_of_an_operation_has_the_traceback_of_python():
    def fail(value):
        raise LookupError(value)

    with pytest.raises(LookupError, match=r"^5$") as caught:
        _core.function_from_operations(answer)("call", OpaquePyObject(fail), "p", 5)
    assert "fail" in [entry.name for entry in caught.traceback]


def test_an_operation_needs_its_name_and_an_iterator():
    operate = _core.function_from_operations(answer)
    with pytest.raises(TypeError):
        operate()
    with pytest.raises(TypeError):
        operate("next", 5)
