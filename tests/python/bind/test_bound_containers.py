"""Iterators of C++, and vectors and maps that Python shares with C++: make_iterator.h, bind_vector.h, bind_map.h."""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
import warnings
from collections import OrderedDict, deque
from types import MappingProxyType

import pytest
from support import collect_garbage, needs_identity, needs_one_wrapper, needs_threads, parallelize

import ffi_hpy
from ffi_hpy import _core

pytestmark = [needs_one_wrapper, needs_identity]


@pytest.fixture(scope="module")
def bound(import_bound):
    """The module of bound_containers.cc."""
    return import_bound("bound_containers")


# --- iterators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data", [{}, {"a": "b"}, {str(i): chr(i + 1) for i in range(200)}], ids=["none", "one", "many"]
)
def test_iterators_over_a_map(bound, data):
    words = bound.Words(data)
    assert sorted(words) == sorted(data)
    assert sorted(words.values()) == sorted(data.values())
    assert sorted(words.items()) == sorted(words.same_items()) == sorted(data.items())
    assert list(bound.pass_on(words.values())) == list(words.values())
    assert type(words.values()).__qualname__ == "Words.Values"
    iterator = iter(words)
    assert iter(iterator) is iterator
    del words
    collect_garbage()
    assert sorted(iterator) == sorted(data)
    for _ in range(2):
        with pytest.raises(StopIteration) as end:
            next(iterator)
        assert (end.value.value, end.value.args, end.value.__cause__) == (None, (), None)


@pytest.mark.skipif(not hasattr(sys, "getrefcount"), reason="nothing counts the references to a class here")
@pytest.mark.thread_unsafe(reason="other threads refer to the class, too")
def test_a_class_of_cpp_is_not_referenced_again_and_again(bound):
    words = bound.Words({"a": "b"})
    before = sys.getrefcount(bound.Words)
    for _ in range(100):
        assert next(iter(words)) == "a"
    collect_garbage()
    assert sys.getrefcount(bound.Words) < before + 100


def test_iterators_that_return_values(bound):
    squares = bound.Squares()
    assert (list(squares), list(squares.keys()), list(squares.values())) == (
        [(i, i * i) for i in range(4)],
        [0, 1, 2, 3],
        [0, 1, 4, 9],
    )


@pytest.mark.thread_unsafe(reason="it changes a class that threads share")
def test_iteration_follows_an_assignment_of_the_method(bound, monkeypatch):
    words = bound.Words({"a": "b"})
    cls = type(words.values())
    native = cls.__next__
    with monkeypatch.context() as change:
        change.setattr(cls, "__next__", lambda self: native(self) + "!")
        assert (list(words.values()), next(words.values())) == (["b!"], "b!")
    assert (list(words.values()), next(words.values()), words.values().__next__()) == (["b"], "b", "b")


@pytest.mark.skipif(not hasattr(_core, "class_next"), reason="the interpreter looks for the method here")
def test_a_function_makes_the_steps_of_an_iteration(bound):
    for wrong in ((type(bound.Words({}).values()),), (bound.Words, 3), (3, bound.pass_on)):
        with pytest.raises(TypeError, match="takes a class and a Function"):
            _core.class_next(*wrong)
    _core.class_next(int, bound.pass_on)
    with pytest.raises(TypeError, match="not an iterator"):
        next(3)


@needs_threads
def test_threads_make_the_class_of_an_iterator_once(bound):
    words = bound.Words({"a": "b"})
    assert parallelize(lambda _: [list(words.items()) for _ in range(50)] == [[("a", "b")]] * 50, 4) == [True] * 4


# --- vectors ----------------------------------------------------------------------------------------------------------


def test_the_pointers_of_a_vector_refer_to_their_objects(bound):
    first, second = bound.pointers()
    assert (first.a, second.a) == (1, 2)
    again = bound.pointers()
    assert [again[0], *again] == [first, first, second]


