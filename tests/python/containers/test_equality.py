"""Containers that compare equal have equal hashes; they equal Python's containers with equal contents."""

import collections
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import fractions
import types
from pathlib import Path

import pytest
from support import parallelize, unique_name

import ffi_hpy
from ffi_hpy import Array, Dict, List, Map, _ffi_api, convert
from ffi_hpy._containers import mapping
from ffi_hpy.core import MISSING
from ffi_hpy.dataclasses import py_class

CONTENTS = [
    (),
    (1, 2, 3),
    (True, 0, 1.0, -(2**62), 2**63 - 1),
    ("", "a", "a text that is longer than seven bytes", b"bytes"),
    (None, 1.5, float("inf"), -0.0),
    ((1, (2, "x")), (), ((),)),
    (2**70, -(2**70)),
]


@pytest.mark.parametrize("make", [Array, List])
@pytest.mark.parametrize("items", CONTENTS, ids=repr)
def test_a_sequence_equals_and_hashes_like_the_tuple_of_its_items(make, items):
    ours = make(items)
    assert ours == items
    assert items == ours
    assert (ours != items) is False
    assert hash(ours) == hash(items)
    assert {items: "found"}[ours] == "found"
    assert {ours: "found"}[items] == "found"
    assert ours == Array(items) == List(items)
    assert hash(Array(items)) == hash(List(items))


NUMBERS = [0, 1, True, False, 1.0, 0.0, -0.0, 1.5, 2, -1, -1.0, 2**53, 2.0**53, 2**53 + 1, 2**62, 2.0**62, 2**63 - 1]
NUMBERS += [2.0**63, 2**63, -(2**63), -(2.0**63), 2**64, 2.0**64, 2**64 + 1, 2**70, 2.0**70, -(2**70), -(2.0**70)]
NUMBERS += [3 * 2**200, 3.0 * 2.0**200, 3 * 2**200 + 1, 1e300, int(1e300), -1e300, -int(1e300), 5e-324, float("inf")]


def test_numbers_compare_by_value_whatever_their_types():
    for one in NUMBERS:
        for other in NUMBERS:
            is_equal = one == other
            ours, theirs = Array([one]), Array([other])
            assert (ours == theirs) is is_equal, (one, other)
            assert (ours == [other]) is is_equal, (one, other)
            assert (Map({"x": one}) == Map({"x": other})) is is_equal, (one, other)
            if is_equal:
                assert hash(ours) == hash(theirs) == hash((other,))
    nan = float("nan")
    assert Array([nan]) == Array([nan])
    assert hash(Array([nan])) == hash(Array([nan]))
    assert (Array([1]) == [True]) is (Array([1]) == Array([True])) is True
    assert Array([1]) != Array(["1"])
    assert Array([0]) != Array([None])


def test_nested_containers_compare_by_their_contents():
    assert Array([List([1]), {"a": (1,)}]) == List([(True,), Dict({"a": List([1])})])
    assert hash(Array([List([1]), {"a": (1,)}])) == hash(List([(True,), Dict({"a": List([1])})]))
    assert Array([[1], [2]]) != Array([[1], [3]])
    assert Array([[1]]) != Array([{}])
    assert Array([[1, 2]]) != Array([[1]])


@pytest.mark.parametrize("make", [Map, Dict])
def test_a_mapping_equals_mappings_with_equal_entries(make):
    for entries in ({}, {"a": 1, "b": [1, 2]}, {1: "x", "y": None}, {(1, 2): (3,)}, {"in": {"out": (1.0, True)}}):
        ours = make(entries)
        theirs = {key: tuple(value) if isinstance(value, list) else value for key, value in entries.items()}
        for other in (theirs, entries, Map(entries), Dict(entries), dict(reversed(list(theirs.items())))):
            if other is entries and entries != theirs:
                assert ours == other  # an Array equals a list, too
            assert ours == other
            assert other == ours
            assert (ours != other) is False
        assert hash(Map(entries)) == hash(Dict(entries))
        assert ours != {**theirs, "more": 1}
        assert ours != {**dict.fromkeys(theirs, 17), "z": 0}
    assert make({"a": 1}) != {"a": 2}
    assert make({"a": 1}) != {"b": 1}
    assert make({"a": 1}) != [("a", 1)]
    assert make({"a": 1}).__eq__("a") is NotImplemented


