"""Texts that C++ code takes without a copy: std::string_view and const char *, alone and in containers."""

from __future__ import annotations

import sys
import types

import pytest
from support import IS_OVER_CFFI, needs_identity, needs_one_wrapper

pytestmark = [needs_one_wrapper, needs_identity]
KEEPS_TEXTS = pytest.mark.skipif(IS_OVER_CFFI, reason="texts are copied, and 64 copies of a thread live")

TEXTS = [("", "a"), ("seven b", "eight by"), ("long text " * 9, "ä")]
"""Texts of up to 7 bytes have another form in the ABI than longer ones."""


@pytest.fixture(scope="module")
def bound(import_bound):
    """The module of bound_texts.cc."""
    return import_bound("bound_texts")


@pytest.mark.parametrize(("one", "two"), TEXTS)
def test_texts_live_during_the_call(bound, one, two):
    both = f"{one}|{two}|"
    assert bound.views(one, two) == bound.chars(one, two) == bound.optionals(one, two) == both
    assert bound.tuple((one, two)) == bound.array_of_views([one, two]) == bound.map({one: two}) == both


@pytest.mark.parametrize(("one", "two"), TEXTS)
@pytest.mark.parametrize("kind", [list, tuple, iter], ids=["list", "tuple", "iterator"])
def test_texts_of_a_container_live_during_the_call(bound, one, two, kind):
    both = f"{one}|{two}|"
    fresh = [f"{one} "[:-1], f"{two} "[:-1]]  # strings that only the container has
    assert bound.vector_of_views(kind(fresh)) == bound.vector_of_chars(kind(fresh[:])) == both
    assert bound.vector_of_tuples(kind([(one, two), (two, one)])) == f"{both}{two}|{one}|"
    assert bound.vector_of_pairs(kind([(one, two)])) == both
    assert bound.variants(kind([one, [one, two]])) == f"{one}|{both}"


@pytest.mark.parametrize("text", ["", "short", "more than seven bytes"])
def test_a_text_that_python_returns_lives_until_the_next_one(bound, text):
    class Poet(bound.Speaker):
        def word(self):
            return f"{text} "[:-1]

        view = word

    assert (bound.word_of(Poet()), bound.view_of(Poet())) == (text, text)
    assert (bound.word_of(bound.Speaker()), bound.view_of(bound.Speaker())) == ("word", "view")
    assert bound.call_chars(Poet().word) == bound.call_view(Poet().word) == text


LONG = "a text of more than seven bytes"
MANY = list(range(17))
"""More items than a call has room for on the stack."""


def test_a_function_that_borrows_its_arguments_gets_all_values(bound):
    assert [bound.either(value) for value in (1, "seven b", LONG)] == ["int", "text seven b", f"text {LONG}"]
    assert bound.either((1, LONG)) == bound.either([1, LONG]) == f"pair {LONG}"
    assert bound.sum([1, 2, 3]) == bound.sum((1, 2, 3)) == bound.sum(range(4)) == 6
    assert bound.sum(MANY) == bound.sum(tuple(MANY)) == sum(MANY)
    assert bound.sum([]) == bound.sum(()) == 0
    assert bound.vector_of_views([LONG] * 17) == f"{LONG}|" * 17


@pytest.mark.parametrize("numbers", [[], [7]], ids=repr)
@pytest.mark.parametrize("lists", [{}, {1: []}, {1: [], 2: [8, 9]}], ids=repr)
def test_an_empty_container_is_apart_from_the_next_argument(bound, numbers, lists):
    assert bound.three(numbers, (), lists) == (numbers, (), lists)


@pytest.mark.parametrize("value", [LONG, [1, LONG], [LONG, None], (LONG, LONG), [2**40], {1: 2}], ids=repr)
def test_a_function_that_borrows_its_arguments_refuses_others(bound, value):
    for function in (bound.half, bound.sum):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            function(value)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        bound.either("\udc80")


def test_an_overload_may_keep_arguments_that_the_one_before_it_borrows(bound):
    text, items = f"{LONG} "[:-1], [1, LONG]
    assert bound.keep(text) == text
    assert bound.keep(items) == items
    assert bound.keep(1) is None


