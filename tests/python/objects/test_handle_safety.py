"""Handles that threads, finalizers and lying values may remove during an operation: memory stays intact."""

import threading
import time
from unittest import mock

import pytest
from support import IS_DEBUG, REFUSES_FINALIZERS, needs_threads, run_python, unique_name

import ffi_hpy
from ffi_hpy.dataclasses import py_class
from ffi_hpy.testing import TestIntPair

SECONDS = 1.0  # time for the threads to collide


def run_threads(*works):
    """Run functions again and again, each in a separate thread. Return the exceptions."""
    stop, raised = time.monotonic() + SECONDS, []

    def run(work):
        try:
            while time.monotonic() < stop and not raised:
                work()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def quietly(function, *args):
    """Call a function and ignore the error if another thread has moved or uses an object."""
    try:
        return function(*args)
    except (RuntimeError, ValueError):
        return None


# --- another thread moves -------------------------------------------------------------------------------------------


@py_class(unique_name("Numbers"))
class Numbers(ffi_hpy.Object):
    a: int
    b: float
    c: int
    d: bool


@needs_threads
@pytest.mark.thread_unsafe(reason="makes threads of its own")
def test_setting_a_field_of_a_moved_object_changes_nothing_else(testing):
    shared = Numbers(5, 5.0, 5, True)

    def write():
        for _ in range(100):
            quietly(setattr, shared, "a", 1)
            quietly(setattr, shared, "b", 1.0)
            quietly(setattr, shared, "d", False)
            quietly(getattr, shared, "c")

    def move():
        quietly(testing.nop, shared._move())
        fresh = [Numbers(7, 7.0, 7, True) for _ in range(3)]
        if not shared.__chandle__():
            quietly(shared.__init__, 5, 5.0, 5, True)
        time.sleep(0)
        assert [(one.a, one.b, one.c, one.d) for one in fresh] == [(7, 7.0, 7, True)] * 3

    assert run_threads(write, move) == []


@needs_threads
@pytest.mark.thread_unsafe(reason="makes threads of its own")
def test_an_item_of_a_moved_object_is_that_item_or_an_error(testing):
    shared, inner = ffi_hpy.Array([1, "a text of some length"]), ffi_hpy.List([1])

    def read():
        for _ in range(100):
            for i, items in ((0, (1, 2)), (1, ("a text of some length", inner))):
                item = quietly(shared.__getitem__, i)
                assert item is None or item in items

    def move():
        for values in ([2, inner], [1, "a text of some length"]):
            quietly(testing.nop, shared._move())
            other = ffi_hpy.Array(values)
            quietly(shared.__move_handle_from__, other)
            time.sleep(0)

    assert run_threads(read, move) == []


@needs_threads
@pytest.mark.thread_unsafe(reason="makes threads of its own")
def test_a_receiver_keeps_an_object_while_others_move_it(testing):
    box = ffi_hpy.List([TestIntPair(1, 1)])

    def read():
        assert box[0].a in (1, 2)

    def replace():
        pair = TestIntPair(2, 2)
        testing.nop(pair)  # so that its wrapper is in the instance map
        box[0] = pair
        quietly(testing.nop, pair._move())

    assert run_threads(read, read, replace) == []


@py_class(unique_name("Counts"))
class Counts(ffi_hpy.Object):
    items: ffi_hpy.Array[int]


@needs_threads
@pytest.mark.thread_unsafe(reason="makes threads of its own")
def test_a_list_that_changes_while_it_is_checked_gives_the_checked_items():
    counts, values = Counts([0]), list(range(5000))

    def change():
        for value in ("text", 1):
            values[-1] = value
            time.sleep(0.0002)

    def assign():
        try:
            counts.items = values
        except TypeError:
            return
        assert all(type(item) is int for item in counts.items)

    assert run_threads(change, assign) == []


@needs_threads
@pytest.mark.thread_unsafe(reason="makes threads of its own")
def test_threads_may_extend_one_backtrace():
    errors = [ffi_hpy.Error("ValueError", "a message", "")]

    def extend(text):
        error = errors[0]
        error.update_backtrace(text * 1000, True)
        assert set(error.backtrace) <= {"a", "b"}

    def extend_a():
        if len(errors[0].backtrace) > 1_000_000:
            errors[0] = ffi_hpy.Error("ValueError", "a message", "")
        extend("a")

    assert run_threads(extend_a, lambda: extend("b")) == []


# --- values that lie ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [mock.NonCallableMock, mock.NonCallableMagicMock])
def test_a_mock_of_a_class_is_not_an_object_of_it(testing, make):
    pretender = make(spec=ffi_hpy.Array)
    assert isinstance(pretender, ffi_hpy.Array)
    assert testing.echo(pretender) is pretender
    assert testing.echo(ffi_hpy.Array([1])) != pretender
    with pytest.raises(TypeError):
        type(TestIntPair(1, 2)).a.__get__(pretender)
    with pytest.raises(TypeError):
        ffi_hpy.Array.__len__(pretender)


def test_the_address_of_an_object_is_its_own_whatever_its_class_says():
    class Liar(TestIntPair):
        def __chandle__(self):
            return 12345

    pair = Liar(1, 2)
    error = ffi_hpy.Error("ValueError", "a message", "", None, pair)
    assert error.extra_context.a == 1


@pytest.mark.parametrize("name", ["_address", "_uses", "_is_listed", "_is_repeated"])
def test_a_field_may_have_any_name(testing, name):
    House = py_class(unique_name("House"))(
        type("House", (ffi_hpy.Object,), {"__annotations__": {name: int, "n": int}, "__module__": __name__})
    )
    house = House(4096, 2)
    assert (getattr(house, name), testing.echo(house).n) == (4096, 2)
    setattr(house, name, 5)
    assert getattr(house, name) == 5


# --- finalizers -----------------------------------------------------------------------------------------------------

BROUGHT_BACK = """
import gc
import ffi_hpy
keep = []
class Kept(ffi_hpy.Function):
    def __del__(self):
        keep.append(self)
function = Kept.__new__(Kept)
make = ffi_hpy.convert(lambda: ffi_hpy.convert(lambda x: x + 1))
function.__init_handle_by_constructor__(make)
assert function(1) == 2
del function
for _ in range(4):
    gc.collect()
print(keep.pop()(1))
for _ in range(4):
    gc.collect()
print(len(keep))
"""


@pytest.mark.skipif(
    REFUSES_FINALIZERS or IS_DEBUG, reason="PyPy refuses __del__; hpy's debug mode forgets how to call it"
)
def test_a_function_that_its_finalizer_resurrects_keeps_its_handle():
    assert run_python(BROUGHT_BACK) == "2\n0\n"