def test_a_vector_is_like_a_list(bound):
    v = bound.Ints([0, 0])
    assert (len(v), bool(v), bool(bound.Ints()), repr(bound.Ints(range(3)))) == (
        *(2, True, False),
        "bound_containers.Ints([0, 1, 2])",
    )
    assert bound.Ints(v) == v == bound.Ints(x for x in (0, 0))
    v[1] = 5
    v[1] -= 1
    assert (v[1], v[-1], v != bound.Ints([0, 0]), v == 3) == (4, 4, True, False)
    v.append(2)
    v.insert(0, 1)
    v.insert(4, 3)
    v.insert(-1, 9)
    assert list(v) == [1, 0, 4, 2, 9, 3]
    for wrong in (lambda: v[6], lambda: v.insert(8, 1), lambda: v.pop(-7), lambda: bound.Ints().pop()):
        with pytest.raises(IndexError):
            wrong()
    assert (v.pop(), v.pop(1), v.pop(index=0), list(v)) == (3, 0, 1, [4, 2, 9])
    v.extend([1, 1])
    v.extend(v)
    assert (list(v), v.count(1), v.count(77), 9 in v, 5 in v, "x" in v) == (
        [4, 2, 9, 1, 1] * 2,
        4,
        0,
        True,
        False,
        False,
    )
    for wrong in (lambda: v.extend([8, "a"]), lambda: v.append(-1), lambda: v.append("x"), lambda: bound.Ints(3)):
        with pytest.raises(TypeError):
            wrong()
    assert len(v) == 10
    v.remove(9)
    assert list(v)[:3] == [4, 2, 1]
    with pytest.raises(ValueError, match="not in"):
        v.remove(100)
    v.clear()
    assert list(v) == []
    assert bound.sum(bound.Ints([1, 2])) == bound.sum([3]) == 3


@pytest.mark.parametrize(
    "part",
    [
        *(slice(1, 13, 4), slice(1, 14, 4), slice(10, 2000), slice(200, 10), slice(200, 10, -1), slice(200, 10, -3)),
        *(slice(None, None, -1), slice(-3, None), slice(0, 0)),
    ],
)
def test_slices_of_a_vector(bound, part):
    expected, v = list(range(100)), bound.Ints(range(100))
    assert list(v[part]) == expected[part]
    changed, other = list(expected), bound.Ints(v)
    del changed[part]
    del other[part]
    assert list(other) == changed
    values = [2 * x for x in expected[part]]
    if values:
        expected[part] = values
        v[part] = values
        assert list(v) == expected
    with pytest.raises(ValueError, match="different lengths"):
        v[part] = [0] * (len(values) + 1)


class Indexed:
    """A class that Python iterates by numbers."""

    def __getitem__(self, i):
        if i > 2:
            raise IndexError
        return i


class Failing:
    """An iterable that fails after its first item."""

    def __iter__(self):
        yield 1
        raise OSError("no more items")


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        *(([1, 2], [1, 2]), ((3,), [3]), (range(3), [0, 1, 2]), ({5}, [5]), ({7: 8}, [7]), (b"ab", [97, 98])),
        *((Indexed(), [0, 1, 2]), (deque([1, 2**32 - 1]), [1, 2**32 - 1]), ([True, 2], [1, 2]), ([], [])),
        *((ffi_hpy.Array([1, 2]), [1, 2]), (ffi_hpy.List([3]), [3]), (memoryview(b"a"), [97])),
    ],
    ids=lambda value: type(value).__name__,
)
def test_vectors_of_iterables(bound, items, expected):
    assert list(bound.Ints(items)) == expected


def test_vectors_of_iterables_that_do_not_fit(bound):
    assert list(bound.Texts("abc")) == list("abc")
    for wrong in ([1, "a"], [-1], [2**32], ["a"], "ab", [None], [[1]], {"a": 1}):
        with pytest.raises(RuntimeError, match="bad_cast"):
            bound.Ints(wrong)
    with pytest.raises(RuntimeError, match="bad_cast"):
        bound.Ints(itertools.repeat("a"))  # an endless iterator
    with pytest.raises(OSError, match="no more items"):
        bound.Ints(Failing())
    assert [list(each) for each in bound.Nested([[], [bound.Element(1)]])[:1]] == [[]]


def test_a_vector_reads_all_items_before_it_converts_them(bound):
    class Clearing:
        def __index__(self):
            items.clear()
            return 7

    items = [Clearing(), 8, 9]
    assert (list(bound.Ints(items)), items) == ([7, 8, 9], [])


def test_a_vector_is_reversed_in_place(bound):
    v = bound.Ints([1, 2, 3])
    v[::-1] = v
    assert list(v) == [3, 2, 1]


