"""Parts of bound classes: static properties, operators, constructors, states, classes in classes."""

from __future__ import annotations

import asyncio
import copy
import inspect
import itertools
import pickle
import sys

import pytest
from support import collect_garbage, needs_identity, needs_one_wrapper
from support.costs import assert_grows_with_size

import ffi_hpy
import ffi_hpy.testing

pytestmark = [needs_one_wrapper, needs_identity]


@pytest.fixture(scope="module")
def bound(import_bound):
    """The module of bound_members.cc."""
    return import_bound("bound_members")


# --- static properties ------------------------------------------------------------------------------------------------


@pytest.mark.thread_unsafe(reason="the class has one value for all threads")
def test_static_properties(bound):
    settings, more = bound.Settings, bound.MoreSettings
    settings.level = 23
    assert (settings.level, more.level, settings.get(), settings.name) == (23, 23, 23, "first")
    more.level = 50
    settings.level += 1
    assert (settings.level, settings.get(), settings.doubled) == (51, 51, 102)
    settings.doubled = 8
    assert more.level == 4
    assert (settings.owner, more.owner) == ("Settings", "more")

    class Own(settings):
        other = 1

    Own.level = 7
    Own.other = 2
    assert (settings.level, Own.owner, Own.other) == (7, "Own", 2)
    for change in (lambda: setattr(settings, "name", "x"), lambda: delattr(settings, "level")):
        with pytest.raises(AttributeError, match="Settings"):
            change()
    for wrong, reason in (("loud", "str"), (2**31, rf"is {2**31}, which is outside the range -{2**31} to")):
        with pytest.raises(TypeError, match=rf"^level\(\): incompatible(?s:.*) {reason}"):
            settings.level = wrong
    assert vars(settings)["level"].__doc__ == "How loud."


# --- operators --------------------------------------------------------------------------------------------------------


def test_operators_of_cpp(bound):
    a, b = bound.Number(1), bound.Number(2)
    values = [repr(x) for x in (a + b, a + 5, b - 0.5, 3 * b, -a, abs(bound.Number(-4)))]
    assert values == ["3", "6", "1", "6", "-1", "4"]
    assert (a < b, b > a, a == bound.Number(1), a != b, hash(a), bool(a), bool(bound.Number(0))) == (
        *(True, True, True, True, 1001),
        *(True, False),
    )
    same = a
    a += b
    assert (a is same, repr(a)) == (True, "3")
    assert a.__add__("text") is NotImplemented
    for wrong in (lambda: a - b, lambda: a * 3, lambda: a + "x", lambda: a < 3):
        with pytest.raises(TypeError, match="supported"):
            wrong()
    assert a != "x"


def test_operators_and_protocols_by_name(bound):
    three, same = bound.Protocol(3), bound.Protocol(3)
    assert (5 + three, 5 - three, three <= 3, three <= 4) == (8, 2, True, True)
    kept = three
    kept |= 4
    assert (kept is three, three.value) == (True, 7)
    assert (same == bound.Protocol(3), same != bound.Protocol(3), same == 3, same != 3) == (True, False, False, True)
    with pytest.raises(TypeError, match="unhashable"):
        hash(same)
    assert (bool(same), bool(bound.Protocol(0)), [0] * same, float(same)) == (True, False, [0] * 3, 3.5)
    assert (2 in same, 3 in same, list(same), same(4)) == (True, False, [3, 1], 12)
    with same as entered:
        raise LookupError("which __exit__ takes")
    assert entered is same
    with pytest.raises(LookupError), bound.Protocol(0):
        raise LookupError

    async def wait():
        return await same

    assert asyncio.run(wait()) is None
    for wrong in (lambda: "x" - same, lambda: same <= "x"):
        with pytest.raises(TypeError, match=r"supported|incompatible"):
            wrong()


def test_any_function_may_be_an_operator(bound):
    protocol = bound.Protocol(3)
    assert (protocol.added(1), protocol.combined(1), protocol.combined("a"), bound.of_operands(1, 2)) == (4, 4, "aa", 3)
    assert (bound.Protocol.doubled(2), bound.of_names(1), bound.of_names(left=1, right=4)) == (4, 3, 5)

    class Failing:
        def __index__(self):
            raise ZeroDivisionError

    for wrong in ("text", None, (), 1.5, Failing()):
        assert protocol.added(wrong) is NotImplemented
        assert wrong == "text" or protocol.combined(wrong) is NotImplemented
        assert bound.of_operands(1, wrong) is bound.of_operands(wrong, 1) is NotImplemented
        assert bound.Protocol.doubled(wrong) is bound.of_names(1, right=wrong) is NotImplemented
        with pytest.raises(TypeError, match="incompatible function arguments"):
            bound.Number(wrong)
    for call in (
        protocol.added,
        bound.of_operands,
        lambda: bound.of_operands(1, 2, 3),
        lambda: bound.of_names(1, 2, 3),
    ):
        assert call() is NotImplemented


