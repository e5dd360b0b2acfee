"""Identity: a native object has one wrapper for as long as the wrapper lives."""

from __future__ import annotations

import gc
import os
import sys
import threading
import weakref

import pytest
from support import (
    IS_CFFI_ON_CPYTHON,
    IS_OVER_CFFI,
    REFUSES_FINALIZERS,
    TESTED_LIBRARY,
    collect_garbage,
    is_gone,
    parallelize,
    run_python,
    unique_name,
)
from support.native_build import compile_preload

import ffi_hpy
from ffi_hpy import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

pytestmark = pytest.mark.skipif(not _core.KEEPS_IDENTITY, reason="in debug modes every wrapper is one of its own")
IS_FREE_THREADED = not getattr(sys, "_is_gil_enabled", lambda: True)()
finalizes = pytest.mark.skipif(REFUSES_FINALIZERS, reason="PyPy refuses __del__ in native classes")


class Rich(ffi_hpy.Array):
    """An Array with attributes and weak references. (The class is not registered, so only Python code makes
    instances.)"""

    __slots__ = ("__dict__", "__weakref__")


@ffi_hpy.dataclasses.py_class(unique_name("test.Holder"))
class Holder(ffi_hpy.Object):
    value: ffi_hpy.Array


def box_of(value: Any) -> ffi_hpy.Array:
    return ffi_hpy.Array([value])


def object_at(address: int) -> Any:
    """Return the object at an address, as native code with that address returns it."""
    import ctypes

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)
    def give(_self: Any, _args: Any, _n: int, result: int) -> int:
        ffi_hpy.LIB.TVMFFIObjectIncRef(ctypes.c_void_p(address))
        type_index = ctypes.c_int32.from_address(address + 8).value
        ctypes.c_int32.from_address(result).value = type_index
        ctypes.c_uint64.from_address(result + 8).value = address
        return 0

    return _core.function_from_address(ctypes.cast(give, ctypes.c_void_p).value, give)()


# --- one wrapper -----------------------------------------------------------------------------------------------------


def test_a_value_that_is_read_twice_is_one_object(classes):
    box = box_of(classes.TestIntPair(1, 2))
    assert box[0] is box[0]
    held = box[0]
    assert {id(box[0]) for _ in range(100)} == {id(held)}


def test_a_stored_object_comes_back_as_itself(testing, classes):
    pair = classes.TestIntPair(1, 2)
    assert testing.echo(pair) is pair
    assert box_of(pair)[0] is pair
    assert ffi_hpy.Map({"k": pair})["k"] is pair
    assert ffi_hpy.convert(lambda x: x)(pair) is pair


@pytest.mark.parametrize(
    "address_of",
    [lambda x: x.__ctypes_handle__().value, lambda x: x.__chandle__(), lambda x: x.id_],
    ids=["ctypes_handle", "chandle", "id"],
)
@pytest.mark.parametrize("make", [lambda: ffi_hpy.Array([1]), lambda: ffi_hpy.convert(len)], ids=["Array", "Function"])
def test_an_object_that_comes_back_by_its_address_is_the_same(make, address_of):
    made = make()
    assert object_at(address_of(made)) is made


def test_an_object_that_a_hook_keeps_comes_back_as_the_hook_s_argument():
    kept = ffi_hpy.List()

    @ffi_hpy.dataclasses.py_class(unique_name("Seen"), eq=True, order=True, unsafe_hash=True)
    class Seen(ffi_hpy.Object):
        n: int

        def __ffi_repr__(self, print_value):
            kept.append(self)
            return "Seen"

        def __ffi_eq__(self, other, equal):
            kept.extend((self, other))
            return True

        def __ffi_hash__(self, hash_value):
            kept.append(self)
            return 1

        def __ffi_compare__(self, other, compare):
            kept.extend((self, other))
            return 0

    for use in (lambda one, other: repr(one), lambda one, other: one == other, lambda one, other: hash(one),
                lambda one, other: one < other):  # fmt: skip
        kept.clear()
        one, other = Seen(1), Seen(2)
        use(one, other)
        assert kept[0] is one or kept[0] is other
        assert len(kept) == 1 or (kept[0] is not kept[1] and (kept[1] is one or kept[1] is other))


