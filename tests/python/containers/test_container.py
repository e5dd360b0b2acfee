"""Array, List, Map and Dict, and the conversion of lists, tuples and dicts to them."""

import copy
import gc
import itertools
import platform
import subprocess
import sys

import pytest
from support import CALLS_COPY_LISTS, IS_OVER_CFFI, IS_PYPY, NO_GIL, parallelize, run_python, unique_name

import ffi_hpy
from ffi_hpy import Array, Dict, List, Map


def nested(depth, leaf, wrap):
    value = leaf
    for _ in range(depth):
        value = wrap(value)
    return value


# --- Array ----------------------------------------------------------------------------------------------------------


def test_an_array_is_a_sequence():
    array = Array([10, "twenty", None, 40.0])
    assert len(array) == 4
    assert list(array) == [10, "twenty", None, 40.0]
    assert list(reversed(array)) == [40.0, None, "twenty", 10]
    assert (array[0], array[-1], array[True]) == (10, 40.0, "twenty")
    assert "twenty" in array
    assert "thirty" not in array
    assert array.index(None) == 2
    assert array.count(10) == 1


@pytest.mark.parametrize("index", [3, -4, 10**9, -(10**9), 2**70])
def test_an_index_out_of_range_is_an_index_error(index):
    with pytest.raises(IndexError, match=f"{index} is out of range for 3 items"):
        Array([1, 2, 3])[index]


@pytest.mark.parametrize("index", ["0", 1.0, None], ids=repr)
def test_an_index_of_the_wrong_type_is_a_type_error(index):
    with pytest.raises(TypeError, match=f"must be integers or slices, not {type(index).__name__}"):
        Array([1, 2, 3])[index]


@pytest.mark.parametrize("s", [slice(None), slice(1, 3), slice(None, None, -1), slice(-2, None), slice(5, 9)], ids=str)
def test_a_slice_is_a_list(s):
    values = [1, "two", 3.0, None]
    assert Array(values)[s] == values[s]
    assert type(Array(values)[s]) is list


def test_arrays_compare_by_their_items():
    assert Array([1, [2, "x"]]) == Array([1, [2, "x"]])
    assert Array([1, 2]) == [1, 2]
    assert (1, 2) == Array([1, 2])  # noqa: SIM300 - the test is about the order
    assert Array([1, 2]) != [1, 2, 3]
    assert Array([1, 2]) != [1, 3]
    assert Array(["a"]) != "a"
    assert hash(Array([1, "x"])) == hash(Array((1, "x")))


@pytest.mark.parametrize("make", [Array, List], ids=["Array", "List"])
def test_an_item_is_found_where_a_list_finds_it(make):
    items, ours = [1, "a", 1, None, "a"], make([1, "a", 1, None, "a"])
    for value in [1, "a", None]:
        assert ours.index(value) == items.index(value)
    assert (ours.index("a", 2), ours.index(1, -3), ours.index(1, 1, 3)) == (4, 2, 2)
    for args in [(2,), ("a", 2, 4), (1, 3), (None, 0, 3)]:
        with pytest.raises(ValueError, match=rf"{make.__name__}\.index\(x\): no item equals x"):
            ours.index(*args)


def test_an_error_of_a_comparison_comes_out_of_a_search():
    class Refusing:
        def __eq__(self, other):
            raise ValueError("mine")

        __hash__ = None

    with pytest.raises(ValueError, match="mine"):
        Array([1]).index(Refusing())


def test_arrays_can_be_added():
    assert Array([1]) + Array([2]) == [1, 2]
    assert Array([1]) + (2,) == [1, 2]  # noqa: RUF005
    assert [0] + Array([1]) == [0, 1]  # noqa: RUF005
    assert type([0] + Array([1])) is Array  # noqa: RUF005


@pytest.mark.parametrize("cls", [Array, List])
def test_an_operand_without_items_may_know_the_sum(cls):
    class Other:
        def __add__(self, items):
            return ("other + items", *items)

        def __radd__(self, items):
            return (*items, "items + other")

    assert cls([1]) + Other() == (1, "items + other")
    assert Other() + cls([1]) == ("other + items", 1)
    for add in (lambda: cls([1]) + 5, lambda: 5 + cls([1])):
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+"):
            add()


def test_an_array_is_made_of_any_iterable():
    assert list(Array()) == []
    assert not Array()
    assert Array(iter("ab")) == ["a", "b"]
    assert Array(range(100)) == list(range(100))
    assert Array(Array([1, 2])) == [1, 2]
    with pytest.raises(TypeError):
        Array(3)


def test_an_array_cannot_be_changed():
    array = Array([1, 2])
    with pytest.raises(TypeError):
        array[0] = 3
    with pytest.raises(AttributeError):
        array.append(3)


def test_an_array_shows_its_items():
    assert repr(Array([1, "x"])) == '(1, "x")'


def test_lists_and_tuples_arrive_as_arrays(testing):
    assert type(testing.echo([1])) is Array
    assert type(testing.echo((1,))) is Array
    assert testing.apply(lambda x: type(x) is Array, [1]) is True
    with pytest.raises(TypeError):
        testing.schema_id_arr_int(["x"])


def test_objects_keep_their_identity_in_containers(classes):
    pair = classes.TestIntPair(1, 2)
    assert Array([pair])[0].same_as(pair)
    assert Map({"a": pair})["a"].same_as(pair)
    assert type(Array([pair])[0]) is classes.TestIntPair


# --- Map ------------------------------------------------------------------------------------------------------------


