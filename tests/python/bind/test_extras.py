"""Exceptions with causes and translators, methods of enums, and objects of bound classes by hand."""

from __future__ import annotations

import pytest
from support import collect_garbage, needs_identity, needs_one_wrapper

import ffi_hpy

pytestmark = [needs_one_wrapper, needs_identity]


@pytest.fixture(scope="module")
def bound(import_bound):
    """The module of bound_extras.cc."""
    return import_bound("bound_extras")


# --- exceptions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("which", "kind", "text"),
    [
        *((1, IndexError, "first payload"), (2, KeyError, "'second'"), (4, RuntimeError, "number 4 of many")),
        *((5, TypeError, "number 5"), (6, OSError, "number 6")),
    ],
)
def test_exceptions_that_are_translated(bound, which, kind, text):
    with pytest.raises(kind) as caught:
        bound.throw(which)
    assert (type(caught.value), str(caught.value)) == (kind, text)


def test_an_exception_class_with_a_base(bound):
    with pytest.raises(bound.Third, match="third") as caught:
        bound.throw(3)
    assert isinstance(caught.value, LookupError)


def fail():
    return 1 // 0


class Mine(Exception):
    pass


def test_causes_of_exceptions(bound):
    for cls, kind, text in ((None, ValueError, "call 1 failed"), (Mine, Mine, "call 2 failed")):
        with pytest.raises(kind, match=text) as caught:
            vars(bound)["from"](fail, cls)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(RuntimeError, match="again") as caught:
        bound.chain(fail)
    assert (type(caught.value.__cause__), type(caught.value.__cause__.__cause__)) == (TypeError, ZeroDivisionError)
    assert bound.chain(lambda: 1) is None


def test_cpp_looks_at_an_exception(bound):
    error = KeyError("k")

    def throw():
        raise error

    assert bound.describe(throw) == (KeyError, error, False, True)
    assert bound.describe(fail)[3] is False


# --- enums ------------------------------------------------------------------------------------------------------------


def test_an_enum_has_methods(bound):
    sign = bound.Sign
    assert (sign.plus.times(3), sign.minus.times(x=4), sign.minus.times()) == (3, -4, -2)
    assert (sign.of(-7), sign.minus.negated) == (sign.minus, sign.plus)
    assert [(each.name, each.value) for each in sign] == [("minus", -1), ("plus", 1)]
    assert (bound.flip(), bound.flip(sign.minus)) == (sign.minus, sign.plus)
    with pytest.raises(TypeError):
        sign.plus.times("x")


def test_tools_for_nanobind_read_the_overloads_of_methods_of_enums(bound):
    sign = bound.Sign
    assert sign.times.__nb_signature__ == ((r"def times(sign: bound_extras.Sign, x: int = \0) -> int", None, (2,)),)
    assert [line for line, *_ in sign.of.__nb_signature__] == ["def of(arg: int, /) -> bound_extras.Sign"]
    assert len(vars(sign)["negated"].fget.__nb_signature__) == 1


def test_an_enum_of_64_bits(bound):
    size = bound.Size
    assert (size.all.value, size.small.value) == (2**64 - 1, 1)
    assert (bound.size(size.all), bound.size(size.small)) == (2**64 - 1, 1)
    assert (bound.to_size(2**64 - 1), bound.to_size(1)) == (size.all, size.small)
    with pytest.raises(ValueError, match=str(2**63)):
        bound.to_size(2**63)


# --- objects by hand --------------------------------------------------------------------------------------------------


@pytest.mark.thread_unsafe(reason="the library counts the objects of all threads")
def test_objects_by_hand(bound):
    collect_garbage()
    before = bound.alive()
    objects = bound.by_hand()
    assert [(type(each), each.n) for each in objects] == [(bound.Value, 0), (bound.Value, 123), (bound.Value, 123)]
    assert bound.alive() == before + 3
    bound.mark_twice(objects[0])
    del objects
    collect_garbage()
    assert bound.alive() == before
    zero = bound.zero()
    assert (zero.a, zero.b) == (0, 0)


def unfinished_objects(cls):
    """Objects of a bound class whose constructor did not run."""

    class Late(cls):
        def __init__(self):
            pass

    return [cls.__new__(cls), Late()]


def test_an_object_without_a_value_is_refused_with_a_warning(bound):
    warning = "ffi_hpy: attempted to access an uninitialized instance of type 'bound_extras.Value'!"
    for value in unfinished_objects(bound.Value):
        for use in (bound.n_of, lambda value: value.n):
            refusal = "incompatible function arguments"
            with pytest.warns(RuntimeWarning, match=warning), pytest.raises(TypeError, match=refusal):
                use(value)
        bound.Value.__init__(value)
        assert (value.n, bound.n_of(value)) == (5, 5)