def test_other_vectors(bound):
    assert not hasattr(bound, "Again")
    bools = bound.Bools([True, False, True])
    bools[1] = True
    assert (list(bools), bools[1], bools.count(True)) == ([True] * 3, True, 3)
    assert (bools.first, bools.has_all(), bound.ElementMap({3: bound.Element(1)}).first()) == (True, True, 3)

    copies = bound.Elements([bound.Element(1)])
    copies[0].a = 100
    next(iter(copies)).a = 100
    assert copies[0].a == 1
    nested = bound.Nested([copies])
    assert nested[0][0].a == 1
    shared = bound.Shared([bound.Element(1)])
    shared[0].a = 7
    assert next(iter(shared)).a == 7

    only = bound.onlies(3)
    assert [each.value for each in only] == [1, 2, 3]
    next(iter(only)).value = 9
    first = only[0]
    del only
    collect_garbage()
    assert first.value == 9


@pytest.mark.thread_unsafe(reason="the library counts the objects of all threads")
def test_vectors_that_fail_leave_nothing(bound):
    collect_garbage()
    before = bound.alive()
    with pytest.raises(RuntimeError):
        bound.Elements([bound.Element(1), bound.Element(2), "no element"])
    collect_garbage()
    assert bound.alive() == before
    v = bound.Elements([bound.Element(i) for i in range(4)])
    collect_garbage()
    bound.allow_copies(2)
    try:
        with pytest.raises(RuntimeError, match="no more copies"):
            v[:]
    finally:
        bound.allow_copies(-1)
    assert bound.alive() == before + 4


# --- maps -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Map", "HashMap", "ConstMap"])
def test_a_map_is_like_a_dict(bound, name):
    cls = getattr(bound, name)
    m = cls({"a": 1, "b": 2.5})
    m["c"] = 3
    m["a"] = 4
    expected = {"a": 4.0, "b": 2.5, "c": 3.0}
    assert (dict(m.items()), sorted(m), len(m), bool(m), bool(cls())) == (expected, ["a", "b", "c"], 3, True, False)
    assert ("a" in m, "x" in m, 123 in m, m["b"]) == (True, False, False, 2.5)
    for wrong in (lambda: m["x"], lambda: m.__delitem__("x")):
        with pytest.raises(KeyError):
            wrong()
    other = cls(m)
    assert (other == m, other != m, other == 3) == (True, False, False)
    del other["b"]
    assert (other == m, sorted(other)) == (False, ["a", "c"])
    other.update({"z": 1})
    other.update(other)
    assert dict(other.items()) == {"a": 4.0, "c": 3.0, "z": 1.0}
    for wrong in (lambda: m.update({"a": "b"}), lambda: cls(3), lambda: m.__setitem__(1, 1.0)):
        with pytest.raises(TypeError):
            wrong()
    other.clear()
    assert (len(other), repr(other), repr(cls({"k": 1}))) == (
        *(0, f"bound_containers.{name}({{}})"),
        f"bound_containers.{name}({{'k': 1.0}})",
    )


class Prices:
    """A mapping that makes its pairs itself."""

    def __init__(self, *pairs):
        self.pairs = pairs

    def keys(self):
        return [pair[0] for pair in self.pairs]

    def items(self):
        return iter(self.pairs)

    def __getitem__(self, key):
        return dict(self.pairs)[key]


@pytest.mark.parametrize("name", ["Map", "HashMap", "ConstMap"])
@pytest.mark.parametrize(
    "pairs",
    [[], [("a", 1)], [["a", 1], ("b", 2)], [(str(i), i) for i in range(100)]],
    ids=["none", "one", "two", "many"],
)
def test_maps_of_other_mappings(bound, name, pairs):
    cls = getattr(bound, name)
    expected = {key: float(value) for key, value in pairs}
    for mapping in (dict(pairs), OrderedDict(pairs), MappingProxyType(dict(pairs)), Prices(*pairs), cls(dict(pairs))):
        assert dict(cls(mapping).items()) == expected


def test_maps_of_mappings_that_do_not_fit(bound):
    for wrong, error in ((Prices(("a",)), IndexError), (Prices(3), TypeError), (Prices(("a", "b")), RuntimeError)):
        with pytest.raises(error):
            bound.Map(wrong)


