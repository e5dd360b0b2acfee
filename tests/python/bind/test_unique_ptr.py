"""Values that move between C++ and Python: ffi_hpy/stl/unique_ptr.h."""

from __future__ import annotations

import pytest
from support import collect_garbage, needs_identity, needs_one_wrapper

pytestmark = [
    needs_one_wrapper,
    needs_identity,
    pytest.mark.thread_unsafe(reason="the library counts the objects of all threads"),
]


TAKEN = "relinquished instance of type|cannot take the value of an instance of type"


@pytest.fixture
def bound(import_bound):
    """The module of bound_holders.cc. A test leaves no object behind."""
    module = import_bound("bound_holders")
    collect_garbage(lambda: module.alive() == 0)
    assert module.alive() == 0
    yield module
    collect_garbage(lambda: module.alive() == 0)
    assert module.alive() == 0


@pytest.mark.parametrize("make", ["make", "make_derived"])
def test_cpp_takes_a_value_that_it_has_made(bound, make):
    value = getattr(bound, make)(1)
    box = bound.Box(value)
    for use in (lambda: value.value, lambda: bound.Box(value), lambda: bound.drop(value)):
        with pytest.warns(RuntimeWarning, match=TAKEN), pytest.raises(TypeError):
            use()
    assert bound.alive() == 1
    assert box.get() is value
    assert value.value == 1
    assert (bound.__dict__["pass"](value) is value, value.value) == (True, 1)
    bound.drop(value)
    assert bound.alive() == 0
    with pytest.warns(RuntimeWarning, match=TAKEN), pytest.raises(TypeError):
        _ = value.value


def test_the_value_outlives_its_object(bound):
    value = bound.make(2)
    box = bound.Box(value)
    del value
    collect_garbage()
    assert bound.alive() == 1
    assert box.get().value == 2


def test_a_value_that_python_has_made_needs_our_deleter(bound):
    for value in (bound.Base(3), bound.Derived(3)):
        for take in (bound.Box, bound.drop, bound.__dict__["pass"]):
            with pytest.warns(RuntimeWarning, match=TAKEN), pytest.raises(TypeError):
                take(value)
        assert value.value == 3
        box = bound.OwnBox(value)
        with pytest.warns(RuntimeWarning, match=TAKEN), pytest.raises(TypeError):
            _ = value.value
        assert box.get() is value
        assert (value.value, bound.pass_own(value) is value, value.value) == (3, True, 3)
        box = bound.OwnBox(value)
        del box
        collect_garbage()
        assert value.value == 3  # the object has the value again
    assert bound.pass_own(bound.make(4)).value == 4


def test_an_object_that_only_cpp_holds_stays(bound):
    box = bound.OwnBox(bound.Base(5))
    collect_garbage()
    assert bound.alive() == 1
    assert box.get().value == 5


def test_none_and_wrong_values(bound):
    assert bound.__dict__["pass"](None) is None
    for wrong in (None, 3, "x"):
        with pytest.raises(TypeError):
            bound.drop(wrong)


def test_values_in_containers(bound):
    a, b = bound.make(1), bound.make(2)
    assert bound.pass_pairs([(a, b)]) == [(a, b)]
    assert (a.value, b.value) == (1, 2)
    for wrong in ([(a, a)], [(a, bound.Base(3))]):
        with pytest.warns(RuntimeWarning, match=TAKEN), pytest.raises(TypeError):
            bound.pass_pairs(wrong)
        assert (a.value, b.value) == (1, 2)
    with pytest.raises(TypeError):
        bound.pass_pairs([(a, 3)])
    assert (a.value, b.value) == (1, 2)