def test_a_map_is_a_mapping_in_insertion_order():
    source = {"b": 1, "a": [2], 3: "c", None: None, b"bytes": 1.5}
    m = Map(source)
    assert len(m) == 5
    assert list(m) == list(m.keys()) == list(source)
    assert list(m.values()) == list(source.values())
    assert list(m.items()) == list(source.items())
    assert m["a"] == [2]
    assert "b" in m
    assert "z" not in m
    assert m.get("b") == 1
    assert m.get("z") is None
    assert m.get("z", 7) == 7
    assert dict(m) == source


def test_a_large_map_keeps_its_order():
    source = {f"key number {i}": i for i in range(1000)}
    assert list(Map(source).items()) == list(source.items())
    assert Map(source)["key number 567"] == 567


@pytest.mark.parametrize("key", ["z", 1, None, 1.5, b"a"], ids=repr)
def test_a_missing_key_is_a_key_error(key):
    with pytest.raises(KeyError) as caught:
        Map({"a": 1})[key]
    assert caught.value.args == (key,)


def test_keys_are_distinguished_by_type():
    m = Map({"1": "text", 1: "int"})
    assert (m["1"], m[1]) == ("text", "int")
    assert 1.0 not in m


def test_maps_compare_by_their_entries():
    assert Map({"a": 1, "b": [2]}) == Map({"b": [2], "a": 1})
    assert Map({"a": 1}) != Map({"a": 2})
    assert Map({"a": 1}) != 3
    assert hash(Map({"a": 1, "b": 2})) == hash(Map({"b": 2, "a": 1}))


def test_views_of_a_map_work_like_those_of_a_dict():
    m = Map({"a": 1, "b": 2})
    assert m.keys() & {"a", "z"} == {"a"}
    assert ("a", 1) in m.items()
    assert 2 in m.values()
    assert (len(m.keys()), len(m.values()), len(m.items())) == (2, 2, 2)


def test_an_empty_map_is_false():
    assert not Map()
    assert not Map({})
    assert list(Map().items()) == []
    assert repr(Map({"a": 1})) == '{"a": 1}'


def test_dicts_arrive_as_maps(testing):
    assert type(testing.echo({"a": 1})) is Map
    assert dict(testing.schema_id_map_str_int({"a": 1})) == {"a": 1}
    with pytest.raises(TypeError):
        testing.schema_id_map_str_int({"a": "x"})


def test_a_map_is_made_of_a_mapping_only():
    for cls in (Map, Dict):
        with pytest.raises(AttributeError, match="items"):
            cls([(1, 2)])


# --- List -----------------------------------------------------------------------------------------------------------

SLICES = [(None, None), (1, 3), (3, 1), (-2, None), (5, 9), (0, 0), (None, None, -1), (1, None, 2), (-1, 0, -2)]


def test_a_list_changes_like_a_list():
    ours, theirs = List("abc"), list("abc")
    for changed in (ours, theirs):
        changed.append("d")
        changed.insert(1, "e")
        changed.insert(-100, "f")
        changed.insert(100, "g")
        changed[2] = "h"
        changed[-1] = None
        changed.extend(["i", 2])
        changed += [3]
        del changed[0], changed[-2]
        changed.reverse()
        changed.remove("i")
    assert list(ours) == theirs
    assert [ours.pop(), ours.pop(0), ours.pop(-1)] == [theirs.pop(), theirs.pop(0), theirs.pop(-1)]
    assert list(ours) == theirs
    ours.clear()
    assert len(ours) == 0
    assert not ours


@pytest.mark.parametrize("bounds", SLICES, ids=str)
def test_slices_of_a_list_work_like_those_of_a_list(bounds):
    s, values = slice(*bounds), [0, "1", 2.0, None, 4]
    assert List(values)[s] == values[s]
    ours, theirs = List(values), list(values)
    fresh = ["new"] * len(values[s]) if s.step else ["x", "y"]
    ours[s] = theirs[s] = fresh
    assert list(ours) == theirs
    del ours[s], theirs[s]
    assert list(ours) == theirs


BOUNDS = (None, -(2**70), -3, -1, 0, 1, 4, 2**70)


@pytest.mark.parametrize("step", [None, 1, 2, -1, -3, 2**70, -(2**70)])
def test_slices_of_a_list_are_those_of_a_python_list(step):
    for n, start, stop in itertools.product((0, 1, 5), BOUNDS, BOUNDS):
        s = slice(start, stop, step)
        for new in ("", "xyz", "x" * len(range(n)[s])):
            ours, theirs, refusals = List(range(n)), list(range(n)), []
            for changed in (ours, theirs):
                try:
                    changed[s] = new
                except ValueError as error:
                    refusals.append(str(error))
            assert (n, s, list(ours)) == (n, s, theirs)
            assert len(refusals) in (0, 2)
            assert refusals[:1] == refusals[1:]
        ours, theirs = List(range(n)), list(range(n))
        del ours[s], theirs[s]
        assert (n, s, list(ours)) == (n, s, theirs)


@pytest.mark.parametrize("wrong", [slice("a"), slice(None, 1.5), slice(None, None, 0), slice(None, None, "a")])
def test_a_wrong_slice_of_a_list_raises_the_error_of_a_python_slice(wrong):
    with pytest.raises((TypeError, ValueError)) as python:
        wrong.indices(1)
    for change in (lambda items: items.__setitem__(wrong, [1]), lambda items: items.__delitem__(wrong)):
        with pytest.raises(python.type) as ours:
            change(List([1]))
        assert str(ours.value) == str(python.value)