def test_a_function_that_took_over_a_handle_is_its_wrapper():
    class Named(ffi_hpy.Function):
        pass

    sources = [Named(), Named()]
    sources[0].__move_handle_from__(ffi_hpy.convert(lambda: 1))
    sources[1].__init_handle_by_constructor__(ffi_hpy.convert(lambda: sources[0]))
    collect_garbage()
    assert box_of(sources[0])[0] is sources[0]
    del sources[0]
    collect_garbage()
    assert box_of(sources[0])[0] is sources[0]


def test_a_field_gives_the_same_object_each_time(classes):
    derived = classes.TestObjectDerived({"k": 1}, [1, 2])
    assert derived.v_array is derived.v_array
    assert derived.v_array is not derived.v_map


def test_functions_and_errors_in_containers_are_the_same_each_time():
    box = ffi_hpy.convert([lambda z: z, ValueError("boom")])
    assert box[0] is box[0]
    assert box[1] is box[1]


def test_two_objects_have_two_wrappers(classes):
    one, other = classes.TestIntPair(1, 2), classes.TestIntPair(1, 2)
    assert ffi_hpy.Array([one, other])[0] is not ffi_hpy.Array([one, other])[1]


def test_each_look_up_of_a_global_function_gives_a_new_wrapper():
    one, other = (ffi_hpy.get_global_func("ffi.ArraySize") for _ in range(2))
    assert one is not other
    one.release_gil = False
    other.release_gil = True
    assert not one.release_gil


def test_attributes_stay_while_the_wrapper_lives():
    rich = Rich([1])
    rich.note = "kept"
    box = box_of(rich)
    assert box[0] is rich
    assert box[0].note == "kept"
    assert type(box[0]) is Rich


def test_a_wrapper_with_state_lives_as_long_as_native_code_holds_its_object():
    rich = Rich([1])
    box, ref = box_of(rich), weakref.ref(rich)
    del rich
    collect_garbage(n_rounds=2)
    assert type(box[0]) is Rich
    assert box[0] is ref()
    del box
    assert is_gone(ref)


def test_an_instance_of_another_class_does_not_stand_for_the_object(testing, classes):
    class Unrelated(ffi_hpy.Object):
        pass

    pair, unrelated = classes.TestIntPair(1, 2), Unrelated()
    unrelated.__init_handle_by_constructor__(testing.echo, pair)
    del pair
    collect_garbage(n_rounds=2)
    assert type(testing.echo(unrelated)) is classes.TestIntPair


@pytest.mark.thread_unsafe(reason="a thread would take another one's class for the one before, and leave it there")
def test_a_class_registered_later_is_for_objects_without_a_wrapper(testing):
    make = testing.make_unregistered_object
    first = make()
    assert testing.echo(first) is first
    index = first.__type_index__()
    before = _core.class_offer(index, None)

    class Later(before):
        pass

    try:
        _core.class_register(index, Later)
        assert testing.echo(first) is first
        assert type(make()) is Later
    finally:
        _core.class_register(index, before)


@pytest.mark.thread_unsafe(reason="a thread would take another one's class for the one before, and leave it there")
@pytest.mark.parametrize("n_replaced", [1, 2])
def test_an_instance_of_a_subclass_stays_itself_when_the_class_is_replaced(testing, classes, n_replaced):
    """As in a notebook, where the cell with the registered class runs again, but not the cell with its subclass."""
    index = classes.TestIntPair(1, 2).__type_index__()
    before = _core.class_offer(index, None)

    class Named(before):
        __slots__ = ("__dict__", "__weakref__")

    try:
        for _ in range(n_replaced):

            class Later(ffi_hpy.Object):
                __slots__ = ()

            _core.class_register(index, Later)
        named, plain = Named(1, 2), before(1, 2)
        named.name = "one"
        box, ref = ffi_hpy.List([named, plain]), weakref.ref(named)
        assert box[0] is named
        assert type(box[1]) is Later
        del named, plain
        collect_garbage(n_rounds=2)
        assert box[0] is ref()
        assert box[0].name == "one"
    finally:
        _core.class_register(index, before)
    del box
    assert is_gone(ref)


