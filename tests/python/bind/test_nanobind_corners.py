"""Libraries that were written for nanobind: members that few of them use, and odd values for containers."""

from __future__ import annotations

import collections
import copy
import datetime
import math
import pickle

import pytest
from support import collect_garbage

from ffi_hpy import libinfo


@pytest.fixture(scope="module")
def corners(import_bound):
    return import_bound("nanobind_corners", f"-I{libinfo.find_nanobind_include_path()}")


class Referable:
    pass


class Unequal:
    def __eq__(self, other):
        return False

    __hash__ = None


# --- weak references --------------------------------------------------------------------------------------------------


def test_the_callback_of_a_weak_reference_releases_the_reference(corners):
    for _ in range(100):
        value, log = Referable(), []
        corners.call_at_end(value, log)
        assert log == []
        del value
        collect_garbage()
        assert len(log) == 1


def test_the_callback_of_a_weak_reference_gets_the_reference(corners):
    value, log = Referable(), []
    reference = corners.keep_reference(value, log)
    assert reference() is value
    del value
    collect_garbage()
    assert reference() is None
    assert log == [reference]


def test_a_weak_reference_calls_a_callable_of_python_or_nothing(corners):
    value, log = Referable(), []
    reference = corners.call_python_at_end(value, log.append)
    silent = corners.call_python_at_end(value, None)
    del value
    collect_garbage()
    assert log == [reference]
    assert silent() is None
    with pytest.raises(TypeError):
        corners.call_python_at_end(Referable(), 5)


# --- iterators --------------------------------------------------------------------------------------------------------


def test_an_iterator_of_a_container_skips_an_item_that_was_not_read(corners):
    assert corners.list_without_first([1, 2, 3]) == [2, 3]
    assert corners.tuple_without_first((1, 2, 3)) == [2, 3]
    assert corners.args_without_first(1, 2, 3) == [2, 3]
    assert corners.keys_without_first({"a": 1, "b": 2}) == ["b"]
    assert corners.list_without_first([]) == corners.tuple_without_first(()) == []
    assert corners.list_without_first([1]) == []


# --- exceptions -------------------------------------------------------------------------------------------------------


def test_a_format_has_the_letters_for_objects(corners):
    with pytest.raises(ValueError, match=r"^7% text ") as caught:
        corners.raise_formatted(["a"])
    assert str(caught.value) == r"7% text ['a'] ['a'] ä '\xe4'    lo| -3 1099511627776 4 x"


def test_a_format_of_a_chained_error_has_the_letters_for_objects(corners):
    with pytest.raises(KeyError) as caught:
        corners.raise_from_formatted("v")
    assert caught.value.args == ("name of 'v' after x",)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(RuntimeError, match=r"^chained to \(1, 'a'\)$") as caught:
        corners.chain_formatted((1, "a"))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


class Unprintable:
    def __repr__(self):
        raise LookupError("no repr")

    __str__ = __repr__


@pytest.mark.parametrize("name", ["raise_formatted", "raise_from_formatted", "chain_formatted"])
def test_an_object_without_a_text_replaces_the_error_of_the_format(corners, name):
    with pytest.raises(LookupError, match="no repr"):
        getattr(corners, name)(Unprintable())


def test_next_overload_is_a_builtin_exception(corners):
    assert corners.next_overload_is_an_exception()
    assert corners.overloaded(1) == corners.overloaded("a") == "second"
    assert corners.types_of_exceptions() == list(range(10))


