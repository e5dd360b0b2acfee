"""Containers and texts that bound functions return."""

from __future__ import annotations

import gc
import weakref

import pytest
from support import collect_garbage, needs_identity, needs_one_wrapper

pytestmark = [needs_one_wrapper, needs_identity]

FEW, MANY = 5, 40
"""The items of a few are on the C stack."""


@pytest.fixture(scope="module")
def bound(import_bound):
    """The module of bound_made.cc."""
    return import_bound("bound_made")


def test_nested_containers_are_pythons_own(bound):
    made = bound.nested(4)
    assert made == {
        f"the name {i}": [([i, k], (k, f"the name {i}", k % 2 == 0, 0.5 * k)) for k in range(i)] for i in range(1, 4)
    }
    assert type(made) is dict
    rows = made["the name 3"]
    assert (type(rows), type(rows[0]), type(rows[0][0]), type(rows[2][1][2])) == (list, tuple, list, bool)
    assert {type(text) for text in made} == {str}


@pytest.mark.parametrize("n", [0, 1, 16, 17, MANY])
@pytest.mark.parametrize("text", ["", "short", "a longer text", "ä" * 9])
def test_lists_of_any_length_are_complete(bound, n, text):
    assert bound.texts(text, n) == [text] * n
    assert bound.numbers(n) == list(range(0, 1000 * n, 1000))


def test_text_that_is_not_utf_8_is_replaced(bound):
    assert bound.bytes_as_text(0xFF) == "\N{REPLACEMENT CHARACTER}" * 3


class Held:
    """An object that a weak reference can refer to."""


@pytest.mark.parametrize("n", [FEW, MANY])
@pytest.mark.parametrize("make", ["steps", "rows", "step_set", "step_map", "step_tuple"])
@pytest.mark.parametrize("bad", [0, 1, "last"])
def test_an_item_without_a_python_value_releases_the_other_items(bound, make, n, bad):
    held = Held()
    if make == "step_tuple":
        bad = min(bad, 1) if bad != "last" else 1
    number = n - 1 if bad == "last" else bad
    with pytest.raises(ValueError, match=f"^step {number}$"):
        getattr(bound, make)(held, n, number)
    assert getattr(bound, make)(held, n, -1) is not None
    ref = weakref.ref(held)
    del held
    collect_garbage(lambda: ref() is None)
    assert ref() is None


def test_a_key_that_cannot_be_hashed_releases_the_items(bound):
    class Row(list):
        __slots__ = ["__weakref__"]

    held = Row()
    with pytest.raises(TypeError, match="hashable"):
        bound.step_set(held, FEW, -1)
    ref = weakref.ref(held)
    del held
    collect_garbage(lambda: ref() is None)
    assert ref() is None


def test_a_guard_that_releases_the_gil_may_last_until_the_result_is_converted(bound):
    assert bound.guarded([]) == ("text", [1, 2])


def test_cpp_gets_the_containers_of_bound_functions(bound):
    assert bound.total(bound.numbers, 4) == 6000


@pytest.mark.thread_unsafe(reason="all threads share the function")
def test_the_gil_mode_of_a_function_does_not_change_its_results(bound):
    before = bound.numbers.release_gil
    try:
        for released in [True, False, True]:
            bound.numbers.release_gil = released
            assert bound.numbers.release_gil is released
            assert bound.numbers(3) == [0, 1000, 2000]
    finally:
        bound.numbers.release_gil = before


@pytest.mark.thread_unsafe(reason="it changes when the interpreter collects")
@pytest.mark.skipif(not hasattr(gc, "callbacks"), reason="a collection calls no Python code")
def test_code_that_runs_during_a_collection_changes_no_container_while_it_is_read(bound):
    table = bound.Table(10 * MANY)

    def change(_phase, _info):
        table.change()

    before = gc.get_threshold()
    gc.callbacks.append(change)
    gc.set_threshold(1)
    try:
        rows, named = table.rows(), table.named()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(change)
    assert len({row[0] for row in rows}) == len({number for number, _ in named.values()}) == 1
    assert (type(rows[0]), type(named[0]), type(named[0][1])) == (list, tuple, str)
