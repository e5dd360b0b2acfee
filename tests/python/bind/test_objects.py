"""Python objects in C++: parameters of their classes, attributes, items, calls, operators, conversions, errors."""

from __future__ import annotations

import enum
import gc
import inspect
import re
import sys
import weakref

import pytest
from support import FREES_AT_ONCE, IS_OWN_DEBUG, NO_GIL, needs_identity, needs_one_wrapper

pytestmark = needs_one_wrapper


@pytest.fixture(scope="module")
def m(import_bound):
    """The module of bound_objects.cc."""
    return import_bound("bound_objects")


# --- parameters -------------------------------------------------------------------------------------------------------


def test_args_and_kwargs(m):
    assert m.rest(1) == (1, (), {})
    assert m.rest(1, 2, "x", a=4, b=[5]) == (1, (2, "x"), {"a": 4, "b": [5]})
    assert m.all_kinds(1, 2, 3, z=4, q=None) == (1, (2, 3), 4, {"q": None})
    assert m.all_kinds(z=4, i=1) == (1, (), 4, {})
    with pytest.raises(TypeError, match=r"all_kinds\(i: int, \*args, z: int, \*\*kwargs\) -> tuple"):
        m.all_kinds(1, 2)


def test_parameters_by_name_only(m):
    assert (m.by_name(1), m.by_name(1, j=2), m.by_name(i=3, j=4)) == ((1, 5), (1, 2), (3, 4))
    for args, named in (((1, 2), {}), ((), {"j": 1}), ((1,), {"k": 1}), ((1,), {"i": 1})):
        with pytest.raises(TypeError, match=r"by_name\(i: int, \*, j: int = 5\)"):
            m.by_name(*args, **named)
    assert str(inspect.signature(m.by_name)) == "(i: int, *, j: int = 5) -> tuple"
    assert str(inspect.signature(m.all_kinds)) == "(i: int, *args, z: int, **kwargs) -> tuple"


@pytest.mark.skipif(IS_OWN_DEBUG, reason="in our debug mode each access gets another wrapper, without its names")
def test_overloads_with_other_names(m):
    assert (m.named(1, 2), m.named(b=2, a=1)) == (12, 12)
    assert (m.named(x=3), m.named(3, "z"), m.named(b="y", x=1)) == ((3, "-"), (3, "z"), (1, "y"))
    with pytest.raises(TypeError, match=r"Invoked with types: kwargs = \{ a: int, x: int \}"):
        m.named(a=1, x=2)


def test_a_signature_by_the_author(m):
    assert m.described.__doc__ == "described(x: Literal[1]) -> Literal[1]\n\nDocumented."
    assert "x: int = ONE" in m.shown.__doc__
    assert m.default_list() is m.default_list()


# --- identity ---------------------------------------------------------------------------------------------------------


@pytest.mark.thread_unsafe(reason="the library has one last object for all threads")
@needs_identity
def test_cpp_finds_an_object_by_an_address_that_its_constructor_has_stored(m):
    made = [m.Linked() for _ in range(3)]
    assert m.Linked.last() is made[2]
    assert m.Linked.last() is made[2]


@pytest.mark.thread_unsafe(reason="the library has one last object for all threads")
@needs_identity
def test_an_instance_of_a_subclass_is_found_by_an_address(m):
    class Named(m.Linked):
        name = "b"

    named = Named()
    named.name = "a"
    assert m.Linked.last() is named
    assert m.Linked.last().name == "a"


@pytest.mark.thread_unsafe(reason="the library has one last object for all threads")
@needs_identity
def test_an_object_without_a_truth_value_is_found_by_an_address(m):
    class Empty(m.Linked):
        def __len__(self):
            return 0

    empty = Empty()
    assert m.Linked.last() is empty


@needs_identity
def test_cpp_finds_objects_by_the_addresses_that_a_method_has_stored(m):
    for _ in range(10):  # a class whose objects are found so registers its wrappers early in the end
        first, second = m.Linked(), m.Linked()
        first.link(second)
        assert first.next() is second
        assert first.next().same() is second


@needs_identity
@pytest.mark.thread_unsafe(reason="the library has one pointer for all threads")
def test_cpp_finds_an_object_that_gets_its_value_late(m):
    for _ in range(10):
        linked = m.Linked.__new__(m.Linked)
        with pytest.warns(RuntimeWarning), pytest.raises(TypeError):
            linked.next()
        linked.__init__()
        assert m.Linked.last() is linked