@pytest.mark.parametrize("cls", [Array, List])
def test_a_sequence_is_read_from_the_end(cls):
    for n in (0, 1, 16, 17, 64, 65, 200):
        assert list(reversed(cls(range(n)))) == list(range(n))[::-1]


def test_an_item_is_removed_by_equality_and_objects_stay_the_same():
    inner, text = List([1]), "a text of more than seven bytes"
    ours = List([text, inner, 1, text, {"a": object()}, inner])
    ours.remove(text)
    ours.remove(1.0)
    ours.remove(inner)
    assert len(ours) == 3
    assert ours[0] == text
    assert ours[2].same_as(inner)
    opaque = ours[1]["a"]
    ours.append(opaque)
    ours.remove(opaque)
    assert len(ours) == 3


def test_a_list_is_extended_by_a_sequence_whole_or_not_at_all():
    ours = List([1])
    with pytest.raises(UnicodeEncodeError):
        ours.extend([2, "\ud800"])
    assert list(ours) == [1]
    with pytest.raises(UnicodeEncodeError):
        ours.extend(iter([2, "\ud800"]))
    assert list(ours) == [1, 2]


def test_a_list_can_be_put_into_itself():
    ours = List([0, 1, 2])
    ours[1:2] = ours
    assert list(ours) == [0, 0, 1, 2, 2]
    ours.extend(ours)
    assert list(ours) == [0, 0, 1, 2, 2] * 2


def test_unsupported_operations_of_a_list_give_the_reason():
    ours = List([1, 2, 3])
    with pytest.raises(IndexError, match="3 is out of range for 3 items"):
        ours[3] = 0
    with pytest.raises(IndexError, match="-4 is out of range for 3 items"):
        del ours[-4]
    with pytest.raises(TypeError, match="must be integers or slices, not str"):
        ours["0"] = 0
    with pytest.raises(ValueError, match="size 1 to extended slice of size 2"):
        ours[::2] = [1]
    with pytest.raises(IndexError, match="pop from empty List"):
        List().pop()
    with pytest.raises(IndexError, match="7 is out of range"):
        ours.pop(7)
    with pytest.raises(ValueError, match="no item equals x"):
        ours.remove(4)
    with pytest.raises(TypeError):
        List(3)
    assert list(ours) == [1, 2, 3]


class Failing:
    """A value whose conversion raises an IndexError."""

    def __tvm_ffi_object__(self):
        raise IndexError("mine")


@pytest.mark.parametrize(
    "change",
    [
        lambda ours, value: ours.__setitem__(0, value), lambda ours, value: ours.__setitem__(-1, value),
        lambda ours, value: ours.insert(0, value), lambda ours, value: ours.insert(-1, value),
        lambda ours, value: ours.append(value),
    ],
    ids=["set", "set from the end", "insert", "insert from the end", "append"],
)  # fmt: skip
def test_an_index_error_of_a_value_is_not_taken_for_one_of_the_list(change):
    ours = List([1, 2])
    with pytest.raises(IndexError, match=r"^mine$"):
        change(ours, Failing())
    assert list(ours) == [1, 2]


def test_a_value_is_converted_once_and_its_position_found_afterwards():
    ours = List([1, 2])
    n_conversions = 0

    class Growing:
        def __tvm_ffi_object__(self):
            nonlocal n_conversions
            n_conversions += 1
            ours.append(3)
            return Array(["new"])

    ours[-1] = Growing()
    assert list(ours) == [1, 2, Array(["new"])]
    assert n_conversions == 1


def test_a_type_error_of_an_index_comes_out():
    class Index:
        def __index__(self):
            raise TypeError("mine")

    for use in (lambda: List([1])[Index()], lambda: List([1]).insert(Index(), 2), lambda: Array([1])[Index()]):
        with pytest.raises(TypeError, match=r"^mine$"):
            use()


def test_a_list_is_shared():
    ours = List([1])
    alias = Array([ours])[0]
    alias.append(2)
    assert list(ours) == [1, 2]
    assert type(alias) is List


def test_lists_compare_with_other_sequences():
    assert List([1, [2]]) == List([1, [2]])
    assert List([1]) != Array([2])
    assert List([1, "x"]) == Array([1, "x"])
    assert Array([1, List([2])]) == List([1, List([2])])
    assert List([1, 2]) == [1, 2] == List((1, 2))
    assert List([1]) + [2] == List([1, 2])  # noqa: RUF005
    assert type([1] + List([2])) is List  # noqa: RUF005
    assert hash(List([1, "x"])) == hash(List([1, "x"]))


def test_changes_of_a_list_do_not_change_a_running_iteration():
    for n in (3, 100):
        ours = List(range(n))
        seen = []
        for item in ours:
            seen.append(item)
            ours.append(n)
            ours[0] = "changed"
        assert seen == list(range(n))
        assert len(ours) == 2 * n


@pytest.mark.parametrize(
    "change",
    [lambda x: x and x.pop(), List.clear, lambda x: x.append(9), lambda x: x.insert(0, 9)],
    ids=["pop", "clear", "append", "insert"],
)
def test_changes_of_a_list_do_not_change_a_running_reversed_iteration(change):
    changing, seen = List(range(200)), []
    for item in reversed(changing):
        seen.append(item)
        change(changing)
    assert seen == list(range(199, -1, -1))


