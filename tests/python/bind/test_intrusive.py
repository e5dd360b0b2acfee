"""Objects that count their references themselves: Python and C++ own them together."""

from __future__ import annotations

import gc
import weakref

import pytest
from support import collect_garbage, needs_identity, needs_one_wrapper, needs_threads

pytestmark = [
    needs_one_wrapper,
    needs_identity,
    pytest.mark.thread_unsafe(reason="the library counts its objects for all threads"),
]


@pytest.fixture(scope="module")
def m(import_bound):
    """The module of bound_intrusive.cc."""
    return import_bound("bound_intrusive")


@pytest.fixture
def before(m):
    """The number of objects that are alive at the beginning."""
    m.keep(None)
    collect_garbage()
    return m.n_alive()


@pytest.mark.parametrize("make", ["Node", "new_pointer", "new_ref"])
def test_an_object_is_destroyed_with_its_last_owner(m, before, make):
    node = getattr(m, make)(3)
    assert (node.number, m.value_of(node), m.is_pythons(node)) == (3, 4, True)
    m.keep(node)
    assert m.kept() is node
    assert m.as_reference() is node
    del node
    collect_garbage()
    assert m.n_alive() == before + 1
    assert m.kept().number == 3
    m.keep(None)
    collect_garbage()
    assert m.n_alive() == before


def test_python_keeps_an_object_that_cpp_has_released(m, before):
    node = m.new_ref(7)
    m.keep(node)
    m.keep(None)
    collect_garbage()
    assert (node.number, m.n_alive()) == (7, before + 1)
    del node
    collect_garbage()
    assert m.n_alive() == before


def test_cpp_counts_alone(m, before):
    assert m.only_cpp() is True
    assert m.n_alive() == before


def test_a_subclass_of_python_stays_itself(m, before):
    class Double(m.Node):
        def value(self, x):
            return 2 * super().value(x)

    node = Double(5)
    node.label = "kept"
    m.keep(node)
    assert m.value_of(node) == 12
    del node
    gc.collect()
    found = m.kept()
    assert (type(found), found.label, m.value_of(found)) == (Double, "kept", 12)
    ended = weakref.ref(found)
    del found
    m.keep(None)
    collect_garbage()
    assert ended() is None
    assert m.n_alive() == before


@needs_threads
def test_threads_count(m, before):
    node = m.Node(1)
    m.count_on_threads(node, 2000)
    assert m.race_for_python(50) == 50
    del node
    collect_garbage()
    assert m.n_alive() == before