def test_a_translator_does_not_get_exceptions_that_have_a_class_of_python(corners):
    with pytest.raises(ArithmeticError, match="translated"):
        corners.raise_logic_error()
    with pytest.raises(IndexError, match="builtin"):
        corners.raise_index_error()
    with pytest.raises(ZeroDivisionError):
        corners.call(lambda: 1 // 0)


class Unsized:
    def __len__(self):
        raise LookupError


def test_an_object_that_tells_no_length_has_the_hint_0(corners):
    assert [corners.hint(value) for value in ([1, 2], iter([1, 2, 3]), 5, Unsized())] == [2, 3, 0, 0]


# --- containers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda data: memoryview(data), list, tuple])
def test_a_vector_of_bytes_is_read_from_a_buffer(corners, make):
    for data in (b"", b"\x01\xff", bytes(range(100))):
        assert corners.sum_bytes(make(data)) == sum(data)
        assert corners.sum_bytes_as_they_are(make(data)) == sum(data)
        assert corners.count_objects(make(data)) == len(data)
        assert corners.choose(make(data)) == "vector"


def test_bytes_are_no_sequence_but_an_array(corners):
    for data in (b"", b"\x01\xff", bytes(range(100))):
        assert corners.choose(data) == "bytes"
        with pytest.raises(TypeError):
            corners.sum_bytes(data)
    for data in (b"\1\2\3", bytearray(b"\1\2\3"), memoryview(b"\1\2\3")):
        assert corners.sum_three(data) == 6
    with pytest.raises(TypeError):
        corners.sum_three(b"\1\2")
    with pytest.raises(TypeError):
        corners.sum_three("abc")


@pytest.mark.parametrize(
    "items",
    [
        *({"a": 1, "b": 2}, collections.OrderedDict(a=1, b=2), collections.UserDict(a=1, b=2), {"a": 1, "b": 2}.keys()),
        *("ab", ["b", "a"], {"a", "b"}, frozenset("ab")),
    ],
)
def test_a_set_is_read_from_every_iterable(corners, items):
    assert corners.texts(items) == ["a", "b"]
    assert sorted(corners.objects([items, items])) == ["a", "a", "b", "b"]


def test_a_set_of_numbers_is_read_from_every_iterable(corners):
    for items in ({1: "a", 2: "b"}, b"\1\2", bytearray(b"\1\2"), range(3), (i for i in (1, 2)), [1, 1, 2]):
        assert corners.numbers(items) == 3
    assert corners.numbers({}) == corners.numbers("") == 0
    for wrong in (5, None, "ab", {"a": 1}, 1.5):
        with pytest.raises(TypeError):
            corners.numbers(wrong)


class Mapping:
    """The methods of a mapping, without its base class."""

    def keys(self):
        return ["a"]

    def __getitem__(self, key):
        return {"a": 5}[key]

    def items(self):
        return [("a", 5)]


def test_a_map_is_read_from_an_object_with_the_methods_of_a_mapping(corners):
    assert corners.pairs(Mapping()) == [("a", 5)]
    assert corners.pairs(collections.ChainMap({"b": 1}, {"a": 2})) == [("a", 2), ("b", 1)]
    with pytest.raises(TypeError):
        corners.pairs(object())


def test_none_inside_of_a_container_is_a_null_pointer(corners):
    thing = corners.Thing(4)
    assert corners.shared({"a": None, "b": thing}) == [0, 4]
    assert corners.owned([None]) == [0]
    assert corners.callables([None, lambda: 3]) == [0, 3]
    assert corners.optional_pair((None, 1)) == 0
    assert [each if each is None else each.number for each in corners.Things([None, thing])] == [None, 4]
    for call in (corners.shared, corners.owned, corners.callables):
        with pytest.raises(TypeError):
            call(None)


def test_none_as_a_result_of_python_is_a_null_pointer(corners):
    assert corners.result_of(lambda: None) == corners.cast_pointer(None) == 0
    assert corners.result_of(lambda: corners.Thing(7)) == corners.cast_pointer(corners.Thing(7)) == 7


def test_an_array_without_numbers_is_a_wrong_argument(corners):
    numpy = pytest.importorskip("numpy", reason="NumPy has no wheel for this interpreter")
    for array in (numpy.array(["a", "b"]), numpy.array([1, "a"], dtype=object), numpy.array(["2020"], "M8[D]")):
        with pytest.raises(TypeError):
            corners.pairs(array)
    assert corners.texts(numpy.array(["b", "a"])) == ["a", "b"]


def test_a_float_of_milliseconds_has_all_its_digits(corners):
    for time in (
        datetime.timedelta(hours=25),
        datetime.timedelta(milliseconds=0.7),
        datetime.timedelta(microseconds=-1),
    ):
        assert corners.float_milliseconds(time) == time


def test_an_object_equals_itself_unless_it_is_nan(corners):
    assert corners.equal(math.nan, math.nan) == corners.equal(1.5, 2.5) == (False, True)
    assert corners.equal(1.5, 1.5) == corners.equal([1], [1]) == corners.equal(2**70, 2**70) == (True, False)
    strange = Unequal()
    assert corners.equal(strange, strange) == (True, False)
    assert corners.equal(strange, Unequal()) == (False, True)


def test_a_property_is_copied_as_itself_and_not_pickled(corners):
    number = corners.Thing.number
    assert copy.copy(number) is number
    assert copy.deepcopy(number) is number
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="cannot pickle"):
            pickle.dumps(number, protocol)


@pytest.mark.parametrize("name", ["hint", "sum_bytes", "overloaded"])
def test_a_function_for_objects_has_the_module_of_the_library(corners, name):
    function = getattr(corners, name)
    assert function.__module__ == "nanobind_corners"
    assert pickle.loads(pickle.dumps(function)) == function