def test_a_list_can_be_read_while_threads_change_it():
    shared = List(range(100))

    def work(thread):
        for i in range(200):
            if thread == 0:
                shared.append(i)
            elif thread == 1:
                shared.pop()
                shared.insert(-1, i)
            else:
                items = [*shared, *shared[:10], shared[-1]]
                assert all(type(item) is int for item in items)
                assert "x" not in shared
        return True

    assert parallelize(work) == [True] * 4


def test_threads_that_change_one_list_lose_nothing():
    shared, n_items = List(), 500

    def work(thread):
        popped = []
        for i in range(n_items):
            shared.append((thread, i))
            shared.insert(0, (thread, -i - 1))
            if i % 2:
                popped += [shared.pop(), shared.pop(0)]
        return popped

    popped = [tuple(item) for items in parallelize(work) for item in items]
    left = [tuple(item) for item in shared]
    assert sorted(popped + left) == sorted((t, i) for t in range(4) for i in range(-n_items, n_items))


# --- reading --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 127, 128, 129, 1000])
def test_containers_of_any_size_can_be_iterated_over(n):
    values = [(i, str(i), None, i / 2)[i % 4] for i in range(n)]
    assert list(Array(values)) == list(List(values)) == values
    assert list(reversed(Array(values))) == values[::-1]
    for mapping in (Map, Dict):
        ours = mapping({str(i): value for i, value in enumerate(values)})
        assert list(ours) == list(ours.keys()) == [str(i) for i in range(n)]
        assert list(ours.values()) == values
        assert list(ours.items()) == [(str(i), value) for i, value in enumerate(values)]
        assert len(ours) == len(ours.items()) == n


@pytest.mark.skipif(
    not ffi_hpy._core.HAS_EXTENSION or IS_OVER_CFFI or IS_PYPY, reason="looks into the interpreter's iterators"
)
@pytest.mark.skipif(NO_GIL and sys.version_info < (3, 14), reason="the iterator is that of one list there")
@pytest.mark.parametrize("method", ["__iter__", "_iter_values", "_iter_items"])
def test_threads_that_share_the_iterator_of_a_map_get_each_entry_once_and_whole(method):
    # Not through the iterator itself: without a GIL, the iterator of a list may return an item twice.
    for _ in range(5):
        n = 64 * 40 + 7
        iterator = getattr(Map({i: i for i in range(n)}), method)()
        (source,) = [found for found in gc.get_referents(iterator) if type(found).__name__ == "callable_iterator"]
        (chunks,) = [found for found in gc.get_referents(source) if type(found).__name__ == "_Chunks"]
        lists = parallelize(lambda _, read=chunks: list(iter(read, [])))
        found = [entry for chunks_of_thread in lists for chunk in chunks_of_thread for entry in chunk]
        if method == "_iter_items":
            assert all(key == value for key, value in found)
            found = [key for key, _ in found]
        assert sorted(found) == list(range(n))


def test_iterators_outlive_their_containers():
    iterators = [iter(Array(range(200))), iter(List(range(200))), iter(Map(dict.fromkeys(range(200), 0)))]
    assert [list(one) for one in iterators] == [list(range(200))] * 3
    first = iter(Array(range(200)))
    assert [next(first) for _ in range(70)] == list(range(70))
    assert list(first) == list(range(70, 200))
    assert list(first) == []


@pytest.mark.parametrize("n", [3, 10, 40, 200])
def test_an_iterator_goes_on_after_its_container_was_moved_away(testing, n):
    for container in (Array(range(n)), List(range(n)), Map({i: -i for i in range(n)}), Dict({i: -i for i in range(n)})):
        iterator = iter(container)
        assert next(iterator) == 0
        testing.echo(container._move())
        with pytest.raises(ValueError, match="no native object"):
            iter(container)
        assert list(iterator) == list(range(1, n))


@pytest.mark.skipif(NO_GIL, reason="without a GIL, the iterator of a list may return an item twice")
@pytest.mark.parametrize("make", [Array, lambda values: Map(dict.fromkeys(values, 0))], ids=["array", "map"])
def test_threads_that_share_an_iterator_get_each_item_once(make):
    for n in (10, 64 * 40 + 7):
        iterator = iter(make(range(n)))
        found = parallelize(lambda _, iterator=iterator: list(iterator))
        assert sorted(item for items in found for item in items) == list(range(n))


def test_an_item_that_is_read_from_a_moved_container_is_refused(testing):
    for container in (Array([[1], 2]), List([[1], 2]), Map({0: [1], 1: 2}), Dict({0: [1], 1: 2})):
        assert list(container[0]) == [1]
        assert container[1] == 2
        testing.echo(container._move())
        for key in (0, 1, -1):
            with pytest.raises(ValueError, match="no native object"):
                container[key]


class Equal:
    def __eq__(self, other):
        return other == 3

    __hash__ = None


NUMBERS = [1, True, 0, 2.5, 2, 2**53, 2**53 + 1, -1, 2**70, float("nan")]
OTHERS = [None, "a", "text that is long", b"a", Equal(), [1, 2]]
ITEMS = ([], [1, "a"], [1.0, False], ["text that is long", None, b"a"], [2.0**53, 2.5], [3], [[1, 2], -1], ["1"])


@pytest.mark.parametrize("make", [Array, List])
@pytest.mark.parametrize("value", NUMBERS + OTHERS, ids=repr)
def test_a_sequence_contains_the_items_that_a_list_would(make, value):
    for items in ITEMS:
        expected = value in [Array(item) if isinstance(item, list) else item for item in items]
        assert (value in make(items)) is expected, items