@pytest.mark.skipif(IS_OVER_CFFI, reason="the cffi backend makes objects for the call that Python may keep")
def test_python_code_sees_no_argument_that_ends_with_the_call(bound):
    seen, given = [], [LONG, [1, LONG]]

    def note(frame, event, _):
        if event == "call":
            others = [value for value in frame.f_locals.values() if value in given]
            seen.extend(value for value in others if all(value is not argument for argument in given))

    for function in (bound.half, bound.sum):
        for value in given:
            sys.setprofile(note)
            try:
                function(value)
            except TypeError:
                pass
            finally:
                sys.setprofile(None)
    assert seen == []


class Name(str):
    pass


class Data(bytes):
    pass


class Count(int):
    pass


class Size(float):
    pass


@pytest.mark.parametrize(("one", "two"), TEXTS)
def test_a_class_that_derives_from_str_is_a_text(bound, one, two):
    names = {Name(f"{two}{i}"): i for i in range(100)}
    shown = "".join(f"{name}{name}," for name in names)
    assert bound.view_beside_dict(Name(one), names) == f"{one}:{shown}"
    assert bound.chars_beside_object(Name(one), None) == one
    assert bound.vector_of_pairs([(Name(one), Name(two))]) == f"{one}|{two}|"
    assert bound.cast_view(Name(one)) == one
    assert bound.types_of([Name(one), Data(b"x"), one, b"y", 1, [one]]) == "sbsb--"


@pytest.mark.parametrize("n", [60, pytest.param(500, marks=KEEPS_TEXTS)])
def test_the_text_of_a_derived_class_lives_as_long_as_the_object(bound, n):
    names = [Name(f"the name number {i}, with ä") for i in range(n)]
    assert bound.chars_of_each(names) == "|".join([*names, ""])
    data = [Data(f"data number {i}".encode()) for i in range(n)]
    assert bound.bytes_of_each(data) == "|".join([*(each.decode() for each in data), ""])


@pytest.mark.parametrize("text", ["half \udc80 of a pair", "\udc80"])
def test_a_derived_class_with_half_of_a_surrogate_pair_is_not_a_text(bound, text):
    assert bound.try_cast(Name(text)) == "no text"


@pytest.mark.parametrize("value", [Name("x"), Data(b"x"), Count(3), Count(2**70), Size(2.5)], ids=repr)
def test_an_object_of_a_derived_class_crosses_as_itself(bound, value):
    assert bound.echo_object(value) is value


def test_the_result_of_a_callable_must_be_a_text(bound):
    assert bound.call_chars(lambda: None) == "(null)"
    with pytest.raises(TypeError, match="expected str as the result of a callable"):
        bound.call_view(lambda: None)
    with pytest.raises(TypeError, match="expected str as the result of a callable"):
        bound.call_chars(lambda: 1)


@pytest.mark.parametrize("text", ["", "short", "more than seven bytes"])
def test_casts_by_hand_refer_to_the_text_of_the_object(bound, text):
    assert bound.cast_view(text) == text
    assert bound.try_cast(text) == text * 2
    assert bound.try_cast(1) == "no text"


@pytest.mark.parametrize("text", ["", "c", "1234567", "longer than a handle"])
def test_the_text_of_a_handle_outlives_the_handle(bound, text):
    assert bound.chars_of_handle(text) == text


def test_the_texts_of_a_cast_that_is_tried_outlive_the_handles(bound):
    texts = ["", "c", "1234567", "longer than a handle", "d"]
    assert bound.try_cast_handles([*texts, 1]) == "".join(f"{each}|{each}|" for each in [*texts, "no text"])


# --- texts without UTF-8 ----------------------------------------------------------------------------------------------

LONE = "a \ud800 text"


def test_a_text_with_a_lone_surrogate_is_an_object(bound):
    assert bound.echo_object(LONE) == bound.echo_str(LONE) == LONE
    assert bound.echo_all(LONE, a=LONE) == ((LONE,), {"a": LONE})
    assert bound.n_objects([LONE, "b"]) == 2
    assert bound.attribute(types.SimpleNamespace(text=LONE)) is True
    assert [bound.is_text(text) for text in (LONE, "\ud800", "a", "\u00e9")] == [False, False, True, True]


def test_a_text_of_cpp_has_no_lone_surrogate(bound):
    for function in (bound.call_view, bound.half, bound.cast_view):
        with pytest.raises((TypeError, RuntimeError)):
            function(LONE)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        bound.sum(LONE)