@pytest.mark.thread_unsafe(reason="calls are counted")
def test_operators_make_no_message_for_operands_that_do_not_fit(bound):
    number, protocol = bound.Number(1), bound.Protocol(3)
    names = set()

    def note(frame, event, argument):
        names.add(frame.f_code.co_name)

    def use(other):
        assert (number == other, number != other, other in protocol) == (False, True, False)
        assert (number.__add__(other), number.__iadd__(other)) == (NotImplemented, NotImplemented)

    for other in ("text", None, ()):
        use(other)  # `in` remembers the class on PyPy
        sys.setprofile(note)
        try:
            use(other)
        finally:
            sys.setprofile(None)
    assert names & {"use", "given_class_name"} == {"use"}
    assert (2 in protocol, 2.0 in protocol, bound.Number(1) + bound.Number(2) == bound.Number(3)) == (True, True, True)
    with pytest.raises(TypeError, match=r"__eq__\(\): incompatible function arguments|missing"):
        number.__eq__()


def test_overload_cast_chooses_a_function(bound):
    assert (bound.Overloaded.kind(1), bound.Overloaded.kind(1.5)) == (1, 2)
    both = bound.Overloaded()
    assert (both.get(1), both.get("x"), both.get_const(1)) == ("int", "str", "const int")


# --- constructors -----------------------------------------------------------------------------------------------------


@pytest.mark.thread_unsafe(reason="the library counts the objects of all threads")
def test_a_constructor_that_is_a_function_returns_a_known_object(bound):
    one = bound.Unique(1)
    assert bound.Unique(value=1) is one
    assert bound.Unique("1") is one
    assert (one.value, one.n_made, bound.Unique(2) is one) == (1, 3, False)
    with pytest.raises(TypeError):
        bound.Unique()
    assert bound.Unique.__new__(bound.Unique, value=1) is one
    assert (one.n_made, one.value) == (4, 1)

    class Fancy(bound.Unique):
        def text(self):
            return str(self.value)

    fancy = Fancy(1)
    assert (fancy.text(), type(fancy), fancy.n_made, type(Fancy(3))) == ("1", Fancy, 5, Fancy)

    class Chosen(bound.Unique):
        def __new__(cls, value):
            return super().__new__(cls, value)

    assert (type(Chosen(5)), Chosen(5).value) == (Chosen, 5)


def test_new_of_a_constructor_that_is_a_function_refuses_other_classes(bound):
    for other in (int, bound.State, 1):
        with pytest.raises(RuntimeError, match=r"bound_members\.Unique\.__new__\(\) takes this class or"):
            bound.Unique.__new__(other)
    empty = bound.Unique.__new__(bound.Unique)
    with pytest.warns(RuntimeWarning, match="uninitialized"), pytest.raises(TypeError):
        print(empty.value)


@pytest.mark.thread_unsafe(reason="the library counts the objects of all threads")
def test_init_that_constructs_in_place(bound):
    collect_garbage()
    before = bound.State.alive()
    states = [bound.State(1), bound.State(y="b", x=2), bound.State(3, "c")]
    assert [(s.x, s.y) for s in states] == [(1, "why"), (2, "b"), (3, "c")]
    assert bound.State.alive() == before + 3
    with pytest.raises(ValueError, match="negative"):
        bound.State(-1)
    with pytest.raises(TypeError, match=r"__init__\(self, x: int, y: str = 'why'\) -> None"):
        bound.State("x")
    del states
    collect_garbage()
    assert bound.State.alive() == before

    class Derived(bound.State):
        def __init__(self):
            super().__init__(x=9)

    assert Derived().x == 9


def test_states_are_copied_and_pickled(bound):
    state = bound.State(4, "four")
    for other in (copy.copy(state), copy.deepcopy(state), *(pickle.loads(pickle.dumps(state, p)) for p in range(2, 6))):
        assert (type(other), other.x, other.y, other is state) == (bound.State, 4, "four", False)
    broken = bound.State.__new__(bound.State)
    with pytest.raises(ValueError, match="negative"):
        broken.__setstate__((-1, "x"))
    with pytest.raises(TypeError):
        broken.__setstate__(3)
    broken.__setstate__((5, "five"))
    assert broken.x == 5


def test_implicit_conversions(bound):
    assert (bound.target(1), bound.target(bound.Source(1)), bound.target(bound.Target(2))) == (101, 11, 102)
    for wrong in ("x", None, 1.5):
        with pytest.raises(TypeError):
            bound.target(wrong)
    assert bound.shared_target(bound.Target(2)) == 102
    with pytest.raises(TypeError):  # the converted object would end with the call
        bound.shared_target(2)