def test_containers_are_made_of_one_argument():
    assert list(Array(input_list=[1])) == list(List(input_list=(1,))) == [1]
    assert dict(Map(input_dict={1: 2})) == dict(Dict(input_dict={1: 2})) == {1: 2}
    assert len(Dict(None)) == len(Map()) == len(Array()) == len(List()) == 0
    for make in (Array, List, Map, Dict):
        with pytest.raises(TypeError, match="at most 1, got 2 arguments"):
            make([], [])
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            make(wrong=1)
        with pytest.raises(TypeError, match="multiple values for argument 'input_"):
            make([], **{"input_list" if make in (Array, List) else "input_dict": []})
    with pytest.raises(ZeroDivisionError):
        Array(1 // 0 for _ in range(3))


def test_a_container_without_a_native_object_or_with_another_refuses_to_be_used(testing):
    for make in (Array, List, Map, Dict):
        empty = make.__new__(make)
        for use in (len, iter, lambda x: x[0], lambda x: 1 in x):
            with pytest.raises(ValueError, match=f"this {make.__name__} has no native object"):
                use(empty)
    odd = Array.__new__(Array)
    odd.__init_handle_by_constructor__(testing.echo, Map({0: 1}))
    for use in (len, iter, lambda x: x[0], lambda x: 1 in x):
        with pytest.raises(TypeError, match="the native object of this Array is not an Array or List"):
            use(odd)
    odd = Dict.__new__(Dict)
    odd.__init_handle_by_constructor__(testing.echo, Array([1]))
    for use in (len, iter, lambda x: x[0], lambda x: 1 in x):
        with pytest.raises(TypeError, match="the native object of this Dict is not a Map or Dict"):
            use(odd)


def test_subclasses_of_containers_work_like_them():
    class Numbers(List):
        def total(self):
            return sum(self)

        def __getitem__(self, index):
            return ("item", super().__getitem__(index))

    ours = Numbers(range(5))
    ours.append(5)
    ours[0] = 10
    assert ours.total() == 25
    assert ours[0] == ("item", 10)
    assert len(ours) == 6
    assert type(ours + [1]) is Numbers  # noqa: RUF005


# --- Dict -----------------------------------------------------------------------------------------------------------


def test_a_dict_changes_like_a_dict():
    ours, theirs = Dict({"a": 1}), {"a": 1}
    for changed in (ours, theirs):
        changed["b"] = [2]
        changed[3] = None
        changed.update({"a": 5, "d": 6})
        changed.setdefault("e", 7)
        changed.setdefault("e", 8)
        del changed["b"]
    assert dict(ours) == theirs
    assert list(ours.items()) == list(theirs.items())
    assert (ours.pop("a"), ours.pop("a", 9)) == (5, 9)
    assert ours.get("zz", 1) == 1
    assert "d" in ours
    ours.clear()
    assert dict(ours) == {}
    assert not ours


def test_a_default_is_the_value_that_the_dict_has():
    ours = Dict({"a": 1})
    assert ours.setdefault("a", 2) == 1
    assert ours.setdefault("n") is None
    made = ours.setdefault("list", [1, 2])
    assert isinstance(made, Array)
    assert made.same_as(ours["list"])
    assert ours.setdefault(key="list", default=3).same_as(made)
    for wrong in ((), (1, 2, 3)):
        with pytest.raises(TypeError):
            ours.setdefault(*wrong)
    for i in range(100):
        assert ours.setdefault(i, i + 1) == ours.setdefault(i, 0) == i + 1


def test_a_dict_accepts_the_updates_that_a_python_dict_accepts():
    ours, theirs = Dict(), {}
    for changed in (ours, theirs):
        changed.update({"a": 1}, b=2)
        changed.update([("c", 3)])
        changed.update()
        changed.update(self=4, other=5)
        changed.update(dict.fromkeys("ae", 6).items())
    assert dict(ours) == theirs
    ours.update(Map({"a": 7}))
    ours.update(Dict({"f": 8}))
    assert (ours["a"], ours["f"]) == (7, 8)


def test_views_look_like_those_of_a_python_mapping():
    for cls in (Map, Dict):
        made = cls({"a": 1, "b": float("nan")})
        assert repr(made.keys()) == f"KeysView({made!r})"
        assert repr(made.values()) == f"ValuesView({made!r})"
        assert repr(made.items()) == f"ItemsView({made!r})"
        assert 1.0 in made.values()
        assert "a" not in made.values()
        assert ("a", 1) in made.items()
        assert made.keys() | {"c"} == {"a", "b", "c"}


@pytest.mark.parametrize("use", ["ours['z']", "ours.pop('z')", "ours.__delitem__('z')"])
def test_a_key_that_a_dict_lacks_is_a_key_error(use):
    with pytest.raises(KeyError) as caught:
        eval(use, {"ours": Dict({"a": 1})})
    assert caught.value.args == ("z",)


@pytest.mark.parametrize("method", ["get", "pop"])
@pytest.mark.parametrize(
    ("args", "keywords", "message"),
    [
        ((1,), {"defualt": 2}, "unexpected keyword argument 'defualt'"),
        ((1,), {"default\0": 2}, "unexpected keyword argument 'default"),
        ((), {"default": 2}, "missing (1 )?required (positional )?argument: 'key'"),
        ((1,), {"key": 1}, "multiple values for argument 'key'"),
        ((1, 2, 3), {}, "(got 3 arguments|but 4 were given)"),
    ],
    ids=["unknown", "nul", "missing", "twice", "too many"],
)
def test_wrong_arguments_of_get_and_pop_are_named(method, args, keywords, message):
    with pytest.raises(TypeError, match=rf"^(Dict\.)?{method}\(\) .*{message}"):
        getattr(Dict({1: 1}), method)(*args, **keywords)
    assert getattr(Dict({1: 2}), method)(key=1, default=3) == 2
    assert getattr(Dict({1: 2}), method)(2, default=3) == 3


def test_a_dict_is_shared():
    ours = Dict()
    alias = Array([ours])[0]
    alias["a"] = 1
    assert ours["a"] == 1
    assert type(alias) is Dict


def test_dicts_compare_by_their_entries():
    assert Dict({"a": 1, "b": [2]}) == Dict({"b": [2], "a": 1})
    assert Dict({"a": 1}) != Dict({"a": 2})
    assert hash(Dict({"a": 1, "b": 2})) == hash(Dict({"b": 2, "a": 1}))


def test_a_missing_key_that_is_a_tuple_or_none_is_the_argument_of_its_error():
    for key in ((1, 2), (), None):
        with pytest.raises(KeyError) as caught:
            Dict({"a": 1})[key]
        assert caught.value.args == (key,)


@pytest.mark.skipif(
    IS_PYPY or IS_OVER_CFFI, reason="there every call uses its arguments, and no hook of the call moves them away"
)
@pytest.mark.parametrize("passed", [lambda key: key, lambda key: key._move()], ids=["key", "moved key"])
def test_the_hook_of_a_key_may_move_the_searched_dict_away(passed):
    asked = []

    @ffi_hpy.dataclasses.py_class(unique_name("Key"))
    class Key(ffi_hpy.Object):
        number: int

        def __any_hash__(self):
            if asked:
                Dict({}).__move_handle_from__(asked.pop())
            return self.number

        def __any_equal__(self, other):
            return self.number == other.number

    ours = Dict({Key(i): i for i in range(6)})
    asked.append(ours)
    assert ours[passed(Key(3))] == 3
    with pytest.raises(ValueError, match="no native object"):
        len(ours)


def test_changes_of_a_dict_do_not_change_a_running_iteration():
    for n in (3, 100):
        ours = Dict({str(i): i for i in range(n)})
        seen = []
        for key, value in ours.items():
            seen.append((key, value))
            ours.clear()
            ours["other"] = 1
        assert seen == [(str(i), i) for i in range(n)]
        assert dict(ours) == {"other": 1}


def test_entries_are_taken_from_the_first_one_on():
    ours = Dict({"a": 1, "b": 2})
    assert [ours.popitem(), ours.popitem()] == [("a", 1), ("b", 2)]
    with pytest.raises(KeyError, match="the Dict is empty"):
        ours.popitem()


def test_threads_that_take_entries_get_each_once():
    shared = Dict({i: i for i in range(400)})
    taken = parallelize(lambda _: [shared.popitem() for _ in range(100)])
    assert sorted(entry for entries in taken for entry in entries) == [(i, i) for i in range(400)]
    assert not shared


def test_threads_that_pop_one_key_get_it_once():
    for _ in range(100):
        shared = Dict({"a": 1})
        assert sorted(parallelize(lambda _, shared=shared: shared.pop("a", 0))) == [0, 0, 0, 1]


def test_threads_that_change_one_dict_lose_nothing():
    shared, n_keys = Dict(), 300

    def work(thread):
        for i in range(n_keys):
            shared[f"key {thread} {i}"] = i
            if i % 3 == 0:
                del shared[f"key {thread} {i}"]
            list(shared.items())[:5]

    parallelize(work)
    assert dict(shared) == {f"key {t} {i}": i for t in range(4) for i in range(n_keys) if i % 3}


# --- nesting --------------------------------------------------------------------------------------------------------

# On an emulated machine PyPy's stack may end before the limit of the conversion.
IS_EMULATED_PYPY = IS_PYPY and platform.machine() != "x86_64"
TOO_DEEP = (ValueError, RecursionError) if IS_EMULATED_PYPY else ValueError


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 1000])
def test_containers_of_any_size_go_in(testing, n):
    values = [f"item number {i}" for i in range(n)]
    assert list(testing.echo(values)) == values
    assert dict(testing.echo(dict.fromkeys(values, 1))) == dict.fromkeys(values, 1)