@needs_identity
def test_a_call_that_returns_its_object_returns_the_same_object(m):
    for _ in range(10):
        linked = m.Linked()
        assert linked.same() is linked
        assert linked.show(lambda it: it) is linked
        assert m.Linked().show(lambda it, other=linked: it is other) is False


# --- objects ----------------------------------------------------------------------------------------------------------


NUMBERS_AND_TEXTS = [None, True, 3, 2**80, -(2**64), 2.5, "", "text", "a longer text", b"", b"bytes"]
OTHER_OBJECTS = [(1, [2]), [1], {"a": 1}, {1}, object(), int, len, slice(1, 2), range(3), Ellipsis, 1j]


@pytest.mark.parametrize("value", [*NUMBERS_AND_TEXTS, *OTHER_OBJECTS], ids=repr)
def test_an_object_stays_itself(m, value):
    for function in (m.same, m.same_handle):
        got = function(value)
        assert isinstance(got, type(value))
        assert got == value
    if not isinstance(value, (int, float, str, bytes)) or isinstance(value, bool):
        assert m.same(value) is value
        assert m.is_same(value, value)
    assert m.vector_of_objects([value, value])[1] == value


def test_objects_of_other_identity(m):
    assert not m.is_same([], [])
    assert not m.is_same(1, "1")


def test_iteration(m):
    assert m.items_of(range(4)) == [0, 1, 2, 3]
    assert m.items_of(iter(["a", None, [1]])) == ["a", None, [1]]
    assert m.pairs_of({1: "a", None: [2]}) == [(1, "a"), (None, [2])]

    def fails():
        yield 1
        raise KeyError("late")

    with pytest.raises(KeyError, match="late"):
        m.items_of(fails())
    with pytest.raises(TypeError, match=r"^items_of\(\): incompatible function arguments"):
        m.items_of(enum.Enum("Letter", "A").A)  # only the class has items


def test_containers(m):
    items = [1, 2]
    assert m.sum(items) == 3
    assert items == [1, 2, 3]
    with pytest.raises(TypeError, match=r"sum\(arg: list, /\) -> int\n\nInvoked with types: tuple$"):
        m.sum((1, 2))
    with pytest.raises(RuntimeError, match="bad_cast"):
        m.sum(["x"])
    assert m.container() == {"a": 5, "inner": [3], "has_x": True, "has_key": True}
    assert m.Box().hold(items) is items
    assert (m.maybe_list(None), m.maybe_list(items)) == (None, items)
    assert m.any_tuple((1, 2)) == 2


def test_attributes_and_calls(m):
    class Target:
        gone = 1

    target = Target()
    target.gone = 2
    assert m.attributes(target)[0] == 2
    assert target.x == 2
    assert m.call(lambda *args, **named: (args, named), 1, [2], y=3) == ((1, [2]), {"x": 5, "y": 3})
    with pytest.raises(TypeError, match="x"):
        m.call(lambda **named: named, x=1)
    box = m.make_box()
    assert box.value == 0
    assert IS_OWN_DEBUG or box.me is box
    with pytest.raises(RuntimeError, match="empty object is called"):
        m.empty_call()


def test_operators(m):
    assert m.operators(7, 2) == (9, 5, 14, 3.5, 3, -7, False, False, True)
    with pytest.raises(TypeError, match=r"not supported between|unsupported operand"):
        m.operators([], 1)


def test_numbers_and_strings(m):
    assert m.numbers(2**70, 1.5) == (2**70 + 1, 3.0, 2, 1.5)
    assert m.strings("é" * 20, b"\0x") == ("é" * 20 + "-3", b"\0x", "text", "7")
    assert m.slice(slice(2, None, 3)) == (2, 10, 3, 3, slice(1, 5, 2))


def test_classes(m):
    assert m.kinds([]) == (True, False, False, False, False, False)
    assert m.kinds("x") == (False, True, False, False, False, False)
    assert m.kinds(2**70) == (False, False, True, False, False, False)
    assert m.kinds(3) == (False, False, True, False, False, True)
    assert m.kinds(len)[3] is True
    assert m.kinds(m.Box()) == (False, False, False, False, True, False)
    box = m.Box()
    assert m.typed(box, m.Box)[1] is m.Box
    with pytest.raises(TypeError, match=r"typed\(arg0: bound_objects.Box, arg1: type\[bound_objects.Box\], /\)"):
        m.typed(box, int)