@pytest.mark.parametrize("make", [Map, Dict])
def test_keys_that_are_equal_numbers_are_equal(make):
    for one, other in (({1: 2}, {True: 2}), ({1: 2}, {1.0: 2}), ({0.0: "a", 2: "b"}, {False: "a", 2.0: "b"})):
        assert one == other
        assert make(one) == other == make(other) == make(one) == one
        assert hash(make(one)) == hash(make(other))
    assert make({1: 2}) != make({1.5: 2})
    assert make({1: 2}) != make({True: 3})


def test_maps_in_containers_compare_as_outside():
    twin = [(1, (2, "x")), frozenset([1]), 2**70, 1.5]
    pairs = [({1: 2}, {True: 2}), ({0.0: "a", 2: "b"}, {False: "a", 2.0: "b"}), ({2**70: 1}, {2.0**70: 1})]
    pairs += [({key: 1}, {key: 1}) for key in twin]
    pairs += [({1: 2, "x": {True: [3]}}, {True: 2, "x": {1: [3.0]}})]
    for one, other in pairs:
        for make in (Map, Dict):
            assert Map(one) == make(other)
            assert Array([Map(one), 1]) == Array([make(other), 1])
            assert Map({"in": [one]}) == make({"in": [other]})
            assert Array([Map(one), 1]) != Array([make(other), 2])
            assert Array([one]) != Array([{**other, "more": 1}])
            assert make(one) != make(dict.fromkeys(other, "else"))
        assert hash(Array([one])) == hash(Array([other]))
    assert Array([{1: 2}]) != Array([{2: 2}])
    assert Array([{None: 2}]) != Array([{"a": 2}])
    with pytest.raises(LookupError, match="no order"):
        _ = Array([{Broken(): 1}]) == Array([{Broken(): 1}])


class Broken:
    """A key that does not compare."""

    def __eq__(self, other):
        raise LookupError("no order")

    def __hash__(self):
        return 1


class Hashable(collections.abc.Sequence):
    """A sequence with a hash of its own."""

    def __init__(self, *items):
        self.items = items

    def __getitem__(self, i):
        return self.items[i]

    def __len__(self):
        return len(self.items)


class Unhashable(Hashable):
    """A sequence without a hash, and so without a hash that could differ from ours."""

    __hash__ = None


class HashableMapping(collections.abc.Mapping):
    """A mapping that compares and hashes by identity."""

    __eq__, __hash__ = object.__eq__, object.__hash__

    def __getitem__(self, key):
        return {"a": 1}[key]

    def __iter__(self):
        return iter("a")

    def __len__(self):
        return 1


@pytest.mark.parametrize("make", [Array, List])
def test_a_container_does_not_equal_a_sequence_with_another_hash(make):
    for other in (range(97, 98), memoryview(b"a"), b"a", bytearray(b"a"), Hashable(97)):
        assert make([97]) != other
        assert other != make([97])
    assert make(["a"]) != "a"
    Pair = collections.namedtuple("Pair", "x y")
    for other in ([1, 2], (1, 2), Pair(1, 2), collections.UserList([1, 2]), Unhashable(1, 2)):
        assert make([1, 2]) == other
        assert other == make([1, 2])
    assert hash(make([1, 2])) == hash(Pair(1, 2))


@pytest.mark.parametrize("make", [Map, Dict])
def test_a_mapping_does_not_equal_a_mapping_with_another_hash(make):
    assert make({"a": 1}) != HashableMapping()
    assert HashableMapping() != make({"a": 1})
    for other in (collections.UserDict({"a": 1}), collections.OrderedDict({"a": 1}), types.MappingProxyType({"a": 1})):
        assert make({"a": 1}) == other
        assert other == make({"a": 1})


