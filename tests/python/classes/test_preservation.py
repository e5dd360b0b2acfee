"""Preservation: a wrapper with state stays the wrapper of its object as long as native code holds the object."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from support import collect_garbage, is_gone

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


# --- what comes back --------------------------------------------------------------------------------------------------


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
    assert ends == [watcher]
    assert native.n_alive() == before