def test_many_wrappers_come_and_go(classes):
    boxes = [box_of(classes.TestIntPair(i, i)) for i in range(5000)]
    for _ in range(2):
        held = [box[0] for box in boxes]
        assert all(box[0] is one and one.a == i for i, (box, one) in enumerate(zip(boxes, held)))
        for i in range(0, len(held), 3):
            held[i] = None
        assert all(box[0] is one for box, one in zip(boxes, held) if one is not None)
        del held
    assert [box[0].a for box in boxes] == list(range(5000))


# --- handles that move -----------------------------------------------------------------------------------------------


def test_a_callback_gets_a_new_wrapper_which_it_can_move(testing, classes):
    pair, seen = classes.TestIntPair(1, 2), []
    testing.apply(seen.append, pair)
    assert seen[0] is not pair
    assert seen[0] == pair
    assert testing.apply(lambda x: x._move(), pair).same_as(pair)
    assert pair.a == 1


def test_a_returned_argument_comes_back_as_its_wrapper(testing, classes):
    pair, seen = classes.TestIntPair(1, 2), []
    testing.apply(seen.append, pair)
    before = pair.__use_count__()
    assert testing.echo(seen[0]) is pair
    assert testing.echo(pair) is pair
    assert pair.__use_count__() == before
    del pair
    collect_garbage(n_rounds=2)
    # Either remaining wrapper may be the registered one now; the choice does not change from call to call.
    assert testing.echo(seen[0]).same_as(seen[0])
    collect_garbage(n_rounds=2)
    assert seen[0].__use_count__() == 1


def test_a_moved_object_comes_back_in_a_new_wrapper(testing, classes):
    pair = classes.TestIntPair(1, 2)
    box = box_of(pair)
    again = testing.echo(pair._move())
    assert again is not pair
    assert pair.__chandle__() == 0
    assert box[0] is again


def test_a_wrapper_that_was_returned_again_keeps_its_object_after_a_move(testing, classes):
    # As in `copied = f(pair); g(copied._move())`, where f returns its argument: pair is still needed
    pair = classes.TestIntPair(1, 2)
    copied = testing.echo(pair)
    assert testing.echo(copied._move()).same_as(pair)
    assert testing.echo([copied._move()])[0].same_as(pair)
    assert testing.apply(lambda: pair._move()).same_as(pair)
    testing.apply(lambda: testing.nop(pair._move()))
    testing.apply(lambda seen: testing.nop(pair._move()), pair)
    taker = classes.TestIntPair.__new__(classes.TestIntPair)
    taker.__move_handle_from__(copied)
    del copied
    assert (pair.a, taker.b) == (1, 2)
    assert pair.same_as(taker)
    assert box_of(pair)[0].same_as(taker)


def test_a_wrapper_moves_only_the_object_that_it_got_last(testing, classes):
    pair = classes.TestIntPair(1, 2)
    testing.echo(pair)
    pair.__move_handle_from__(classes.TestIntPair(3, 4))
    assert testing.echo(pair._move()).a == 3
    assert pair.__chandle__() == 0


def test_a_moved_object_that_stays_elsewhere_is_read_again(testing, classes):
    box = box_of(classes.TestIntPair(5, 6))
    testing.nop(box[0]._move())
    testing.echo(box[0]._move())
    assert box[0] is box[0]
    assert box[0].a == 5


