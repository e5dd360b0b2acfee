"""Containers that threads share: each operation is one step for the other threads, however many parts it has."""

import operator
import sys
from typing import Any

import pytest
from support import IS_DEBUG, NO_THREADS, parallelize, race, unique_name

import ffi_hpy
from ffi_hpy import Array, Dict, List, Map

pytestmark = pytest.mark.skipif(IS_DEBUG, reason=NO_THREADS)

N_ITEMS = 2000
ENTRIES = dict(zip(range(N_ITEMS), range(N_ITEMS)))


@pytest.fixture(autouse=True)
def threads_take_turns_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


# --- iterators ------------------------------------------------------------------------------------------------------

ITERATORS = {
    "Array": lambda: iter(Array(range(N_ITEMS))),
    "Array from the end": lambda: reversed(Array(range(N_ITEMS))),
    "List": lambda: iter(List(range(N_ITEMS))),
    "List from the end": lambda: reversed(List(range(N_ITEMS))),
    "keys of a Map": lambda: iter(Map(ENTRIES).keys()),
    "values of a Map": lambda: iter(Map(ENTRIES).values()),
    "keys of a Dict": lambda: iter(Dict(ENTRIES).keys()),
    "items of a Dict": lambda: iter(Dict(ENTRIES).items()),
}


@pytest.mark.parametrize("make", ITERATORS.values(), ids=ITERATORS)
def test_threads_may_share_an_iterator(make):
    for _ in range(10):
        shared = make()

        def take(_i, shared=shared):
            taken = []
            for item in shared:
                taken.append(item[0] if isinstance(item, tuple) else item)
            return taken

        parts = parallelize(take)
        assert set().union(*parts) == set(range(N_ITEMS))


@pytest.mark.parametrize("make", ITERATORS.values(), ids=ITERATORS)
def test_no_iterator_is_a_generator(make):
    assert not hasattr(make(), "gi_frame")


# --- List -----------------------------------------------------------------------------------------------------------