def test_values_compare_in_every_position_as_they_do_in_python():
    @py_class(unique_name("equality.Number"), eq=True)
    class Number(ffi_hpy.Object):
        x: int

    day = datetime.date(2020, 1, 1)
    values = [1, True, 1.0, 0, -0.0, 2**70, 2.0**70, "a", "1", b"a", None, 1.5, Number(1), Number(1), day, 1j, 1 + 0j]
    values += [
        frozenset([1]),
        fractions.Fraction(1),
        float("inf"),
        (),
        (1, 2),
        range(2),
        "a longer text",
        b"longer bytes",
    ]
    for one in values:
        for other in values:
            is_equal = one == other
            assert (Array([one]) == List([other])) is is_equal, (one, other)
            assert (List([one]) == (other,)) is ((other,) == List([one])) is is_equal, (one, other)
            assert (Map({"k": one}) == Dict({"k": other})) is is_equal, (one, other)
            assert (Dict({"k": one}) == {"k": other}) is is_equal, (one, other)
            assert (Map({one: "v"}) == Dict({other: "v"})) is is_equal, (one, other)
            assert (Array([{one: "v"}]) == List([{other: "v"}])) is is_equal, (one, other)
            if is_equal:
                assert hash(Array([one])) == hash(List([other])) == hash((other,)), (one, other)
                assert hash(Array([{one: "v"}])) == hash(List([{other: "v"}])), (one, other)


def test_a_nan_equals_no_nan_of_python():
    nan = float("nan")
    for other in (nan, -nan, float("inf") - float("inf")):
        for container in ((other,), [other], (1, other)):
            assert Array(container) != container
            assert Array(container) == List(container)
            assert Array([container]) != (container,)
        assert hash(Array([other])) == hash(Array([nan]))


def test_objects_in_containers_compare_and_hash_as_in_a_tuple():
    @py_class(unique_name("equality.Point"))
    class Point(ffi_hpy.Object):
        x: int

    one, twin = Point(1), Point(1)  # they compare by identity
    for make in (Array, List):
        assert make([one, 1]) == make([one, True]) == (one, 1)
        assert (one, 1) == make([one, 1])
        assert make([one]) != make([twin])
        assert (make([one]) == (twin,)) is ((one,) == (twin,)) is False
        assert hash(make([one])) == hash((one,))
        assert {(one,): 1}[make([one])] == 1
        assert hash(make([[one], {"a": one}])) == hash(Array([(one,), Map({"a": one})]))
    assert Map({"a": one}) == Dict({"a": one}) == {"a": one}
    assert Map({"a": one}) != Map({"a": twin})
    assert Map({one: 1}) == Dict({one: 1}) == {one: 1}
    assert ffi_hpy._ffi_api.RecursiveEq(Array([one]), Array([twin]))  # the comparison by fields
    function, other = ffi_hpy.convert(lambda: 1), ffi_hpy.convert(lambda: 1)
    assert Array([function]) == Array([function])
    assert hash(Array([function])) == hash((function,))
    assert Array([function]) != Array([other])


def test_objects_in_containers_compare_by_the_rules_of_their_class():
    @py_class(unique_name("equality.Even"))
    class Even(ffi_hpy.Object):
        x: int

        def __eq__(self, other):
            if self.x < 0:
                raise LookupError("no sign")
            return self.x % 2 == (other.x if isinstance(other, Even) else other) % 2

        def __hash__(self):
            return self.x % 2

    class Same:
        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

    assert Array([Even(2), [Even(3)]]) == Array([Even(4), [Even(5)]])
    assert hash(Array([Even(2)])) == hash(Array([Even(4)])) == hash((Even(0),))
    assert Array([Even(2)]) != List([Even(3)])
    assert Array([Even(3), 7]) == Array([1, Even(1)])
    assert Array([Same(), "a long text of many bytes"]) == List([1, Same()])
    assert Map({"a": Even(2)}) == Dict({"a": 4})
    with pytest.raises(LookupError, match="no sign"):
        _ = Array([Even(-1)]) == Array([Even(2)])


def test_a_deep_container_of_objects_compares():
    class Equal:
        def __eq__(self, other):
            return isinstance(other, Equal)

    one, other = Array([Equal()]), Array([Equal()])
    for _ in range(20_000):
        one, other = Array([one]), Array([other])
    assert one == other
    assert Array([one, 1]) != Array([other, 2])


def test_equal_dataclasses_have_equal_hashes():
    @py_class(unique_name("equality.Equal"), eq=True)
    class Equal(ffi_hpy.Object):
        x: int

    assert Equal(1) == Equal(1)
    assert hash(Equal(1)) == hash(Equal(1))
    assert len({Equal(1), Equal(1), Equal(2)}) == 2
    assert Array([Equal(1)]) == (Equal(1),)
    assert hash(Array([Equal(1)])) == hash((Equal(1),))