def test_other_classes(m, capsys):
    m.print([1])
    assert capsys.readouterr().out == "[1]!"
    assert m.capsule() is True

    def target():
        pass

    assert m.weak(target) is True
    assert (m.function(), m.function(4), m.function(x=5)) == (2, 5, 6)


a_global = [1]


def test_code_of_python(m):
    assert m.evaluate("a_global + [2]") == [1, 2]
    assert m.execute() == 43
    assert m.variables() is globals()
    with pytest.raises(SyntaxError):
        m.evaluate("no sense ...")


# --- conversions and errors -------------------------------------------------------------------------------------------


def test_casters_of_authors(m):
    assert (m.warmer(1.5), m.warmer(3)) == (2.5, 4.0)
    assert m.warmer.__doc__ == "warmer(arg: float, /) -> float"
    assert (m.try_int(4), m.try_int("x")) == ((True, 4), (False, -1))
    with pytest.raises(RuntimeError, match="bad_cast"):
        m.cast_int("x")


def test_errors_of_python(m):
    raised = ValueError("bad")

    def fail():
        raise raised

    what, value, cls, matches = m.caught(fail)
    assert what.startswith("Traceback (most recent call last):\n")
    assert ", in test_errors_of_python\n" in what
    assert re.search(r'File ".*test_objects.py", line \d+, in fail\n', what)
    assert what.endswith("\nValueError: bad")
    assert "_bind" not in what
    assert (value, cls, matches) == (raised, ValueError, True)
    assert m.caught(lambda: {}[1])[3] is False
    assert (m.text_of_error("OSError"), m.text_of_error("EOFError")) == ("OSError", "EOFError")
    with pytest.raises(ValueError, match="bad") as caught:
        m.passed_on(fail)
    assert caught.value is raised


@pytest.mark.thread_unsafe(reason="sys.unraisablehook is one for all threads")
def test_an_error_that_is_ignored(m, monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: seen.append((info.exc_type, info.err_msg, info.object)))

    def fail():
        raise KeyError("k")

    m.ignored(fail)
    assert seen == [(KeyError, None, "a test")]


@pytest.mark.parametrize(
    "value", [[1], {1: 2}, (1,), memoryview(b"a"), object()], ids=lambda value: type(value).__name__
)
def test_members_and_properties_keep_the_object_itself(m, value):
    shelf = m.Shelf()
    shelf.left = shelf.right = value
    assert shelf.left is value
    assert shelf.right is value
    assert m.Shelf.left.__doc__ == "On the left."
    with pytest.raises(AttributeError):
        del shelf.left
    with pytest.raises(TypeError):
        m.Shelf.left.__set__(1, value)


def test_an_item_keeps_its_key(m):
    filled = {}
    m.set_item_after_its_key_ends(filled)
    assert filled == {"the first of the texts": 1}


# --- tuples and lists by item, and other conversions ------------------------------------------------------------------