def test_containers_nest(testing):
    value = {"a": [1, {"b": (2, [3, {"c": {}}])}], "d": []}
    assert testing.echo(value) == Map(value)


@pytest.mark.parametrize("wrap", [lambda x: [x], lambda x: {"k": x}], ids=["list", "dict"])
def test_containers_nest_to_a_limit(testing, wrap):
    deep = testing.echo(nested(200, 5, wrap))
    for _ in range(200):
        deep = deep[0] if isinstance(deep, Array) else deep["k"]
    assert deep == 5
    with pytest.raises(TOO_DEEP, match=r"nested more than .* deep|recursion"):
        testing.echo(nested(100_000, 5, wrap))


def test_a_container_that_contains_itself_is_a_value_error(testing):
    endless = [1]
    endless.append(endless)
    with pytest.raises(TOO_DEEP, match=r"contain itself|recursion"):
        testing.echo(endless)
    around = {}
    around["me"] = [around]
    with pytest.raises(TOO_DEEP, match=r"contain itself|recursion"):
        testing.echo(around)
    with pytest.raises(TOO_DEEP, match=r"contain itself|recursion"):
        ffi_hpy.convert(endless)


class Meddler:
    """A value whose conversion first calls a function."""

    def __init__(self, meddle):
        self.meddle = meddle

    def __tvm_ffi_value__(self):
        self.meddle()
        return 1