def test_views_of_a_map(bound):
    m = bound.Map({"a": 1, "b": 2})
    keys, values, items = m.keys(), m.values(), m.items()
    assert (list(keys), list(values), list(items), len(keys)) == (["a", "b"], [1, 2], [("a", 1), ("b", 2)], 2)
    assert ("a" in keys, "c" in keys, 1 in keys, 1 in values, 5 in values) == (True, False, False, True, False)
    assert (("b", 2.0) in items, "hello" in items, ("b", 2, None) in items) == (True, False, False)
    m["c"] = 3
    assert (list(keys), list(values), items.__len__()) == (["a", "b", "c"], [1, 2, 3], 3)
    assert type(keys).__qualname__ == "Map.KeyView"
    del m
    collect_garbage()
    assert list(keys) == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["Map", "HashMap"])
def test_a_map_that_changes_invalidates_its_iterators(bound, name):
    m = getattr(bound, name)({str(i): i for i in range(10)})
    iterator = iter(m)
    next(iterator)
    m["x"] = 1
    with pytest.raises(RuntimeError, match="changed size"):
        next(iterator)
    del m["x"]
    with pytest.raises(RuntimeError, match="changed size"):
        next(iterator)
    iterator = iter(m.items())
    key, _ = next(iterator)
    del m[key]
    m["y"] = 0
    with pytest.raises(RuntimeError, match="keys changed"):
        next(iterator)
    for key in m:
        m[key] = 0
    assert set(m.values()) == {0.0}
    iterator = iter(m)
    assert len(list(iterator)) == 10
    m["new"] = 1
    with pytest.raises(StopIteration):
        next(iterator)


def test_other_maps(bound):
    only = bound.only_map(3)
    assert {key: value.value for key, value in only.items()} == {1: 10, 2: 20, 3: 30}
    only[1].value = 5
    assert [value.value for value in only.values()] == [5, 20, 30]
    copies = bound.ElementMap({1: bound.Element(7)})
    copies[1].a = 8
    assert copies[1].a == 7


@needs_threads
def test_threads_that_change_one_container_lose_nothing(bound):
    shared, n_threads, n = bound.Ints(), 4, 60

    def change(_):
        own = bound.Ints()
        for i in range(n):
            own.append(i)
            shared.extend(own)
            own[:] = own
            shared.count(i)
            _ = own == shared, bound.Ints(shared)
        return len(own)

    assert parallelize(change, n_threads) == [n] * n_threads
    assert len(shared) == n_threads * n * (n + 1) // 2


@needs_threads
def test_threads_read_containers_while_another_changes_them(bound):
    words, counts, n_threads, is_over = bound.Texts(), bound.HashMap(), 4, threading.Event()
    text = "a text of some length"

    def change():
        try:
            for i in range(300):
                words.extend(bound.Texts([text] * (i % 50)))
                counts[f"{text} {i % 50}"] = i
                if i % 50 == 49:
                    words.clear()
                    counts.clear()
        finally:
            is_over.set()

    def read():
        while not is_over.is_set():
            assert set(words) <= {text}
            assert len(words) >= 0
            with contextlib.suppress(IndexError):  # another thread has removed the item
                assert words[-1] == text
            with contextlib.suppress(RuntimeError):  # the keys changed
                assert all(key.startswith(text) and value >= 0 for key, value in counts.items())
            with contextlib.suppress(KeyError):
                assert counts[f"{text} 7"] % 50 == 7
            keys = counts.keys()
            assert text not in keys

    parallelize(lambda i: change() if i == 0 else read(), n_threads)


@pytest.mark.thread_unsafe(reason="warnings are recorded for all threads")
@pytest.mark.parametrize("name", ["Ints", "Map"])
@pytest.mark.parametrize("use", [list, repr, lambda room: type(room)(room)])
def test_a_container_without_a_value_is_not_converted_from_itself(bound, name, use):
    room = getattr(bound, name).__new__(getattr(bound, name))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises((RuntimeError, TypeError)):
            use(room)
    assert 1 <= len(caught) <= 4, [str(each.message) for each in caught]
    assert {str(each.message).partition(" of type")[0] for each in caught} == {
        "ffi_hpy: attempted to access an uninitialized instance"
    }