# --- classes ----------------------------------------------------------------------------------------------------------


def test_a_class_in_a_class(bound):
    inner = bound.Outer.Inner
    assert (inner.__qualname__, inner.__module__, inner.__name__) == ("Outer.Inner", "bound_members", "Inner")
    assert type(inner().make()) is bound.Outer


MANY = itertools.count()


@pytest.mark.thread_unsafe(reason="calls are counted, and the classes are numbered")
def test_a_class_costs_as_much_as_it_has_methods(bound):
    def prepare(n):
        number = next(MANY)
        return lambda: bound.define_many(bound, number, n, 0)

    assert_grows_with_size(prepare)
    cls = bound.Many0
    assert cls().method99(5) == 5
    assert cls.method99.__doc__ == "method99(self, by: int) -> int"
    assert list(inspect.signature(cls.method99).parameters) == ["self", "by"]
    assert [method.name for method in cls.__tvm_ffi_type_info__.methods[1:]] == [f"method{i}" for i in range(100)]


@pytest.mark.thread_unsafe(reason="calls are counted, and the classes are numbered")
def test_the_properties_of_a_class_are_read_once(bound):
    n_read, number = 0, next(MANY)

    def note(frame, event, argument):
        nonlocal n_read
        n_read += event == "call" and frame.f_code.co_name == "arguments_of_row"

    sys.setprofile(note)
    try:
        bound.define_many(bound, number, 0, 30)
    finally:
        sys.setprofile(None)
    assert n_read == 30
    cls = getattr(bound, f"Many{number}")
    many = cls()
    many.value29 = 7
    assert (many.value0, many.value29) == (7, 7)
    assert [field.name for field in cls.__tvm_ffi_type_info__.fields] == [f"value{i}" for i in range(30)]


def test_a_final_class_has_no_subclass(bound):
    with pytest.raises(TypeError, match=r"The type 'bound_members\.Final' prohibits subclassing!"):
        type("Derived", (bound.Final,), {})
    assert type(bound.Final()) is bound.Final


def test_a_class_that_bypasses_the_metaclass_cannot_derive_from_a_final_one(bound):
    for use in (lambda derived: derived(), lambda derived: setattr(derived, "number", 1)):
        with pytest.raises(TypeError, match=r"The type 'bound_members\.Final' prohibits subclassing!"):
            use(type.__new__(type(bound.Final), "Derived", (bound.Final,), {}))  # PyPy asks the metaclass
    other = type.__new__(type(bound.State), "Other", (bound.State,), {})
    other.number = 1
    assert (other(2).x, other.number) == (2, 1)


@needs_identity
@needs_one_wrapper
def test_tools_for_nanobind_read_the_overloads_of_operators_and_constructors(bound):
    number = bound.Number
    assert number.__add__.__nb_signature__ == (
        ("def __add__(self, arg: bound_members.Number, /) -> bound_members.Number", None, None),
        ("def __add__(self, arg: int, /) -> bound_members.Number", None, None),
    )
    assert number.__init__.__nb_signature__ == (("def __init__(self, arg: int, /) -> None", None, None),)
    in_place, by_init = bound.State.__init__.__nb_signature__
    assert in_place == (r"def __init__(self, x: int, y: str = \0) -> None", None, ("why",))
    assert by_init == ("def __init__(self, arg0: int, arg1: str, /) -> None", None, None)
    assert [line for line, *_ in number.__lt__.__nb_signature__] == [
        "def __lt__(self, arg: bound_members.Number, /) -> bool"
    ]
    for written in (lambda: None, ffi_hpy.Array.__init__, ffi_hpy.testing.TestIntPair.__init__):
        assert not hasattr(written, "__nb_signature__")


@pytest.mark.thread_unsafe(reason="the library counts the objects of all threads")
def test_never_destruct_leaves_the_value(bound):
    bound.Kept()
    collect_garbage()
    assert bound.Kept.destroyed() == 0


def test_levels_of_inheritance(bound):
    level = bound.Level2()
    assert (level.zero(), level.one(), level.two(), level.zero_of_two(), level.visited()) == (0, 1, 2, 0, "yes")
    assert bound.Level2.__mro__[1:3] == (bound.Level1, bound.Level0)
    assert "Documented." in bound.Level2.visited.__doc__


def test_virtual_base_classes(bound):
    for made in (bound.Diamond(), bound.make_diamond()):
        made.root += 10
        assert (type(made), made.root, made.left, made.diamond) == (bound.Diamond, 11, 2, 3)
        assert bound.root_of(made) == 11
    assert (bound.Left().root, bound.root_of(bound.Left())) == (1, 1)