def test_a_list_that_shrinks_while_it_is_converted_does_no_harm(testing):
    values = ["a text of some length", None, *range(100)]
    values[1] = Meddler(values.clear)
    if CALLS_COPY_LISTS:
        assert list(testing.echo(values)) == ["a text of some length", 1, *range(100)]
        return
    with pytest.raises(IndexError):
        testing.echo(values)


def test_a_list_that_grows_while_it_is_converted_does_no_harm(testing):
    values = [None, 2, 3]
    values[0] = Meddler(lambda: values.extend(range(1000)))
    assert list(testing.echo(values)) == [1, 2, 3]


def test_a_dict_that_is_cleared_while_it_is_converted_gives_its_earlier_items(testing):
    values = {"first": None, "second": "a text of some length".upper(), 3: [4]}
    values["first"] = Meddler(values.clear)
    echoed = testing.echo(values)
    assert list(echoed) == ["first", "second", 3]
    assert echoed["second"] == "A TEXT OF SOME LENGTH"
    assert list(echoed[3]) == [4]


def test_a_subclass_of_dict_is_converted_by_its_items(testing):
    class Doubled(dict):
        def items(self):
            return [(key, 2 * value) for key, value in super().items()]

    assert dict(testing.echo(Doubled(a=1, b=2))) == {"a": 2, "b": 4}


def test_a_dict_with_a_value_that_cannot_be_converted_raises_the_error_of_the_value(testing):
    with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
        testing.echo({i: "fine" if i < 5 else "\ud800" for i in range(12)})


def test_objects_that_a_list_drops_while_it_is_converted_stay_alive(testing, classes):
    values = [classes.TestIntPair(1, 2), None]

    def replace():
        values[0] = None

    values[1] = Meddler(replace)
    pair, _ = testing.echo(values)
    assert (pair.a, pair.b) == (1, 2)


def test_text_that_a_list_drops_while_it_is_converted_stays_alive(testing):
    values = ["a text of some length".upper(), None]

    def replace():
        values[0] = None

    values[1] = Meddler(replace)
    assert testing.echo(values)[0] == "A TEXT OF SOME LENGTH"


def test_a_dict_that_changes_while_it_is_converted_does_no_harm(testing):
    values = {"a": None, "b": "a text of some length", "c": [1]}
    values["a"] = Meddler(values.clear)
    assert dict(testing.echo(values)) == {"a": 1, "b": "a text of some length", "c": [1]}


def test_an_error_in_the_middle_of_a_conversion_comes_out(testing):
    def fail():
        raise ZeroDivisionError("meddling")

    with pytest.raises(ZeroDivisionError, match="meddling"):
        testing.echo(["a text of some length", [1, {"k": Meddler(fail)}]])


@pytest.mark.skipif(IS_PYPY and not ffi_hpy._core.HAS_EXTENSION, reason="PyPy 7.3 converts subclasses by other rules")
def test_subclasses_of_list_and_dict_go_in(testing):
    from collections import OrderedDict, namedtuple

    assert dict(testing.echo(OrderedDict(b=1, a=2))) == {"b": 1, "a": 2}
    assert testing.echo(namedtuple("Point", "x y")(1, 2)) == [1, 2]


# --- printing -------------------------------------------------------------------------------------------------------

WITH_A_DECIMAL_COMMA = """
import locale, sys
locale.setlocale(locale.LC_ALL, sys.argv[1])
assert locale.localeconv()["decimal_point"] == ","
import ffi_hpy
print(ffi_hpy.Array([1.5, -2.25e-30, 1e300, 3.0, -0.0, float("inf"), float("-inf")]))
print(ffi_hpy.get_global_func("ffi.json.Stringify")([1.5, 0.0078125], None))
"""


@pytest.mark.same_everywhere
def test_numbers_are_printed_alike_in_every_locale(tmp_path):
    made = tmp_path / "de_DE.UTF-8"
    try:
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", made], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as reason:
        pytest.skip(f"no locale with a decimal comma can be made here: {reason}")
    said = run_python(WITH_A_DECIMAL_COMMA, made.name, environ={"LOCPATH": str(tmp_path)})
    assert said == "(1.5, -2.25e-30, 1e+300, 3, -0, inf, -inf)\n[1.5,0.0078125]\n"


# --- another core -----------------------------------------------------------------------------------------------------

ON_ANOTHER_CORE = """
import ctypes, gc, sys
core = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
import ffi_hpy
from ffi_hpy import Array, Dict, List, Map
assert ffi_hpy.get_global_func("ffi_hpy.DictPop", allow_missing=True) is None
for n in (0, 3, 200):
    entries = {str(i): i for i in range(n)}
    for made in (Map(entries), Dict(entries)):
        walk = iter(made.items())
        del made
        gc.collect()
        assert list(walk) == list(entries.items())
    assert list(Array(range(n))) == list(List(range(n))) == List(range(n))[:] == list(range(n))
ours = Dict({"a": 1, "b": 2})
assert (ours.pop("a"), ours.pop("a", None)) == (1, None)
del ours["b"]
box = Array([Array([1])])
assert box[0] == box[0] and (box[0] is box[0] or not ffi_hpy._core.KEEPS_IDENTITY)
changed = List([1, 2, 3])
changed[0], changed[-1] = 5, 6
assert (changed.pop(), changed.pop(0), list(changed)) == (6, 5, [2])
changed.extend([3, 4, 5])
changed[1:3] = "abc"
del changed[::2]
changed[::-1] = [8, 9]
changed.remove(9)
assert list(changed) == [8] and list(reversed(changed)) == [8]
assert (ours.setdefault("c", 3), ours.setdefault("c", 4)) == (3, 3)
print("good")
"""