def test_an_object_whose_handle_was_taken_over_has_its_new_wrapper(classes):
    pair, target = classes.TestIntPair(1, 2), classes.TestIntPair.__new__(classes.TestIntPair)
    box = box_of(pair)
    target.__move_handle_from__(pair)
    assert box[0] is target
    other = classes.TestIntPair(3, 4)
    second = box_of(other)
    target.__move_handle_from__(other)
    assert second[0] is target
    assert box[0] is not target
    assert box[0].a == 1


def test_a_wrapper_that_gets_another_object_is_not_found_for_the_first_one(testing, classes):
    pair, other = classes.TestIntPair(1, 2), classes.TestIntPair(3, 4)
    box, second = box_of(pair), box_of(other)
    pair.__init_handle_by_constructor__(ffi_hpy.get_global_func("ffi.ArrayGetItem"), second, 0)
    assert pair.a == 3
    assert box[0].a == 1
    assert box[0] is not pair
    assert second[0] is other


# --- finalization of wrappers ----------------------------------------------------------------------------------------


def test_no_finalizer_runs_while_an_object_is_in_use():
    calls = []

    @ffi_hpy.dataclasses.py_class(unique_name("Finalized"))
    class Finalized(ffi_hpy.Object):
        number: int = 0

        def __del__(self):
            calls.append(self.number)

    objects = [Finalized(i) for i in range(200)]
    items = ffi_hpy.List(objects)
    assert all(items[i] is each for i, each in enumerate(objects))
    assert calls == []


@finalizes
def test_a_finalizer_runs_for_every_wrapper(testing):
    calls = []

    class Noisy(ffi_hpy.Array):
        def __del__(self):
            calls.append(self[0])

    for i in range(5):
        noisy = Noisy([i])
        assert testing.echo(noisy) is noisy
        del noisy
    collect_garbage(lambda: len(calls) == 5)
    assert sorted(calls) == [0, 1, 2, 3, 4]


@finalizes
def test_a_finalizer_may_bring_its_object_back():
    saved = []

    class Saved(ffi_hpy.Array):
        __slots__ = ("__dict__",)

        def __del__(self):
            saved.append(self)

    one = Saved([7])
    one.note = "kept"
    box = box_of(one)
    del one
    collect_garbage(n_rounds=2)
    assert saved == []
    del box
    collect_garbage(lambda: bool(saved))
    assert saved[0][0] == 7
    assert saved[0].note == "kept"
    again = box_of(saved[0])
    assert again[0] is saved.pop()
    collect_garbage(n_rounds=2)
    assert again[0].note == "kept"
    del again
    collect_garbage(n_rounds=2)
    assert saved == []


@finalizes
def test_an_object_can_be_read_while_its_wrapper_is_finalized():
    found = []

    class Reader:
        """A class that reads the object of `rich` in __del__, while the wrapper is destroyed."""

        def __init__(self, rich):
            self.copy = ffi_hpy.Array(list(rich))

        def __del__(self):
            found.append(self.copy[0])

    rich = Rich([1])
    box = box_of(rich)
    rich.reader = Reader(rich)
    ref = weakref.ref(rich, lambda _: found.append(rich_again()))
    rich_again = weakref.ref(rich)
    del rich
    del box
    collect_garbage(lambda: len(found) == 2)
    assert is_gone(ref)
    assert sorted(found, key=str) == [1, None]


@pytest.mark.skipif(IS_CFFI_ON_CPYTHON, reason="the handle is a second object there")
def test_a_reference_that_no_call_gave_keeps_the_wrapper():
    import ctypes

    rich = Rich([1])
    rich.note = "kept"
    number, address = id(rich), rich.__chandle__()
    collect_garbage(n_rounds=2)  # PyPy keeps a wrapper after a call as long as the object has other owners
    ffi_hpy.LIB.TVMFFIObjectIncRef(ctypes.c_void_p(address))
    del rich
    collect_garbage(n_rounds=4)
    again = object_at(address)
    assert (id(again), type(again), again.note) == (number, Rich, "kept")
    ref = weakref.ref(again)
    del again
    ffi_hpy.LIB.TVMFFIObjectDecRef(ctypes.c_void_p(address))
    assert is_gone(ref)