def test_sequences_are_filled_by_item(m):
    assert m.build([1, "a", None], 3) == (True, (1, "a", None), [3])
    for n in (2, 4):
        with pytest.raises(RuntimeError, match="not completely filled"):
            m.build([1, 2, 3], n)
    with pytest.raises(MemoryError):
        m.build([1], sys.maxsize // 8 + 1)  # of 16 bytes: the product does not fit in a size_t
    with pytest.raises(RuntimeError, match="already committed"):
        m.build_twice()
    assert m.put_unbound() is False


def test_an_attribute_or_another_value(m):
    class Raises:
        x = 1

        def __getattr__(self, name):
            raise ValueError(name)

    assert [m.attribute_or(Raises(), name, 5) for name in ("x", "y")] == [1, 5]
    assert m.attribute_or(Raises(), "y", None) is None


def test_texts_and_large_numbers_of_objects(m):
    for text in ("", "abc", "seven77", "a longer text than that"):
        assert (m.text(text), m.text_of_item([text])) == (text, text)
    with pytest.raises(RuntimeError, match="bad_cast"):
        m.text(1)

    class Index:
        def __init__(self, value):
            self.value = value

        def __index__(self):
            return self.value

    for value in (0, 2**63, 2**64 - 1):
        assert m.uint64(Index(value)) == value
    for value in (-1, 2**64, 2**100):
        with pytest.raises(TypeError):
            m.uint64(Index(value))


def test_a_fallback_comes_last(m):
    assert [m.falls_back(value) for value in (1.5, 1, "1", None)] == ["float", "float", "fallback", "fallback"]


def test_none_comes_last_in_the_types_of_a_parameter(m):
    assert m.variant.__doc__ == "variant(arg: int | str | None, /) -> None | int | str"
    assert m.variants.__doc__ == (
        "variants(arg: collections.abc.Sequence[collections.abc.Sequence[int] | None], /) -> list[None | list[int]]"
    )
    assert [m.variant(value) for value in (None, 1, "x")] == [None, 1, "x"]


def test_an_empty_object_is_an_error(m):
    for call in (m.call_nothing, lambda: m.pass_nothing(print)):
        with pytest.raises(RuntimeError, match="bad_cast"):
            call()
    assert m.null_capsule() is None
    assert m.acquires()


def test_the_last_line_of_a_signature_is_shown(m):
    assert m.with_decorator.__doc__ == "with_decorator(x: Literal[1], /) -> int"


@pytest.mark.thread_unsafe(reason="it counts the copies of all threads")
def test_an_assigned_member_is_moved(m):
    moved, item = m.Moved(), m.Counted()
    before = m.Moved.n_copies
    moved.items = [item, item]
    assert m.Moved.n_copies - before == 2


def test_an_argument_that_cannot_be_read_is_one_for_the_next_overload(m):
    class Fails:
        def __init__(self, error):
            self.error = error

        def __iter__(self):
            raise self.error

        def __float__(self):
            return 1.5

    assert m.sum_of([1]) == "list"
    assert m.sum_of(Fails(ValueError("x"))) == "float"
    for error in (KeyboardInterrupt, MemoryError):
        with pytest.raises(error):
            m.sum_of(Fails(error()))


# --- the end of objects -----------------------------------------------------------------------------------------------


@pytest.mark.skipif(not FREES_AT_ONCE, reason="objects end later")
@pytest.mark.thread_unsafe(reason="it changes the class")
def test_a_class_may_get_a_finalizer_and_lose_it(m):
    ended = []
    m.Counted.__del__ = lambda self: ended.append(self)
    m.Counted()
    assert [type(each) for each in ended] == [m.Counted]
    ended.clear()  # it is called once
    assert ended == []
    del m.Counted.__del__
    m.Counted()
    assert ended == []


@pytest.mark.skipif(not FREES_AT_ONCE, reason="objects end later")
def test_objects_of_derived_classes_end_completely(m):
    class WithState(m.Counted):
        pass

    class Slim(m.Counted):
        __slots__ = ()

    value = WithState()
    value.other = other = WithState()
    dead = weakref.ref(value), weakref.ref(other)
    del value, other
    assert (dead[0](), dead[1]()) == (None, None)
    changed = m.Counted()
    changed.__class__ = Slim
    assert type(changed) is Slim
    assert gc.is_tracked(changed)
    del changed
    back = Slim()
    back.__class__ = m.Counted
    del back


@pytest.mark.skipif(not FREES_AT_ONCE or NO_GIL, reason="it counts references")
@pytest.mark.thread_unsafe(reason="it changes the class")
def test_an_object_whose_finalizer_assigns_a_class_releases_that_class(m, monkeypatch):
    class Slim(m.Counted):
        __slots__ = ()

    n_changed = []

    def change(self):
        self.__class__ = Slim
        n_changed.append(1)

    monkeypatch.setattr(m.Counted, "__del__", change, raising=False)
    gc.collect()  # objects of other tests
    n_changed.clear()
    before = sys.getrefcount(Slim), sys.getrefcount(m.Counted)
    for _ in range(100):
        m.Counted()
    assert len(n_changed) == 100
    assert (sys.getrefcount(Slim), sys.getrefcount(m.Counted)) == before


@pytest.mark.skipif(not FREES_AT_ONCE or NO_GIL, reason="it counts references")
@pytest.mark.thread_unsafe(reason="other threads make objects, too")
def test_objects_release_their_class(m):
    gc.collect()  # objects of other tests
    before = sys.getrefcount(m.Counted)
    kept = [m.Counted() for _ in range(100)]
    during = sys.getrefcount(m.Counted)
    del kept
    after = sys.getrefcount(m.Counted)
    assert (during - before, after - before) == (100, 0)