def test_containers_work_with_another_core(upstream):
    assert run_python(ON_ANOTHER_CORE, upstream / "tvm_ffi" / "lib" / "libtvm_ffi.so") == "good\n"


# --- copies ---------------------------------------------------------------------------------------------------------


def test_a_shallow_copy_of_a_mutable_container_has_the_same_items_and_changes_alone(testing):
    inner, function = List([1]), testing.echo  # a function cannot be serialised, so no copy can use serialisation
    items, entries = List([inner, function]), Dict({"inner": inner, "function": function})
    copied_items, copied_entries = copy.copy(items), copy.copy(entries)
    for made, value in ((copied_items, copied_items[0]), (copied_entries, copied_entries["inner"])):
        assert type(made) in (List, Dict)
        assert value.same_as(inner)
    copied_items.append(2)
    copied_entries["more"] = 2
    assert (len(items), len(copied_items), len(entries), len(copied_entries)) == (2, 3, 2, 3)


def test_a_copy_of_an_immutable_container_is_the_same_object():
    inner = List([1])
    for made in (Array([inner]), Map({"inner": inner})):
        assert copy.copy(made) is made


@pytest.mark.parametrize(("base", "value"), [(Array, [1]), (List, [1]), (Map, {1: 1}), (Dict, {1: 1})])
def test_a_copy_of_an_instance_of_a_subclass_is_one_and_has_its_attributes(base, value):
    class Named(base):
        __slots__ = ("__dict__",)

    named = Named(value)
    named.name = "a name"
    copied = copy.copy(named)
    assert type(copied) is Named
    assert copied is not named
    assert (copied.name, copied) == ("a name", named)
    copied.name = "another"
    assert named.name == "a name"


def test_a_copy_of_a_function_is_the_function(testing):
    assert copy.copy(testing.echo).same_as(testing.echo)
    function = ffi_hpy.convert(lambda x: x + 1)
    assert copy.copy(function) is copy.deepcopy(function) is function
    assert copy.deepcopy({"function": function})["function"](1) == 2


class Plain:
    """A class that native code does not know."""


def test_a_deep_copy_copies_an_object_of_python_once():
    @ffi_hpy.dataclasses.py_class(unique_name("Pair"))
    class Pair(ffi_hpy.Object):
        a: object
        b: object

    one = Plain()
    for made in (
        copy.deepcopy(List([one, one])),
        copy.deepcopy(Array([one, [one]])),
        copy.deepcopy([one, List([one])]),
        copy.deepcopy([Dict({"a": one}), one]),
        copy.deepcopy(Map({"a": one, "b": one})),
        copy.deepcopy(Pair(one, one)),
        copy.deepcopy([Pair(one, 1), one]),
        List([one, one]).__deepcopy__(None),
        Dict({"a": one, "b": one}).__deepcopy__(None),
    ):
        found = []
        collect(made, found)
        assert len(found) == 2
        assert found[0] is found[1] is not one


class Owner:
    """A class that copies the containers that it holds, with the memo of its own copy or without."""

    def __init__(self, held, passes_memo):
        self.held, self.passes_memo = held, passes_memo

    def __deepcopy__(self, memo):
        return Owner(self.held.__deepcopy__(memo if self.passes_memo else {}), self.passes_memo)


@pytest.mark.parametrize("wrap", [lambda x: List([x, 1]), lambda x: Array([x]), lambda x: Dict({"a": x})], ids=str)
def test_a_class_copies_its_containers_with_its_memo(wrap):
    one = Plain()
    made = copy.deepcopy([one, Owner(wrap(one), True), Array([Owner(wrap(one), True)])])
    found = []
    for owner in made[1], made[2][0]:
        collect(owner.held, found)
    assert found[0] is found[1] is made[0] is not one


def test_a_class_copies_its_containers_with_another_memo():
    one = Plain()
    made = copy.deepcopy(List([one, Owner(List([one]), False)]))
    assert type(made[0]) is type(made[1].held[0]) is Plain
    assert made[1].held[0] is not made[0]


def collect(value, found):
    """Append the instances of Plain that a value contains to a list."""
    if isinstance(value, Plain):
        found.append(value)
    elif isinstance(value, (list, List, Array)):
        for item in value:
            collect(item, found)
    elif isinstance(value, (Dict, Map)):
        for key in ("a", "b"):
            collect(value.get(key), found)
    elif isinstance(value, ffi_hpy.Object):
        collect(value.a, found)
        collect(value.b, found)


@pytest.mark.parametrize("wrap", [lambda x: List([x, 1]), lambda x: Dict({0: x}), lambda x: Array([x])])
def test_a_deep_copy_of_an_object_of_python_with_itself_in_a_container_ends(wrap):
    one = Plain()
    one.inside = wrap(one)
    made = copy.deepcopy(one)
    assert made is not one
    assert made.inside[0] is made


def test_the_repr_of_a_container_shows_the_objects_of_python_inside():
    class Shown:
        def __repr__(self):
            return "shown"

    assert repr(Array([Shown(), 1, [Shown()]])) == "(shown, 1, (shown,))"
    assert repr(Dict({"a": 1j})) == '{"a": 1j}'