CHANGES = {
    "a slice": lambda shared: operator.setitem(shared, slice(2, 5), [1, 2]),
    "all": lambda shared: operator.setitem(shared, slice(None), [1, 2, 3]),
    "the last ones": lambda shared: operator.setitem(shared, slice(-3, None), "x"),
    "every second one": lambda shared: operator.setitem(shared, slice(0, 2, 2), [1]),
    "itself": lambda shared: operator.setitem(shared, slice(0, 2), shared),
    "deletion of a slice": lambda shared: operator.delitem(shared, slice(1, -1)),
    "deletion of every second one": lambda shared: operator.delitem(shared, slice(None, None, -2)),
    "insert": lambda shared: shared.insert(-2, 4),
    "extend": lambda shared: shared.extend([5] * 8),
    "+=": lambda shared: operator.iadd(shared, (6,) * 8),
    "reverse": List.reverse,
    "reading": lambda shared: (list(reversed(shared)), shared[-3:], shared == [1], shared.__add__([1]), repr(shared)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_list_may_be_changed_while_another_thread_clears_it(name):
    shared, change = List(range(8)), CHANGES[name]
    too_short = (ValueError,) if name == "every second one" else ()

    def fill():
        if len(shared) < 50:
            shared.extend(range(8))

    def work():
        if len(shared) < 200:
            change(shared)

    race(work, work, shared.clear, fill, allowed=too_short)


def test_remove_takes_an_item_that_equals_its_argument_or_raises_value_error():
    shared = List()

    def fill():
        shared.insert(0, "kept")
        shared.append("a text that is removed")

    def remove():
        shared.remove("a text that is removed")

    def turn():
        if len(shared) < 500:
            fill()
        shared.reverse()

    race(remove, remove, turn, allowed=(ValueError,))
    n_kept = sum(item == "kept" for item in shared)
    while "a text that is removed" in shared:
        remove()
    assert list(shared) == ["kept"] * n_kept


def test_items_that_a_thread_extends_a_list_by_stay_together():
    shared = List()

    def work(i):
        for n in range(100):
            shared.extend([(i, n, k) for k in range(7)])

    parallelize(work)
    items = [tuple(item) for item in shared]
    assert len(items) == 4 * 100 * 7
    for first in range(0, len(items), 7):
        assert [k for _, _, k in items[first : first + 7]] == list(range(7))
        assert len({(i, n) for i, n, _ in items[first : first + 7]}) == 1


# --- Dict -----------------------------------------------------------------------------------------------------------


def test_of_many_threads_that_set_a_default_one_wins():
    for _ in range(100):
        shared = Dict()
        values = parallelize(lambda i, shared=shared: shared.setdefault("key", f"the value of thread {i}"))
        assert set(values) == {shared["key"]}


def test_a_dict_may_be_read_and_copied_while_its_keys_come_and_go():
    shared, other = Dict(), Dict()
    entries = dict(zip(range(20), range(20)))

    def take():
        for key in entries:
            shared.pop(key, None)

    def read():
        other.update(shared)
        assert "nothing of that" not in shared.values()
        assert (21, 21) not in shared.items()
        assert len(shared.keys() & {1, 2}) <= 2
        repr(shared.values())

    race(lambda: shared.update(entries), take, read, other.clear)


# --- repeated __init__ and __setstate__ -----------------------------------------------------------------------------

KINDS = {
    "Array": (Array, range(20), [len, list, operator.itemgetter(0), lambda x: x[1:3], lambda x: x == [1]]),
    "List": (
        List,
        range(20),
        [len, list, operator.itemgetter(-1), lambda x: x[0], List.reverse, lambda x: x.append(1)],
    ),
    "Map": (Map, dict(zip(range(20), range(20))), [len, list, lambda x: x.get(1), lambda x: list(x.items())]),
    "Dict": (
        Dict,
        dict(zip(range(20), range(20))),
        [len, list, lambda x: x.setdefault(1, 1), lambda x: list(x.items())],
    ),
}
OF_ALL = [
    repr,
    hash,
    lambda x: Array([x]),
    lambda x: x.__use_count__(),
    lambda x: x.same_as(x),
    lambda x: x.__chandle__(),
]


class refused_while_used:
    """Expect this error of an operation that moves or replaces a wrapper's object while others use it."""

    def __enter__(self):
        pass

    def __exit__(self, cls, error, _traceback):
        return cls is RuntimeError and "while a call uses it" in str(error)


@pytest.mark.parametrize("again", ["__init__", "__setstate__"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_container_has_an_object_for_other_threads_while_it_gets_another(kind, again):
    """A thread that replaces the object is refused while others use the container, like a thread that moves it."""
    cls, content, reads = KINDS[kind]
    shared = cls(content)
    argument = content if again == "__init__" else shared.__getstate__()

    def give():
        with refused_while_used():
            getattr(shared, again)(argument)

    def read():
        for use in (*reads, *OF_ALL):
            use(shared)

    race(give, give, read, read)


@pytest.mark.parametrize("again", ["__init__", "__setstate__", "__move_handle_from__"])
def test_an_object_has_fields_for_other_threads_while_it_gets_another(again):
    @ffi_hpy.dataclasses.py_class(unique_name())
    class Record(ffi_hpy.Object):
        number: int
        real: float
        flag: bool
        text: str
        inner: Any

    def make():
        return Record(5, 2.5, True, "a text of some length", List([1]))

    shared = make()
    arguments = {
        "__init__": (5, 2.5, True, "a text of some length", List([1])),
        "__setstate__": (shared.__getstate__(),),
    }

    def give():
        with refused_while_used():
            getattr(shared, again)(*arguments.get(again) or (make(),))

    def read():
        values = shared.number, shared.real, shared.flag, shared.text, list(shared.inner)
        assert values == (5, 2.5, True, "a text of some length", [1])

    def write():
        shared.number = 5
        shared.real = 2.5
        shared.flag = True
        shared.text = "a text of some length"
        shared.inner = List([1])

    race(give, read, write)


def test_an_object_of_a_library_has_fields_for_other_threads_while_it_gets_another(classes):
    shared = classes.TestIntPair(1, 2)

    def give():
        with refused_while_used():
            shared.__move_handle_from__(classes.TestIntPair(1, 2))

    def read():
        assert (shared.a, shared.b) == (1, 2)

    race(give, read, read)


def test_an_error_value_has_its_texts_for_other_threads_while_it_gets_others():
    error = ffi_hpy.core.Error("ValueError", "a message of some length", "a backtrace")

    def give():
        with refused_while_used():
            error.__init__("TypeError", "another message of some length", "another backtrace")

    def read():
        assert error.kind in ("ValueError", "TypeError")
        assert error.message.endswith("message of some length")
        assert error.backtrace.endswith("backtrace")
        assert error.cause is error.extra_context is None

    race(give, read, read)