def test_python_objects_compare_by_their_own_rules():
    one, two = object(), object()
    assert Array([one]) == Array([one]) == [one]
    assert hash(Array([one])) == hash((one,))
    assert Array([one]) != Array([two])
    assert Array([frozenset([1])]) == Array([frozenset([1])])
    assert Array([one, 1]) != Array([one, 2])
    assert Map({"a": one}) == Map({"a": one}) == {"a": one}
    assert Map({"a": one}) != Map({"a": two})


def test_shared_and_endless_containers_have_a_hash():
    shared = Array([1])
    for _ in range(80):
        shared = Array([shared, shared])
    assert hash(shared) == hash(shared)
    endless, other = List([1]), List([1])
    endless.append(endless)
    other.append(other)
    assert hash(endless) == hash(other)
    assert endless == other
    deep = Array([])
    for _ in range(20_000):
        deep = Array([deep])
    assert hash(deep) == hash(Array([deep[0]]))
    assert deep == Array([deep[0]])


# --- tuples and objects of Python as keys -----------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Map, Dict])
def test_a_tuple_key_is_found_again(make):
    values = {(1, 2): "a", (1, ("x", None)): "b", (): "c", "plain": "d"}
    ours = make(values)
    for key, value in values.items():
        assert ours[key] == value
        assert ours.get(key) == value
        assert key in ours
        assert key in list(ours.keys())
        assert (key, value) in ours.items()
    assert ours.get((9, 9)) is None
    assert ours.get((9, 9), 5) == 5
    assert (9, 9) not in ours
    with pytest.raises(KeyError) as caught:
        ours.__getitem__((9, 9))
    assert caught.value.args == ((9, 9),)
    assert [ours[key] for key in ours] == list("abcd")


def test_a_tuple_key_of_a_dict_is_replaced_and_removed():
    ours = Dict({})
    ours[1, 2] = "a"
    ours[1, 2] = "b"
    assert len(ours) == 1
    assert ours.setdefault((1, 2), "c") == "b"
    assert ours.setdefault((3,), "d") == "d"
    assert ours.pop((3,)) == "d"
    del ours[1, 2]
    assert len(ours) == 0
    with pytest.raises(KeyError):
        del ours[1, 2]
    assert ours.pop((1, 2), None) is None


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass(frozen=True)
class Place:
    x: int


OBJECTS_OF_PYTHON = [
    lambda: Path("a") / "b",
    lambda: Colour.RED,
    lambda: Place(1),
    lambda: datetime.date(2026, 1, 2),
    lambda: decimal.Decimal("1.5"),
    lambda: frozenset(["a"]),
    lambda: range(3),
    lambda: 2j,
    lambda: (Path("a"), Place(1)),
]


@pytest.mark.parametrize("make", [Map, Dict])
@pytest.mark.parametrize("new_key", OBJECTS_OF_PYTHON)
def test_a_key_that_is_an_object_of_python_is_found_again(make, new_key):
    ours = make({"plain": 1, Path("other"): 2, new_key(): 3, (1,): 4})
    assert ours[new_key()] == 3
    assert ours.get(new_key()) == 3
    assert new_key() in ours
    assert (new_key(), 3) in ours.items()
    assert [ours[key] for key in ours] == [1, 2, 3, 4]
    assert Place(2) not in ours
    assert ours.get(Place(2), "none") == "none"
    with pytest.raises(KeyError) as caught:
        ours.__getitem__(Place(2))
    assert caught.value.args == (Place(2),)


@pytest.mark.parametrize("new_key", OBJECTS_OF_PYTHON)
def test_a_key_of_a_dict_that_is_an_object_of_python_is_replaced_and_removed(new_key):
    ours = Dict({})
    ours[new_key()] = "a"
    ours[new_key()] = "b"
    assert len(ours) == 1
    assert ours.setdefault(new_key(), "c") == "b"
    ours.update({new_key(): "d"})
    assert ours.pop(new_key()) == "d"
    assert ours.pop(new_key(), None) is None
    ours[new_key()] = "e"
    assert ours.popitem() == (new_key(), "e")
    ours[new_key()] = "f"
    del ours[new_key()]
    assert len(ours) == 0
    with pytest.raises(KeyError):
        del ours[new_key()]


