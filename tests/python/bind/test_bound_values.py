"""Values of bound classes and enums: numbers of members, copies of whole objects, empty smart pointers."""

from __future__ import annotations

import enum
import pickle

import pytest
from support import needs_identity, needs_one_wrapper

pytestmark = needs_one_wrapper


@pytest.fixture(scope="module")
def bound(import_bound):
    """The module of bound_values.cc."""
    return import_bound("bound_values")


# --- enums ------------------------------------------------------------------------------------------------------------


def test_a_member_of_characters_or_of_bools_is_a_number(bound):
    letter, switch = bound.Letter, bound.Switch
    assert [(each.value, type(each.value)) for each in (*letter, *switch)] == [(n, int) for n in (97, 98, 0, 1)]
    assert (letter(97), bound.letter(98), bound.letter(letter.a)) == (letter.a, letter.b, letter.a)
    assert (switch(1), bound.switch(0), bound.switch(switch.on)) == (switch.on, switch.off, switch.on)
    for call, wrong in ((bound.letter, "a"), (bound.letter, 99), (bound.switch, 2)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            call(wrong)


@pytest.mark.parametrize("name", ["mask", "bits"])
def test_a_member_may_have_64_bits(bound, name):
    call, cls = getattr(bound, name), getattr(bound, name.capitalize())
    for member in cls:
        assert call(member) is member
        assert call(member.value) is member
    assert cls.all.value == 2**64 - 1
    for wrong in (2**64, 2**64 - 2, -1):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            call(wrong)
    assert bound.all_bits([bound.Bits.all, 1]) == [bound.Bits.all, bound.Bits.one]
    assert bound.exact_bits(bound.Bits.all) is bound.Bits.all
    with pytest.raises(TypeError):
        bound.exact_bits(2**64 - 1)


def test_a_member_that_can_be_called_is_a_member(bound):
    command = bound.Command
    assert (command.stop(3), command.start.text(), command.stop.text()) == (4, "go", "halt")
    assert (bound.command(command.stop), bound.command(0)) == (command.stop, command.start)
    assert bound.commands([command.stop, command.start]) == [command.stop, command.start]
    assert pickle.loads(pickle.dumps(command.stop)) is command.stop


def test_another_name_of_a_member_does_not_change_its_text(bound):
    assert bound.Alias.other is bound.Alias.first
    assert bound.Alias.first.__doc__ == "The first."


def test_the_class_of_an_enum(bound):
    assert bound.enum_classes() == (bound.Letter, bound.Bits, False)
    assert issubclass(bound.enum_classes()[1], enum.IntEnum)


# --- copies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["copy", "copy_const", "copy_pointer", "copy_by_cast"])
def test_a_copy_is_of_the_whole_object(bound, name):
    call = getattr(bound, name)
    assert (type(call(0)), type(call(1))) == (bound.Shape, bound.Square)
    made = call(1)
    made.length = 7
    assert (made.sides, made.length, call(1).length, bound.refer(1).length) == (4, 7, 2, 2)
    is_cast = name == "copy_by_cast"
    with pytest.raises(RuntimeError if is_cast else TypeError) as refused:  # a part of it could be copied
        call(2)
    error = refused.value.__cause__ if is_cast else refused.value
    assert str(error).endswith("a result cannot be returned by this rv_policy")


def test_a_value_has_the_bound_class(bound):
    assert type(bound.value()) is bound.Shape
    assert bound.value().sides == 4


# --- empty smart pointers ---------------------------------------------------------------------------------------------


@needs_identity
def test_none_is_an_empty_smart_pointer_as_a_result_of_python(bound):
    class Nothing(bound.Source):
        def shared(self):
            return None

        owned = counted = shared

    class Something(bound.Source):
        def shared(self):
            return bound.Square()

        def counted(self):
            return bound.Counted()

    kinds = (bound.has_shared, bound.has_owned, bound.has_counted)
    for source, found in ((bound.Source(), True), (Something(), True), (Nothing(), False)):
        assert [has(source) for has in kinds] == [found] * 3
    assert (bound.call_shared(lambda: None), bound.call_shared(bound.Shape)) == (False, True)
    assert bound.call_owned(lambda: None) is False
    for wrong in (3, "x"):
        with pytest.raises(TypeError):
            bound.call_shared(lambda wrong=wrong: wrong)


def test_none_is_an_empty_smart_pointer_in_a_container(bound):
    shape = bound.Shape()
    assert (bound.in_tuple((None, 1)), bound.in_tuple((shape, 1))) == (False, True)
    assert (bound.in_array([shape, None]), bound.in_array([None, shape])) == (False, True)
    assert bound.n_null([None, shape, None]) == 2
    assert list(bound.Shapes([None, shape])) == [None, shape]
    with pytest.raises(TypeError, match="incompatible function arguments"):
        bound.refuses_null(None)


# --- overrides --------------------------------------------------------------------------------------------------------


@needs_identity
def test_a_mixin_without_the_method_overrides_nothing(bound):
    class Mixin:
        pass

    class Mixed(Mixin, bound.Source):
        pass

    class Overriding(bound.Source):
        def same(self, given):
            return bound.Square()

    assert (bound.is_same(Mixed()), bound.is_same(Overriding())) == (True, False)
    Mixin.same = Overriding.same
    assert bound.is_same(Mixed()) is False
    del Mixin.same
    assert bound.has_shared(Mixed())


# --- properties -------------------------------------------------------------------------------------------------------


def test_a_property_that_can_only_be_set(bound):
    safe = bound.Safe()
    safe.secret = 23
    assert safe.reveal() == 23
    with pytest.raises(AttributeError):
        _ = safe.secret
    assert not hasattr(safe, "secret")
    with pytest.raises(TypeError):
        safe.secret = "x"
    bound.Safe.all = 5
    assert bound.Safe.shown == 5
    with pytest.raises(AttributeError, match="cannot be read"):
        _ = bound.Safe.all
    assert repr(safe)