def test_a_cycle_through_a_wrapper_is_collected():
    rich = Rich([1])
    box, ref = box_of(rich), weakref.ref(rich)
    rich.itself = rich
    del rich
    gc.collect()
    assert box[0].itself is box[0]
    del box
    gc.collect()
    assert is_gone(ref)


def test_wrappers_that_live_at_exit_do_no_harm():
    program = """
import atexit, ffi_hpy
class Rich(ffi_hpy.Array):
    __slots__ = ("__dict__",)
rich = Rich([1])
rich.box = ffi_hpy.Array([rich])
rich.itself = rich
keep = ffi_hpy.convert(lambda: rich)
ffi_hpy.register_global_func("test.exit.rich", lambda: rich.box[0])
atexit.register(lambda: print(rich.box[0] is rich))
print(keep() is rich)
"""
    assert run_python(program) == "True\nTrue\n"


# --- threads ---------------------------------------------------------------------------------------------------------


def test_threads_that_read_one_object_share_its_wrapper(classes):
    box = box_of(classes.TestIntPair(1, 2))

    def read(_):
        for _ in range(3000):
            one, other = box[0], box[0]
            if one is not other or one.a != 1:
                return False
        return True

    assert parallelize(read) == [True] * 4


def test_threads_drop_and_wrap_many_objects(classes):
    boxes = [box_of(classes.TestIntPair(i, i)) for i in range(50)]

    def churn(thread):
        held = {}
        for n in range(3000):
            i = (n * 7 + thread) % len(boxes)
            one = boxes[i][0]
            if one.a != i or (i in held and held[i] is not one):
                return False
            if n % 3:
                held[i] = one
            else:
                held.pop(i, None)
        return True

    assert parallelize(churn) == [True] * 4


def test_threads_move_objects_that_others_read(testing, classes):
    box = box_of(classes.TestIntPair(1, 2))

    def work(thread):
        n_good = 0
        for _ in range(1500):
            one = box[0]
            try:
                n_good += (testing.echo(one._move()) if thread % 2 else one).a == 1
            except (ValueError, RuntimeError):  # another thread has moved the handle, or is about to
                pass
        return n_good

    assert sum(parallelize(work)) > 0
    assert box[0].a == 1
    assert box[0] is box[0]


@finalizes
def test_threads_end_and_save_wrappers(testing):
    class Saved(ffi_hpy.Array):
        __slots__ = ("__dict__",)

        def __del__(self):
            if self[0] % 3 == 0:
                keep.append(self)

    keep: list[Any] = []

    def work(thread):
        for i in range(500):
            one = Saved([i])
            box = box_of(one)
            del one
            if box[0][0] != i or testing.echo(box[0])[0] != i:
                return False
        return True

    assert parallelize(work) == [True] * 4


def test_one_of_several_threads_moves_an_object_away(testing):
    """The other threads find no object, or an object in use; two takers would both drop its last reference."""
    n_rounds = 20_000
    offered = [ffi_hpy.Map({"n": i}) for i in range(n_rounds)]

    def work(_):
        n_moved = 0
        for value in offered:
            try:
                testing.echo(value._move())
                n_moved += 1
            except (ValueError, RuntimeError):
                pass
        return n_moved

    assert sum(parallelize(work)) == n_rounds