@pytest.mark.parametrize("put", [Dict.__setitem__, Dict.setdefault])
def test_a_key_that_is_added_during_the_comparisons_is_not_added_twice(put):
    """As if another thread had added it."""

    class Adding:
        def __eq__(self, other):
            if not isinstance(other, Adding) and to_add:
                put(ours, to_add.pop(), "first")
            return isinstance(other, Adding)

        def __hash__(self):
            return 1

    to_add = [Adding()]
    ours = Dict({Place(1): 0})
    put(ours, Adding(), "second")
    assert len(ours) == 2
    assert ours[Adding()] == ("second" if put is Dict.__setitem__ else "first")


def test_threads_that_set_one_key_that_is_an_object_of_python_make_one_entry():
    for _ in range(20):
        ours = Dict({})
        parallelize(lambda i: [ours.__setitem__(Path(str(n)), i) for n in range(5)], 4)  # noqa: B023
        assert sorted(ours) == [Path(str(n)) for n in range(5)]


def test_an_exception_of_a_comparison_of_keys_arrives():
    class Odd:
        def __eq__(self, other):
            raise ZeroDivisionError

        def __hash__(self):
            return 1

    with pytest.raises(ZeroDivisionError):
        Map({Place(1): 2}).get(Odd())


@pytest.mark.parametrize("value", [str.upper, ValueError("a")], ids=["callable", "exception"])
def test_a_key_that_becomes_another_object_at_each_use_is_refused_by_one_sentence(value):
    native = convert(value)
    ours = Dict({native: 1, (1, native): 2})
    assert (ours[native], ours[1, native]) == (1, 2)
    for key in (value, (1, value), ((value, 2.5),)):
        for use in (ours.__getitem__, ours.__contains__, ours.get, ours.pop, lambda key: ours.__setitem__(key, 2)):
            with pytest.raises(
                TypeError, match=r"becomes a new (Function|Error) at each use, .*, which the program keeps$"
            ):
                use(key)
    assert len(ours) == 2


def test_a_key_is_not_asked_whether_it_differs_from_itself():
    class Ambiguous:
        def __eq__(self, other):
            return Ambiguous()

        __ne__ = __eq__

        def __hash__(self):
            return 1

        def __bool__(self):
            raise TypeError("ambiguous")

    key = Ambiguous()
    assert Dict({key: 3})[key] == 3
    assert Dict().get(key) is None


def test_a_key_with_nan_is_found_again():
    nan = float("nan")
    for key in (nan, (nan,), (1, (nan, "a")), (decimal.Decimal("nan"),), (complex(1, nan),)):
        ours = Dict({key: 1})
        ours[key] = 2
        assert (len(ours), ours[key], key in ours, Map({key: 3})[key]) == (1, 2, True, 3)
        del ours[key]
        assert not ours
    ours = Dict({(nan, 1): 1})
    for key in ((nan, 2), (nan,), (1, nan), (nan, (1,)), (1.0, 1)):
        assert key not in ours


def test_native_keys_keep_the_rule_of_identity():
    one, two = Array([1, 2]), Array([1, 2])
    ours = Dict({})
    ours[one] = "one"
    ours[two] = "two"
    assert len(ours) == 2
    assert ours[one] == "one"
    assert ours[two] == "two"
    assert ours.get(Array([1, 2])) is None


def test_the_value_of_a_searched_key_may_be_the_mark_of_a_missing_value():
    entries = Dict()
    entries[1, 2] = MISSING
    assert MISSING.same_as(entries.setdefault((1, 2), 3))
    assert len(entries) == 1


class _OtherCore:
    """The functions of a core that lacks ours."""

    def __getattr__(self, name):
        if name == "DictPutSearched":
            raise AttributeError(name)
        return getattr(_ffi_api, name)


@pytest.mark.thread_unsafe(reason="it replaces the functions of the core for all threads")
def test_a_core_of_others_searches_keys_in_two_steps(monkeypatch):
    monkeypatch.setattr(mapping, "_ffi_api", _OtherCore())
    entries = Dict()
    entries[1, 2] = "a"
    assert entries.setdefault((1, 2), "b") == "a"
    assert entries.setdefault((3,), "c") == "c"
    entries[1, 2] = "d"
    assert entries == {(1, 2): "d", (3,): "c"}
