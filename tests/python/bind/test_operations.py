"""The operations on Python objects that the binding in C runs for C++, compared with those of the package."""

from __future__ import annotations

import datetime
import decimal
import sys
from types import SimpleNamespace

import pytest
from support import needs_threads

import ffi_hpy


@pytest.fixture(scope="module")
def lib(import_bound):
    return import_bound("bound_operations")


@pytest.fixture(scope="module")
def run(lib):
    numbers = {name: number for number, name in enumerate(lib.operations())}
    return lambda name, *values: lib.run(numbers[name], *values)


SLICES = [
    *(slice(None), slice(3), slice(1, 4), slice(None, None, 2), slice(None, None, -1), slice(4, 1, -2), slice(-3, -1)),
    *(slice(10, 20), slice(-20, None, 3), slice(2**70), slice(None, -(2**70), -(2**70)), slice(True), slice(5, 5)),
]
TIMES = [
    *(datetime.timedelta(n) for n in (0, 1, -1, 99_999_999, 100_000_001, 999_999_999, -999_999_999)),
    *(datetime.timedelta(1, 2, 3), datetime.timedelta(-1, 2, 3), datetime.timedelta(microseconds=-1)),
    type("Longer", (datetime.timedelta,), {})(3),
]


class Item:
    """A value that native code has no form for."""


class Liar:
    """An object whose `__class__` is another class than its own."""

    __class__ = list  # type: ignore[assignment]


class Refusing:
    """An object whose protocols raise."""

    def __getattr__(self, name):
        raise KeyError(name)

    def __len__(self):
        return -1

    def __getitem__(self, key):
        raise OverflowError(key)

    __setattr__ = __setitem__ = __call__ = __contains__ = __eq__ = __getitem__
    __hash__ = None

    def __bool__(self):
        raise BufferError

    def __iter__(self):
        return self

    def __next__(self):
        raise ZeroDivisionError


class Text(str):
    """A str with another class."""

    __slots__ = ()


class Weight(float):
    """A float with another class, which lies about its value."""

    def __float__(self):
        return 0.0


class Items(list):
    """A list with another class."""


NAN = float("nan")
ITEM = Item()
VALUES = [None, True, 7, 2**70, -0.5, "a", "a text of many letters", "\ud800", Text("t"), b"b", [1], (2,), {3}, {4: 5}]
KINDS = ["list", "tuple", "dict", "str", "int", "float", "set", "bytes", "slice", "type", "frozenset", "bytearray"]
KINDS += ["callable", "sequence", "iterable", "mapping", "module", "list_or_tuple"]


