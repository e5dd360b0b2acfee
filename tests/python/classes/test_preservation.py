"""Preservation: a wrapper with state stays the wrapper of its object as long as native code holds the object."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any

import pytest
from support import (
    FREES_AT_ONCE,
    IS_OVER_CFFI,
    IS_PYPY,
    REFUSES_FINALIZERS,
    collect_garbage,
    is_gone,
    parallelize,
    run_python,
    unique_name,
)

import ffi_hpy
from ffi_hpy import _core

pytestmark = pytest.mark.skipif(not _core.KEEPS_IDENTITY, reason="in debug modes every wrapper is one of its own")


@pytest.fixture(scope="module")
def Shape(upstream):
    from support.native_build import compile_cxx

    ffi_hpy.load_module(compile_cxx("preserve.cc", upstream / "tvm_ffi" / "include"))

    @ffi_hpy.register_object("preserve.Shape")
    class Shape(ffi_hpy.Object):
        def area(self) -> int:
            return 0

    @ffi_hpy.register_object("preserve.Frame")
    class Frame(ffi_hpy.Object):
        pass

    Shape.Frame = Frame
    return Shape


@pytest.fixture(scope="module")
def native(Shape):
    class Functions:
        def __getattr__(self, name: str) -> Any:
            return ffi_hpy.get_global_func(f"preserve.{name}")

    return Functions()


@pytest.fixture(scope="module")
def Square(Shape):
    class Square(Shape):
        __slots__ = ("__dict__", "__weakref__")

        def area(self) -> int:
            return self.edge * self.edge

    return Square


@pytest.fixture(autouse=True)
def _other_tests_have_ended(native):
    """Free the objects of the test before: tests count the live objects."""
    if not FREES_AT_ONCE:
        collect_garbage(lambda: native.n_alive() == 0, n_rounds=3)


def dropped(make):
    """Return the facts about an object that only native code holds after the call: its id, and a weak reference."""
    made = make()
    made.edge = 3
    made.friend = made.__class__
    return id(made), weakref.ref(made)


def settle() -> None:
    """Let the interpreter end wrappers to which no reference is left."""
    gc.collect()
    gc.collect()


# --- wrappers that come back ------------------------------------------------------------------------------------------


def test_a_subclass_comes_back_with_its_attributes(Square):
    shelf = ffi_hpy.List()

    def make():
        square = Square(4)
        shelf.append(square)
        return square

    number, ref = dropped(make)
    settle()
    again = shelf[0]
    assert type(again) is Square
    assert again.area() == 9
    assert again.friend is Square
    assert id(again) == number
    assert ref() is again
    assert shelf[0] is again
    del again
    settle()
    assert ref() is not None
    assert shelf[0].area() == 9
    shelf.clear()
    assert is_gone(ref)


def test_a_subclass_without_attributes_keeps_its_methods(Shape):
    class Triangle(Shape):
        def area(self) -> int:
            return 7

    shelf = ffi_hpy.List([Triangle(3)])
    settle()
    assert type(shelf[0]) is Triangle
    assert shelf[0].area() == 7


def test_the_object_is_freed_when_both_sides_have_let_go(Square, native):
    before = native.n_alive()
    shelf = ffi_hpy.List([Square(i) for i in range(100)])
    settle()
    assert native.n_alive() == before + 100
    assert [square.sides for square in shelf] == list(range(100))
    settle()
    shelf.clear()
    collect_garbage(lambda: native.n_alive() == before)
    assert native.n_alive() == before


# --- holders ----------------------------------------------------------------------------------------------------------


def a_list(native, Shape):
    shelf = ffi_hpy.List()
    return shelf.append, lambda: shelf[0], shelf.clear


def a_map(native, Shape):
    holder = []
    return lambda one: holder.append(ffi_hpy.Map({"k": one})), lambda: holder[0]["k"], holder.clear


def a_dict(native, Shape):
    holder = ffi_hpy.Dict()
    return lambda one: holder.__setitem__("k", one), lambda: holder["k"], holder.clear


def a_key(native, Shape):
    holder = []
    return lambda one: holder.append(ffi_hpy.Map({one: 1})), lambda: next(iter(holder[0])), holder.clear


def an_array_of_arrays(native, Shape):
    holder = []
    return lambda one: holder.append(ffi_hpy.Array([[one]])), lambda: holder[0][0][0], holder.clear


def a_field(native, Shape):
    frame = Shape.Frame()
    return (
        lambda one: setattr(frame, "content", one),
        lambda: frame.content,
        lambda: setattr(frame, "content", None),
    )


def a_pointer(native, Shape):
    return native.keep, native.kept, native.forget


def a_pointer_that_gives_up_its_reference(native, Shape):
    native_list = ffi_hpy.List()

    def get():
        one = native_list.pop()
        native_list.append(one)
        return one

    return native_list.append, get, native_list.clear


def a_thread_that_forgets(native, Shape):
    return native.keep, native.kept, native.forget_in_thread


def an_argument(native, Shape):
    return native.keep, lambda: native.call_with_kept(lambda one: one), native.forget


def an_argument_in_a_thread(native, Shape):
    return native.keep, lambda: native.call_in_thread(lambda one: one), native.forget


def a_weak_pointer(native, Shape):
    def keep(one):
        native.keep(one)
        native.watch(one)

    return keep, native.watched, native.forget


HOLDERS = [
    a_list,
    a_map,
    a_dict,
    a_key,
    an_array_of_arrays,
    a_field,
    a_pointer,
    a_pointer_that_gives_up_its_reference,
    a_thread_that_forgets,
    an_argument,
    an_argument_in_a_thread,
    a_weak_pointer,
]


@pytest.mark.thread_unsafe(reason="the library has one pointer for all threads")
@pytest.mark.parametrize("holder", HOLDERS, ids=[holder.__name__ for holder in HOLDERS])
def test_every_holder_gives_the_same_object(holder, native, Shape, Square):
    before = native.n_alive()
    keep, get, forget = holder(native, Shape)
    ends = []

    def make():
        square = Square(5)
        keep(square)
        return square

    number, ref = dropped(make)
    for _ in range(3):
        settle()
        again = get()
        assert (type(again), id(again), again.edge, again.sides) == (Square, number, 3, 5)
        assert get() is again
        assert native.use_count(again) >= 2  # the holder, and the wrapper
        del again
    watcher = weakref.ref(get(), ends.append)
    settle()
    assert ends == []
    forget()
    assert is_gone(ref)
    collect_garbage(lambda: native.n_alive() == before and bool(ends))  # PyPy calls `ends.append` late
    assert ends == [watcher]
    assert native.n_alive() == before


def test_a_thread_of_cpp_that_has_the_only_reference_gives_the_same_object(Square, native):
    before = native.n_alive()
    seen, go_on = [], []

    def make():
        square = Square(5)
        go_on.append(native.hold_in_thread(square, lambda one: seen.append((type(one), id(one), one.edge, one.sides))))
        return square

    number, ref = dropped(make)
    settle()
    assert id(ref()) == number
    settle()
    go_on.pop()()
    assert seen == [(Square, number, 3, 5)]
    assert is_gone(ref)
    collect_garbage(lambda: native.n_alive() == before)
    assert native.n_alive() == before


# --- use while only native code holds the object ----------------------------------------------------------------------


def test_a_weak_reference_gives_an_object_that_works(Square, native):
    shelf = ffi_hpy.List()

    def make():
        square = Square(6)
        shelf.append(square)
        return square

    _, ref = dropped(make)
    settle()
    assert ref().sides == 6
    ref().sides = 8
    assert native.use_count(ref()) >= 2
    assert shelf[0].sides == 8
    settle()
    other = ffi_hpy.List([ref()])
    shelf.clear()
    settle()
    assert other[0].area() == 9
    other.clear()
    assert is_gone(ref)


def test_a_weak_reference_keeps_the_object_that_native_code_releases(Square, native):
    before = native.n_alive()
    shelf = ffi_hpy.List([Square(6)])
    ref = weakref.ref(shelf[0])
    settle()
    square = ref()
    shelf.clear()
    settle()
    assert square.sides == 6
    assert native.n_alive() == before + 1
    del square
    collect_garbage(lambda: native.n_alive() == before)
    assert ref() is None


def test_an_object_becomes_a_python_attribute_and_native_again(Square):
    shelf = ffi_hpy.List([Square(1)])
    number = id(shelf[0])
    for i in range(20):
        shelf[0].number = i
        settle() if i % 5 == 0 else None
        shelf.append(shelf[0])
        assert shelf[-1].number == i
        assert id(shelf[-1]) == number


def test_a_callback_gets_the_object_that_its_caller_passes(Square, native):
    square = Square(6)
    square.edge = 2
    assert native.call_with(lambda one: one is square and one.area(), square) == 4
    assert native.call_with(lambda one: native.call_with(lambda two: two is one, one), square)


# --- moves ------------------------------------------------------------------------------------------------------------


@pytest.mark.thread_unsafe(reason="the library has one pointer for all threads")
def test_a_moved_wrapper_gets_its_object_back(Square, native):
    square = Square(4)
    square.edge = 2
    native.keep_moved(square._move())
    with pytest.raises(ValueError, match=r"moved|handle"):
        _ = square.sides
    again = native.give()
    assert again is square
    assert (square.sides, square.area()) == (4, 4)
    native.keep_moved(square._move())
    number, ref = id(square), weakref.ref(square)
    del square, again
    settle()
    again = native.give()
    assert (id(again), type(again), again.sides, again.edge) == (number, Square, 4, 2)
    del again
    assert is_gone(ref)


def test_a_callback_gets_the_wrapper_that_is_moved_into_it(Square, native):
    before = native.n_alive()
    square = Square(4)
    square.edge = 2
    shelf = ffi_hpy.List()

    def use(found):
        assert found is square
        assert (found.sides, found.area()) == (4, 4)
        shelf.append(found)
        return found

    assert ffi_hpy.convert(use)(square._move()) is square
    assert shelf[0] is square
    shelf.clear()
    assert square.sides == 4

    square = None
    collect_garbage(lambda: native.n_alive() == before)
    assert native.n_alive() == before


@pytest.mark.skipif(IS_OVER_CFFI, reason="the cffi backend refuses a second move until the first call ends")
def test_a_callback_moves_its_argument_into_another_call(Square, native):
    before = native.n_alive()
    inner = ffi_hpy.convert(lambda found: found.sides)

    def move_on(found):
        assert inner(found._move()) == 4
        return found.sides  # the inner callback has got the same wrapper

    square = Square(4)
    square.edge = 2
    assert ffi_hpy.convert(move_on)(square._move()) == 4
    assert (square.sides, square.edge) == (4, 2)
    square = None
    collect_garbage(lambda: native.n_alive() == before)
    assert native.n_alive() == before


def test_a_moved_wrapper_comes_out_of_a_container_during_the_call(Square, native):
    before = native.n_alive()
    square = Square(4)
    square.edge = 2
    shelf = ffi_hpy.List([square])
    take = ffi_hpy.convert(lambda moved: (shelf[0] is moved, shelf[0].sides))
    assert tuple(take(square._move())) == (True, 4)
    assert shelf[0] is square
    assert native.call_with(lambda moved: moved is shelf[0] and moved.area(), square._move()) == 4
    assert (square.sides, type(shelf[0]), shelf[0].edge) == (4, Square, 2)
    square = shelf = None
    collect_garbage(lambda: native.n_alive() == before)
    assert native.n_alive() == before


@pytest.mark.thread_unsafe(reason="the library has one pointer for all threads")
def test_a_moved_wrapper_stays_empty_if_native_code_drops_the_object(Square, native):
    before = native.n_alive()
    square = Square(4)
    ref = weakref.ref(square)
    native.keep_moved(square._move())
    native.forget_in_thread()
    collect_garbage(lambda: native.n_alive() == before)
    assert native.n_alive() == before
    with pytest.raises(ValueError, match=r"moved|handle"):
        _ = square.sides
    del square
    assert is_gone(ref)


@pytest.mark.thread_unsafe(reason="the library has one pointer for all threads")
def test_a_move_that_the_callee_refuses_leaves_the_object(Square, native):
    square = Square(4)
    with pytest.raises(TypeError):
        native.make(square._move())
    assert square.sides == 4
    assert ffi_hpy.List([square])[0] is square


# --- the end ----------------------------------------------------------------------------------------------------------


finalizes = pytest.mark.skipif(REFUSES_FINALIZERS, reason="PyPy refuses __del__ in native classes")


@finalizes
@pytest.mark.parametrize("slots", [(), ("__dict__",), ("note",)], ids=["none", "dict", "slot"])
def test_a_finalizer_runs_once_when_the_object_is_destroyed(Shape, native, slots):
    ended = []

    class Noisy(Shape):
        __slots__ = slots

        def __del__(self):
            ended.append((type(self), self.sides))

    before = native.n_alive()
    shelf = ffi_hpy.List([Noisy(7)])
    for _ in range(3):
        settle()
        assert type(shelf[0]) is Noisy
    assert ended == []
    shelf.clear()
    collect_garbage(lambda: len(ended) == 1 and native.n_alive() == before)
    assert ended == [(Noisy, 7)]
    assert native.n_alive() == before


@finalizes
def test_a_class_may_get_a_finalizer_later(Shape):
    ended = []

    class Plain(Shape):
        __slots__ = ("__dict__",)

    class Derived(Plain):
        pass

    shelf = ffi_hpy.List([Plain(1), Derived(2)])
    if IS_PYPY:
        return  # PyPy looks a finalizer up when an object is made
    Plain.__del__ = lambda self: ended.append((type(self), self.sides))
    settle()
    assert [type(one) for one in shelf] == [Plain, Derived]
    assert ended == []
    shelf.clear()
    collect_garbage(lambda: len(ended) == 2)
    assert ended == [(Plain, 1), (Derived, 2)]
    del Plain.__del__
    shelf.append(Derived(3))
    settle()
    assert type(shelf[0]) is Derived
    shelf.clear()
    assert len(ended) == 2


@finalizes
@pytest.mark.parametrize("slots", [(), ("__dict__",)], ids=["none", "dict"])
def test_a_finalizer_may_give_its_object_to_native_code(Shape, native, slots):
    shelf = ffi_hpy.List()
    calls = []

    class Phoenix(Shape):
        __slots__ = slots

        def __del__(self):
            calls.append(self.sides)
            shelf.append(self)

    before = native.n_alive()
    phoenix = Phoenix(3)
    number = id(phoenix)
    del phoenix
    settle()
    for _ in range(3):
        assert (len(shelf), id(shelf[0]), type(shelf[0])) == (1, number, Phoenix)
        settle()
    shelf.clear()
    collect_garbage(lambda: native.n_alive() == before)
    assert calls == [3]
    assert len(shelf) == 0
    assert native.n_alive() == before


@finalizes
def test_an_object_that_its_finalizer_saved_is_preserved_later(Shape):
    saved = []

    class Saved(Shape):
        __slots__ = ("__dict__",)

        def __del__(self):
            saved.append(self)

    first = Saved(3)
    ffi_hpy.List([first])  # native code has had it
    del first
    collect_garbage(lambda: bool(saved))
    shelf = ffi_hpy.List([saved[0]])
    saved[0].note = "kept"
    number = id(saved.pop())
    settle()
    assert (id(shelf[0]), shelf[0].note, saved) == (number, "kept", [])
    shelf.clear()
    settle()
    assert saved == []


@finalizes
def test_an_object_that_its_finalizer_saved_may_come_to_native_code_for_the_first_time(Shape):
    saved = []

    class Saved(Shape):
        __slots__ = ("__dict__",)

        def __del__(self):
            saved.append(self)

    first = Saved(3)
    first.note = "kept"
    del first
    collect_garbage(lambda: bool(saved))
    shelf = ffi_hpy.List([saved[0]])
    number = id(saved.pop())
    settle()
    assert (id(shelf[0]), shelf[0].note, saved) == (number, "kept", [])
    shelf.clear()
    settle()
    assert saved == []


def test_the_callback_of_a_weak_reference_comes_at_the_real_end(Square):
    ends = []
    shelf = ffi_hpy.List([Square(1)])
    ref = weakref.ref(shelf[0], lambda _: ends.append(len(shelf)))
    settle()
    assert shelf[0] is ref()
    settle()
    assert ends == []
    shelf.clear()
    assert is_gone(ref)
    collect_garbage(lambda: bool(ends))  # PyPy calls it late
    assert ends == [0]


# --- collections of garbage -------------------------------------------------------------------------------------------


class Child:
    """A Python object that tells when it is finalized."""

    def __init__(self, ended):
        self.ended = ended

    def __del__(self):
        self.ended.append(self)


@pytest.mark.parametrize("generation", [0, 1, 2])
def test_a_wrapper_that_refers_to_itself_is_not_garbage(Square, native, generation):
    ended, callbacks = [], []
    before = native.n_alive()
    shelf = ffi_hpy.List([Square(5)])

    def tie():
        square = shelf[0]
        square.itself = [square]
        square.child = Child(ended)
        return weakref.ref(square, callbacks.append), weakref.ref(square.child)

    refs = tie()
    for _ in range(3):
        gc.collect(generation) if not IS_PYPY else gc.collect()
        gc.collect()
        assert ended == callbacks == []
        assert refs[0]() is shelf[0]
        assert refs[1]() is shelf[0].child
    shelf.clear()
    collect_garbage(lambda: native.n_alive() == before and bool(callbacks))
    assert refs[0]() is None
    assert len(ended) == len(callbacks) == 1
    assert native.n_alive() == before


def test_a_cycle_that_native_code_has_released_is_collected(Square, native):
    before = native.n_alive()

    def make(i):
        square = Square(i)
        square.itself = square
        shelf = ffi_hpy.List([square])
        shelf.clear()

    for i in range(50):
        make(i)
    collect_garbage(lambda: native.n_alive() == before)
    assert native.n_alive() == before


# --- classes and copies -----------------------------------------------------------------------------------------------


def test_objects_of_a_py_class_keep_subclass_and_attributes():
    @ffi_hpy.dataclasses.py_class(unique_name("Node"))
    class Node(ffi_hpy.Object):
        value: int

    class Named(Node):
        __slots__ = ("__dict__", "__weakref__")

    shelf = ffi_hpy.List([Named(value=4)])
    shelf[0].name = "four"
    ref = weakref.ref(shelf[0])
    settle()
    assert (type(shelf[0]), shelf[0].value, shelf[0].name) == (Named, 4, "four")
    shelf.clear()
    assert is_gone(ref)


def test_a_registered_class_with_attributes_keeps_them():
    @ffi_hpy.dataclasses.py_class(unique_name("Noted"))
    class Noted(ffi_hpy.Object):
        __slots__ = ("__dict__",)
        value: int

    shelf = ffi_hpy.List([Noted(value=4)])
    shelf[0].note = "kept"
    settle()
    assert shelf[0].note == "kept"


def test_functions_and_containers_keep_their_subclass():
    class Named(ffi_hpy.Array):
        __slots__ = ("__dict__",)

        def first(self):
            return self[0]

    named = Named([1])
    named.note = "kept"
    holder = ffi_hpy.List([named])
    del named
    settle()
    assert (type(holder[0]), holder[0].note, holder[0].first()) == (Named, "kept", 1)


@ffi_hpy.dataclasses.py_class("test_preservation.Original")
class Original(ffi_hpy.Object):
    value: int


class Derived(Original):
    __slots__ = ("__dict__",)


def test_copies_and_pickles_are_other_objects():
    shelf = ffi_hpy.List([Derived(value=1)])
    shelf[0].note = "kept"
    number = id(shelf[0])
    settle()
    for other in (copy.copy(shelf[0]), copy.deepcopy(shelf[0])):
        assert (type(other), other.value, hasattr(other, "note")) == (Original, 1, False)
        assert not other.same_as(shelf[0])
    text = pickle.dumps(shelf[0])
    settle()
    other = pickle.loads(text)
    assert (type(other), other.value, other.note) == (Derived, 1, "kept")
    assert not other.same_as(shelf[0])
    settle()
    assert (id(shelf[0]), type(shelf[0]), shelf[0].note) == (number, Derived, "kept")


# --- threads, fork, exit ----------------------------------------------------------------------------------------------


def test_threads_drop_and_fetch_one_object(Square, native):
    before = native.n_alive()
    shelf = ffi_hpy.List([Square(3)])
    shelf[0].edge = 7
    number = id(shelf[0])

    def work(_thread):
        for _ in range(2000):
            square = shelf[0]
            if id(square) != number or square.edge != 7 or type(square) is not Square or square.sides != 3:
                return False
            del square
        return True

    assert parallelize(work) == [True] * 4
    shelf.clear()
    collect_garbage(lambda: native.n_alive() == before)
    assert native.n_alive() == before


def test_threads_release_and_fetch_objects(Square, native):
    """Each thread takes objects out of a shared list while others put theirs in."""
    before = native.n_alive()
    shelf = ffi_hpy.List()

    def work(thread):
        for i in range(500):
            square = Square(thread)
            square.edge = (thread, i)
            shelf.append(square)
            del square
            other = shelf.pop()
            if type(other) is not Square or other.edge[0] != other.sides:
                return False
        return True

    assert parallelize(work) == [True] * 4
    shelf.clear()
    collect_garbage(lambda: native.n_alive() == before)
    assert native.n_alive() == before


@pytest.mark.thread_unsafe(reason="starts a process")
def test_objects_survive_a_fork_and_do_no_harm_at_exit(upstream):
    from support.native_build import compile_cxx

    path = compile_cxx("preserve.cc", upstream / "tvm_ffi" / "include")
    program = """
import atexit, os, sys, ffi_hpy
ffi_hpy.load_module(sys.argv[1])
@ffi_hpy.register_object("preserve.Shape")
class Shape(ffi_hpy.Object):
    pass
class Square(Shape):
    __slots__ = ("__dict__", "__weakref__")
keep, kept, forget = (ffi_hpy.get_global_func("preserve." + name) for name in ("keep", "kept", "forget_in_thread"))
shelf = ffi_hpy.List([Square(i) for i in range(10)])
for one in shelf:
    one.itself = one
    one.shelf = shelf
keep(shelf[0])
del one
number = id(shelf[3])
child = os.fork()
if child == 0:
    is_same = id(shelf[3]) == number and shelf[3].itself is shelf[3]
    forget()
    shelf.clear()
    os._exit(0 if is_same else 1)
assert os.waitpid(child, 0)[1] == 0
atexit.register(lambda: print(type(kept()).__name__, kept().itself is kept()))
atexit.register(lambda: (forget(), keep(shelf[1])))
"""
    assert run_python(program, path) == "Square True\n"