@pytest.mark.skipif(not IS_FREE_THREADED, reason="a thread that looks for a wrapper has the GIL")
@pytest.mark.skipif(bool(TESTED_LIBRARY), reason="it replaces a function of our core")
def test_a_thread_drops_a_wrapper_with_state_while_another_gets_it():
    program = """
import ctypes, threading
import ffi_hpy

class Rich(ffi_hpy.Array):
    __slots__ = ("__dict__",)

delayed = ctypes.CDLL(None)
delayed.late_release_choose.argtypes = [ctypes.c_void_p]
take = ffi_hpy.get_global_func("ffi.ListPop")
value, found = Rich([1]), []
value.attribute = "value"
address = value.__chandle__()
values = ffi_hpy.List([value, value])
assert take(values, 0) is value  # from now on a thread looks for the wrapper first

def get():
    delayed.late_release_choose(address)
    found.append(take(values, 0))

thread = threading.Thread(target=get)
thread.start()
while thread.is_alive() and not delayed.late_release_is_waiting():
    pass
del value
thread.join()
print(found[0].attribute)
"""
    preloaded = " ".join(filter(None, [os.environ.get("LD_PRELOAD"), str(compile_preload("late_release.c"))]))
    assert run_python(program, environ={"LD_PRELOAD": preloaded}) == "value\n"


# --- windows between two steps of a thread, in which another thread moves the same object away ------------------------

has_windows = pytest.mark.skipif(not IS_OVER_CFFI, reason="the steps of the binding in C hold a lock")


def move_away(value: Any) -> None:
    """Move an object away on another thread."""

    def move() -> None:
        ffi_hpy.convert(lambda _: None)(value._move())

    thread = threading.Thread(target=move)
    thread.start()
    thread.join()


@has_windows
@pytest.mark.thread_unsafe(reason="it replaces an attribute of all wrappers")
@pytest.mark.parametrize("way", ["item", "field"])
def test_a_wrapper_that_is_being_returned_again_is_not_moved_away(monkeypatch, way):
    from ffi_hpy._pypy.object.objects import Wrapper

    inner = ffi_hpy.Array([1, 2])
    box = box_of(inner)
    holder = Holder(inner)
    assert holder.value is inner  # the form of the field is known from now on
    slot = Wrapper.__dict__["_ffi_is_repeated"]
    slot.__set__(inner, False)
    moved = []

    def put(wrapper: Any, value: bool) -> None:
        if value and wrapper is inner and not moved:
            moved.append(True)
            move_away(inner)
        slot.__set__(wrapper, value)

    monkeypatch.setattr(Wrapper, "_ffi_is_repeated", property(slot.__get__, put))
    found = holder.value if way == "field" else box[0]
    assert (moved, list(found)) == ([True], [1, 2])


@has_windows
@pytest.mark.thread_unsafe(reason="it replaces a function of the backend")
def test_a_wrapper_that_another_thread_has_registered_is_moved_away(monkeypatch):
    from ffi_hpy._pypy.object import objects

    box = box_of(ffi_hpy.Array([1, 2]))
    collect_garbage()
    share, others = objects.share, []

    def move_after(wrapper: Any) -> Any:
        if others:
            return share(wrapper)
        others.append(None)
        thread = threading.Thread(target=lambda: others.append(box[0]))
        thread.start()
        thread.join()
        found = share(wrapper)
        move_away(found)
        return found

    monkeypatch.setattr(objects, "share", move_after)
    found = box[0]
    assert (len(others), list(found)) == (2, [1, 2])


@has_windows
@pytest.mark.thread_unsafe(reason="it replaces a function of the backend")
@pytest.mark.parametrize("keeps_gil", [False, True])
def test_an_object_that_another_thread_gets_at_the_same_time_is_not_moved(monkeypatch, keeps_gil):
    from ffi_hpy._pypy.object import call_buffers

    value = ffi_hpy.Array([1, 2])
    box = box_of(value)
    size = ffi_hpy.convert(len)
    size.release_gil = not keeps_gil
    take_out = call_buffers.take_out

    def get_first(wrapper: Any) -> int:
        thread = threading.Thread(target=lambda: box[0])
        thread.start()
        thread.join()
        return take_out(wrapper)

    monkeypatch.setattr(call_buffers, "take_out", get_first)
    assert size(value._move()) == 2
    assert list(value) == [1, 2]
    assert box[0] is value