def cases():
    """Yield the name of an operation, and a function that makes its values: an operation may change them."""
    for value in [*VALUES, ITEM]:
        yield "getattr", lambda value=value: (SimpleNamespace(x=value), "x")
        yield "getitem", lambda value=value: ([value], 0)
        yield "call_with", lambda value=value: ({"a": value}.get, "a")
        yield "next", lambda value=value: (iter([value]), "end")
        yield "bool", lambda value=value: (value,)
        yield "type", lambda value=value: (value,)
    for pair in [(1, ITEM), "ab", 5, (1,)]:
        yield "next_pair", lambda pair=pair: (iter([pair]), "end")
    rows = [
        *(("getattr", *args) for args in [(ITEM, "missing"), (ITEM, "missing", 1), (Refusing(), "x")]),
        *(("setattr", *args) for args in [(Item(), "x", 1), (5, "x", 1), (Refusing(), "x", 1)]),
        *(("hasattr", *args) for args in [(ITEM, "x"), (ITEM, "__class__"), (Refusing(), "x")]),
        *(("getitem", *args) for args in [([1], 1), ({}, "k"), (5, 1), (Refusing(), 1)]),
        *(("setitem", *args) for args in [([1], 0, 2), ([1], 5, 2), ((1,), 0, 2), (Refusing(), 0, 2)]),
        *(("contains", *args) for args in [([1], 1), ({}, []), (5, 1), (Refusing(), 1)]),
        *(("len", value) for value in ["abc", 5, Refusing()]),
        *(("append", *args) for args in [([1], 2), (Items(), 2), ((1,), 2), (None, 2), ([1],)]),
        *(("call_with", *args) for args in [(abs, -3), (abs,), (5, 1), (max, *range(20)), (Refusing(), 1)]),
        ("call_function", -3, abs),
        *(
            ("call_method", *args)
            for args in [("upper", "a"), ("get", {1: 2}, 1), ("missing", ITEM), ("x", Refusing(), 1)]
        ),
        *(("iter", value) for value in [5, Refusing()]),
        *(("next", *args) for args in [(iter([]), "end"), (iter([]), "a long end"), ([], "end"), (Refusing(), "end")]),
        *(("tuple", *args) for args in [(), VALUES]),
        *(("list", *args) for args in [(), VALUES]),
        *(("dict", *args) for args in [(), ("a", 1, "b", ITEM, "a", 2), ("a",), ([], 1)]),
        *(("is", *args) for args in [(ITEM, ITEM), (ITEM, Item()), (None, None)]),
        *(("equal", *args) for args in [(1, 1.0), ("a", Text("a")), (NAN, NAN), ([NAN], [NAN]), (ITEM, ITEM)]),
        *(("equal", *args) for args in [(ITEM, Item()), (Refusing(), 1)]),
        ("bool", Refusing()),
        *(("isinstance", *args) for args in [(True, int), (Liar(), list), (5, 5)]),
        *(("str", value) for value in [5, "a", ITEM, Text("t"), b"b"]),
        *(
            ("operator", *args)
            for args in [(2, 3, "add"), (2, "a", "sub"), ([1], [2], "iadd"), (1, 2, "lt"), (5, "neg")]
        ),
        *(
            ("operator", *args)
            for args in [(1, 2, "nothing"), (Refusing(), 1, "mul"), (1, Refusing(), "eq"), ("index",)]
        ),
        *(("next_pair", *args) for args in [(iter([]), "end"), ([], "end")]),
        *(("complex", *args) for args in [(1.5, -2.0), ("a", 1.0)]),
        *(("complex_parts", *args) for args in [(1 - 2j, False), (2.5, True), ("a", True), (ITEM, False)]),
        *(("to_float", value) for value in [2, Weight(2.5), Weight("nan"), "a", ITEM, 1 + 2j, decimal.Decimal("0.5")]),
        *(("big_int", value) for value in [-1, 5, -(2**63)]),
        *(("capsule_data", value) for value in [5, None]),
        ("is_kind", 5, "nothing"),
        *(("slice_range", part, size) for part in SLICES for size in (0, 1, 5, 2**40)),
        *(("slice_range", *args) for args in [(slice("a"), 5), (slice(0, 9, 0), 5), (slice(Refusing()), 5), (5, 5)]),
        ("slice_range", slice(None), -1),
        *(("microseconds", value) for value in [*TIMES, 5, ITEM, Refusing(), datetime.date(2020, 1, 1)]),
        *(("timedelta", value) for value in [0, 1, -1, 86_400_000_001, 2**62, -(2**62), "a", ITEM]),
    ]
    for name, *args in rows:
        yield name, lambda args=args: args


def outcome(function, *args):
    """Return the result of an operation, or its error."""
    try:
        found = function(*args)
    except BaseException as error:
        return type(error), str(error)
    if isinstance(found, ffi_hpy.Array):
        found = list(found)
    return type(found), found if type(found) is not float else repr(found)


@pytest.mark.parametrize(("name", "make"), list(cases()))
def test_an_operation_does_the_same_as_in_the_package(lib, run, name, make):
    own, expected = make(), make()
    assert outcome(run, name, *own) == outcome(lib.run_in_package, name, *expected)
    changed = [
        [vars(value) if isinstance(value, Item) else value for value in values[:1]] for values in (own, expected)
    ]
    if name in ("setattr", "setitem", "append"):
        assert repr(changed[0]) == repr(changed[1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_is_of_the_same_kinds_as_in_the_package(lib, run, kind):
    values = [*VALUES, ITEM, Items(), Liar(), abs, int, sys, slice(1), frozenset(), bytearray()]
    found = [run("is_kind", value, kind) for value in values]
    assert found == [lib.run_in_package("is_kind", value, kind) for value in values]
    assert any(found)
    assert not all(found)


def test_changes_arrive(run):
    items, mapping, holder = [1], {}, SimpleNamespace()
    run("append", items, 2)
    run("setitem", mapping, "k", ITEM)
    run("setattr", holder, "x", items)
    assert (items, mapping, holder.x) == ([1, 2], {"k": ITEM}, items)
    assert mapping["k"] is ITEM
    assert holder.x is items


def test_an_iterator_returns_each_item_and_then_the_end(run):
    items = iter([None, ITEM, []])
    found = [run("next", items, "end") for _ in range(5)]
    assert [found[0], found[1] is ITEM, *found[2:]] == [None, True, [], "end", "end"]


def test_an_error_of_an_operation_has_the_traceback_of_python(run):
    def fail(value):
        raise LookupError(value)

    with pytest.raises(LookupError, match=r"^5$") as caught:
        run("call_with", fail, 5)
    assert "fail" in [entry.name for entry in caught.traceback]


def test_operations_that_call_each_other_without_end_raise(lib):
    """No function of Python runs in between, so that the operation itself checks the depth."""
    with pytest.raises(RecursionError):
        lib.apply(lib.apply)
    assert lib.apply(lambda _: 5) == 5


@needs_threads
def test_a_thread_of_cpp_runs_an_operation(lib):
    assert lib.on_thread([1, 2]) == 2
