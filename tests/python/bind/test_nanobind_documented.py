"""Less usual parts of nanobind's API that its documentation shows."""

import sys

import pytest
from support import needs_identity, needs_one_wrapper

from ffi_hpy import libinfo

pytestmark = [needs_one_wrapper, needs_identity]


@pytest.fixture(scope="module")
def m(import_bound):
    return import_bound("nanobind_documented", f"-I{libinfo.find_nanobind_include_path()}")


def test_docstrings_name_classes_that_are_bound_later(m):
    leash, kind = "nanobind_documented.Leash", "nanobind_documented.Kind"
    assert m.Dog.__init__.__doc__ == f"__init__(self, arg0: {leash}, arg1: {kind}, /) -> None"
    assert m.Dog.leash.__doc__ == f"leash(self, arg0: {leash}, arg1: {kind}, /) -> {leash}\n\nTakes the dog for a walk."
    assert m.Dog.__lt__.__doc__ == f"__lt__(self, arg: {kind}, /) -> bool"
    assert m.Dog.leash.__nb_signature__[0][0] == f"def leash(self, arg0: {leash}, arg1: {kind}, /) -> {leash}"
    small = m.Dog(m.Leash(), m.Kind.Small)
    assert (small < m.Kind.Large, small < m.Kind.Small) == (True, False)
    assert isinstance(small.leash(m.Leash(), m.Kind.Large), m.Leash)


def test_a_frozen_class_refuses_attributes(m):
    with pytest.raises(TypeError, match=r"^cannot set 'speak' attribute of immutable type 'nanobind_documented\.Dog'$"):
        m.Dog.speak = None
    with pytest.raises(TypeError):
        del m.Dog.leash


def test_slots_use_the_operators_of_python_h(m):
    assert (m.Weight(3) + m.Weight(4)).grams == 12
    with pytest.raises(TypeError):
        m.Weight(3) + 4
    assert m.operators(13, 3) == [16, 10, 13 / 3, 4, 1, 1, 15, 14, 104, 1]
    with pytest.raises(TypeError):
        m.operators("a", 3)


def test_an_attribute_whose_name_begins_with_an_at_sign_cannot_be_set_again(m):
    for change in (lambda: setattr(m.Tag, "@owner", 1), lambda: delattr(m.Tag, "@owner")):
        with pytest.raises(AttributeError, match="@owner"):
            change()
    assert getattr(m.Tag, "@owner") == "C++"


def test_a_scope_gets_the_function(m):
    assert (m.inner.scoped(), hasattr(m, "scoped")) == (1, False)


def test_a_guard_of_the_gil_is_true(m):
    assert m.with_gil() == 1


def test_a_policy_that_refuses_a_value_is_a_cast_error(m):
    assert m.refused()


def fail():
    raise KeyError("k")


def test_a_chained_error_has_a_cause_and_a_context(m):
    with pytest.raises(RuntimeError, match=r"^the call 1 failed$") as caught:
        m.chained(fail)
    error = caught.value
    assert isinstance(error.__cause__, KeyError)
    assert error.__context__ is error.__cause__


@pytest.mark.thread_unsafe(reason="sys.unraisablehook is one for all threads")
def test_an_ignored_error_shows_the_repr_of_its_context(m, monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: seen.append((told.exc_type, told.err_msg, told.object)))
    m.ignored(fail)
    assert seen == [(KeyError, None, "a destructor")]