@pytest.mark.thread_unsafe(reason="the library counts the objects of all threads")
def test_a_function_constructs_the_value_of_an_object_without_one(bound):
    collect_garbage()
    before = bound.alive()
    values = unfinished_objects(bound.Value)
    for value in values:
        bound.fill(value)
        assert (value.n, bound.n_of(value)) == (9, 9)
        with pytest.raises(TypeError, match="it has a value"):
            bound.fill(value)
    assert bound.alive() == before + 2
    del value, values
    collect_garbage()
    assert bound.alive() == before


def test_the_constructor_of_an_object_with_a_value_is_refused(bound):
    mistake = "initialize an already-initialized"
    value = bound.Value()
    bound.fill(other := bound.Value.__new__(bound.Value))
    for each, n in ((value, 5), (other, 9)):
        with (
            pytest.warns(RuntimeWarning, match=f"ffi_hpy: attempted to {mistake} instance"),
            pytest.raises(TypeError, match=f"cannot {mistake} object"),
        ):
            each.__init__()
        assert each.n == n


def test_the_metaclass_of_bound_classes_requires_one(bound):
    with pytest.raises(TypeError, match="requires a nanobind base type or another bound class"):
        type(bound.Value)("Other", (), {})


def test_a_class_has_one_bound_base_or_bases_in_one_line(bound):
    class Left(bound.Value):
        pass

    class Right(bound.Value):
        pass

    class Both(Left, Right):
        pass

    class Kitten(bound.Cat, bound.Pet):
        pass

    assert Both().n == 5
    assert issubclass(Kitten, bound.Cat)
    for bases in ((bound.Value, bound.Plain), (Left, bound.Plain), (bound.Plain, bound.Pet, bound.Cat)):
        with pytest.raises(TypeError, match=r"Mixed has multiple nanobind bases.*: bound_extras\."):
            type(bound.Value)("Mixed", bases, {})


def test_the_module_of_a_class_may_fail(bound):
    class Meta(type):
        @property
        def __module__(cls):
            raise RuntimeError("never read")

    class Odd(metaclass=Meta):
        pass

    with pytest.raises(TypeError, match=r"incompatible function arguments[^$]*Odd"):
        bound.n_of(Odd())


def test_a_class_knows_its_size_alignment_name_and_supplement(bound):
    assert bound.about(bound.Value) == (True, 4, 4, "bound_extras.Value", True, 8)

    class Derived(bound.Value):
        pass

    assert bound.about(Derived)[1:3] == (4, 4)
    assert (bound.is_known(bound.Value()), bound.is_other_known()) == (True, False)
    assert (bound.is_object(bound.Value()), bound.is_object(3), bound.is_object([])) == (True, False, False)
    assert [bound.is_bound_class(each) for each in (Derived, Derived(), int)] == [True, False, False]
    with pytest.raises(TypeError, match="expected a bound class"):
        bound.about(int)
    with pytest.raises(TypeError, match="expected an object of a bound class"):
        bound.mark_twice([])


def test_a_type_hook_returns_the_class_of_an_object(bound):
    assert [type(bound.pet(is_cat)) for is_cat in (True, False)] == [bound.Cat, bound.Pet]


def test_shared_from_this(bound):
    shared = bound.Shared()
    assert not shared.is_shared()
    assert shared.share(shared)
    assert not shared.is_shared()


# --- names of classes that are bound later ----------------------------------------------------------------------------

LATER = (
    "takes_later(arg0: bound_extras.inner.LaterInt, arg1: bound_extras.inner.Kind, arg2: bound_extras.LaterText, /)"
    " -> bound_extras.inner.LaterInt"
)


def test_a_signature_names_a_class_that_is_bound_later(bound):
    assert bound.takes_later.__doc__ == LATER
    assert bound.takes_never.__doc__.startswith("takes_never(arg: ")
    assert "Never, /) -> None" in bound.takes_never.__doc__
    with pytest.raises(TypeError) as caught:
        bound.takes_later(1, 2, 3)
    assert f"    1. {LATER}\n" in str(caught.value)
    with pytest.raises(TypeError, match=r"1\. takes_never\(arg: [\w.:() ]*Never, /\) -> None\n"):
        bound.takes_never(1)
    kept = bound.inner.LaterInt()
    with pytest.raises(TypeError, match="LaterText"):
        bound.takes_later(kept, bound.inner.Kind.one, kept)


@needs_identity
def test_a_stub_names_a_class_that_is_bound_later(bound):
    from ffi_hpy.stub.bound import stubs_of

    text = "\n".join(stubs_of(bound).values())
    assert "\nfrom .inner import Kind, LaterInt\n" in text
    assert "\ndef takes_later(arg0: LaterInt, arg1: Kind, arg2: LaterText, /) -> LaterInt: ...\n" in text
    assert "    def later(self) -> LaterInt: ...\n" in text
    assert "\ndef takes_never(arg: Any, /) -> None: ...\n" in text


class EmptyFunction(ffi_hpy.Function):
    """A class that is not bound."""


def test_an_object_of_another_class_without_a_native_object_is_an_error(bound):
    assert bound
    with pytest.raises(ValueError, match="no native object"):
        ffi_hpy.convert(lambda f: f)(EmptyFunction())
