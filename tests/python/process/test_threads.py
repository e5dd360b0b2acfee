"""Threads that are unknown to Python, and many threads that do the same at once."""

import sys
import threading
import weakref
from typing import Optional

import pytest
from support import FREES_AT_ONCE, NO_GIL, collect_garbage, is_gone, needs_threads, parallelize, run_python, unique_name

import ffi_hpy
from ffi_hpy import _core

N_THREADS = 4


@needs_threads
def test_callbacks_run_on_several_native_threads_at_once(extension):
    seen = []

    def callback(thread, call):
        seen.append((thread, call))
        return [thread, "a text of some length"]

    assert extension.call_on_threads(callback, N_THREADS, 50) == []
    assert sorted(seen) == [(thread, call) for thread in range(N_THREADS) for call in range(50)]


@needs_threads
def test_errors_of_callbacks_on_native_threads_do_not_mix(extension):
    def callback(thread, call):
        if call % 2:
            raise ValueError(f"{thread} {call}")

    expected = [f"ValueError: {thread} {call}" for thread in range(N_THREADS) for call in range(1, 50, 2)]
    assert sorted(extension.call_on_threads(callback, N_THREADS, 50)) == sorted(expected)


@needs_threads
def test_a_native_thread_may_call_back_into_native_code(extension, testing):
    def callback(x):
        return testing.apply(lambda y: [y, testing.add_one(1)], x)

    assert extension.call_on_thread(callback, "a text of some length") == ["a text of some length", 2]


@needs_threads
def test_thread_locals_of_a_native_thread_last_one_call(extension):
    local = threading.local()

    def callback(thread, call):
        local.count = getattr(local, "count", 0) + 1
        assert 1 <= local.count <= 50

    assert extension.call_on_threads(callback, N_THREADS, 50) == []


def test_a_callable_is_dropped_on_a_foreign_thread(extension):
    class Callback:
        def __call__(self):
            return 1

    callback = Callback()
    ref = weakref.ref(callback)
    stored = extension.store_value(callback)
    del callback
    assert ref() is not None
    extension.drop_on_thread(stored)
    assert is_gone(ref)


def test_python_code_runs_when_an_object_is_dropped_on_a_foreign_thread(extension):
    dropped = []

    class Finalized:
        def __del__(self):
            dropped.append(threading.get_ident())

    stored = extension.store_value([Finalized(), "a text of some length"])
    assert dropped == []
    extension.drop_on_thread(stored)
    collect_garbage(lambda: bool(dropped))
    assert len(dropped) == 1
    if FREES_AT_ONCE and not NO_GIL:  # without a GIL, the thread that made the object frees it
        assert dropped[0] != threading.get_ident()


def test_a_drop_on_a_foreign_thread_may_call_native_code(extension, testing):
    results = []

    class Finalized:
        def __del__(self):
            results.append(testing.apply(lambda: testing.add_one(1)))

    extension.drop_on_thread(extension.store_value(Finalized()))
    collect_garbage(lambda: bool(results))
    assert results == [2]


def test_one_function_is_called_by_many_threads(testing):
    echo, apply = testing.echo, testing.apply

    def work(i):
        for n in range(300):
            assert echo(f"text of thread {i} number {n}") == f"text of thread {i} number {n}"
            assert apply(lambda x: x + 1, n) == n + 1

    parallelize(work, N_THREADS)


def test_one_object_is_used_by_many_threads(testing, classes):
    pair = classes.TestIntPair(3, 4)

    def work(i):
        for _ in range(300):
            assert (pair.a, pair.b, pair.sum()) == (3, 4, 7)
            assert testing.echo(pair).same_as(pair)
            assert hash(pair) == hash(testing.echo([pair])[0])

    parallelize(work, N_THREADS)
    collect_garbage(lambda: pair.__use_count__() == 1)
    assert pair.__use_count__() == 1


def test_one_container_is_read_by_many_threads():
    array = ffi_hpy.Array([f"item number {i}" for i in range(50)])
    mapping = ffi_hpy.Map({f"key number {i}": [i] for i in range(50)})

    def work(i):
        for _ in range(20):
            assert list(array)[i] == f"item number {i}"
            assert list(mapping.items())[i] == (f"key number {i}", [i])

    parallelize(work, N_THREADS)


def test_names_are_registered_by_many_threads(testing):
    def work(i):
        mine = [unique_name() for _ in range(50)]
        for n, name in enumerate(mine):
            ffi_hpy.register_global_func(name, lambda n=n: n)
            assert ffi_hpy.get_global_func(name)() == n
        assert set(mine) <= set(ffi_hpy.list_global_func_names())
        for name in mine[::2]:
            ffi_hpy.remove_global_func(name)
        return mine

    for mine in parallelize(work, N_THREADS):
        found = [ffi_hpy.get_global_func(name, allow_missing=True) is not None for name in mine]
        assert found == [False, True] * 25


def test_of_many_threads_that_register_one_name_one_wins():
    for _ in range(20):
        name = unique_name()

        def work(i, name=name):
            try:
                ffi_hpy.register_global_func(name, lambda: i)
            except RuntimeError:
                return None
            return i

        winners = [i for i in parallelize(work, N_THREADS) if i is not None]
        assert len(winners) == 1
        assert ffi_hpy.get_global_func(name)() == winners[0]


def test_a_name_is_overridden_and_read_at_once():
    name = unique_name()
    ffi_hpy.register_global_func(name, lambda: 0)

    def work(i):
        for n in range(200):
            if i == 0:
                ffi_hpy.register_global_func(name, lambda n=n: n, override=True)
            else:
                assert 0 <= ffi_hpy.get_global_func(name)() < 200

    parallelize(work, N_THREADS)


def test_many_threads_meet_a_new_type_of_argument_at_once(testing):
    for _ in range(20):
        fresh = type("Fresh", (), {"__tvm_ffi_int__": lambda self: 42})
        assert parallelize(lambda i, fresh=fresh: testing.echo(fresh()), N_THREADS) == [42] * N_THREADS


@needs_threads
def test_many_threads_meet_an_unregistered_type_at_once(testing_library):
    program = """
import sys, threading
import ffi_hpy
ffi_hpy.load_module(sys.argv[1])
make = ffi_hpy.get_global_func("testing.make_unregistered_object")
barrier = threading.Barrier(4)
made = []
def work():
    barrier.wait()
    made.append(make())
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print([(x.v1, x.v2, x.get_v2_plus_two()) for x in made] == [(41, 42, 44)] * 4, type(make()).__name__)
"""
    assert run_python(program, testing_library) == "True TestUnregisteredObject\n"


@needs_threads
def test_many_threads_use_everything_for_the_first_time_at_once(testing_library):
    program = """
import sys, threading
import ffi_hpy
barrier = threading.Barrier(4)
done = []
def work():
    barrier.wait()
    module = ffi_hpy.load_module(sys.argv[1])
    echo = ffi_hpy.get_global_func("testing.echo")
    assert echo([1, {"a": ("x",)}]) == [1, ffi_hpy.Map({"a": ["x"]})]
    assert echo(ffi_hpy.dtype("int8")) == "int8"
    assert echo(ffi_hpy.Shape((1,))) == (1,)
    try:
        echo("\\ud800")
    except UnicodeEncodeError:
        pass
    try:
        ffi_hpy.get_global_func("testing.apply")([].pop)
    except IndexError:
        done.append(1)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(done)
"""
    assert run_python(program, testing_library) == "[1, 1, 1, 1]\n"


@pytest.mark.skipif(
    NO_GIL and sys.version_info < (3, 14),
    reason="CPython 3.13t crashes when threads raise one exception, without ffi_hpy too",
)
def test_one_exception_is_raised_by_many_threads(testing):
    exception = ValueError("shared")

    def fail():
        raise exception

    def work(i):
        for _ in range(500):
            try:
                testing.apply(fail)
            except ValueError as error:
                assert error is exception  # noqa: PT017
            else:
                raise AssertionError("nothing was raised")

    parallelize(work, N_THREADS)


def test_one_handle_is_moved_by_many_threads(classes):
    for _ in range(50):
        pair = classes.TestIntPair(1, 2)
        targets = [classes.TestIntPair.__new__(classes.TestIntPair) for _ in range(N_THREADS)]
        parallelize(lambda i, pair=pair, targets=targets: targets[i].__move_handle_from__(pair), N_THREADS)
        owners = [target for target in targets if target.__chandle__() != 0]
        assert len(owners) == 1
        assert owners[0].__use_count__() == 1
        assert pair.__chandle__() == 0


def test_many_threads_move_one_handle_back_and_forth(classes):
    """A thread that finds a move in progress waits for its end. No thread gets an error or waits forever."""
    one, other = classes.TestIntPair(1, 2), classes.TestIntPair.__new__(classes.TestIntPair)

    def work(i):
        for _ in range(500):
            if i % 2:
                one.__move_handle_from__(other)
            else:
                other.__move_handle_from__(one)

    parallelize(work, N_THREADS)
    assert one.__use_count__() + other.__use_count__() <= 1  # moving in an object without a handle removes the last one


def test_classes_are_registered_and_used_at_once(testing, classes):
    index = _core.type_key_to_index("testing.TestIntPair")
    pair = classes.TestIntPair(1, 2)

    def work(i):
        for _ in range(100):
            if i == 0:
                _core.class_register(index, classes.TestIntPair)
            else:
                assert type(testing.echo(pair)) is classes.TestIntPair

    parallelize(work, N_THREADS)


def test_a_class_is_registered_by_many_threads_while_objects_arrive(testing):
    """Each thread gets an instance of a class that one of the threads registered for the type."""
    make = ffi_hpy.get_global_func("testing.make_unregistered_object")
    first = type(make())
    made = []

    def work(i):
        for _ in range(20):
            mine = ffi_hpy.register_object("testing.TestUnregisteredObject", init=False)(
                type("Mine", (ffi_hpy.Object,), {})
            )
            made.append(mine)
            found = make()
            assert (found.v1, found.v2) == (41, 42)
            assert type(found) is first or type(found) in made or type(found).__name__ == "Mine"

    parallelize(work, N_THREADS)
    ffi_hpy.register_object("testing.TestUnregisteredObject", init=False)(first)


def test_classes_with_protocols_are_met_by_many_threads_at_once(testing):
    for _ in range(20):
        cls = type("AsValue", (), {"__tvm_ffi_value__": lambda self: [1, {"a": self.inner}], "inner": 2**70})
        assert parallelize(lambda i, cls=cls: testing.echo(cls())[1]["a"], N_THREADS) == [2**70] * N_THREADS


def test_one_function_is_named_by_many_threads(testing):
    function = ffi_hpy.convert(lambda: None)

    def work(i):
        for n in range(200):
            function.__name__ = f"named.{n % 7}"
            assert function.__name__.startswith("named.")
            assert " named." in repr(function)

    parallelize(work, N_THREADS)


def test_local_classes_of_one_name_are_distinguished_by_threads():
    """Annotations are resolved by name, while other threads define classes of the same names, before and after."""
    from ffi_hpy.dataclasses import py_class

    def work(i):
        @py_class(unique_name())
        class Inner(ffi_hpy.Object):
            x: int

        @py_class(unique_name())
        class Outer(ffi_hpy.Object):
            inner: "Inner"
            later: "Optional[Later]" = None
            next: "Optional[Outer]" = None

        @py_class(unique_name())
        class Later(ffi_hpy.Object):
            y: int

        outer = Outer(Inner(i), Later(i), Outer(Inner(i + 1)))
        assert (type(outer.inner), type(outer.later)) == (Inner, Later)
        assert (outer.inner.x, outer.next.inner.x) == (i, i + 1)

    for _ in range(10):
        parallelize(work, N_THREADS)


PENDING_ERRORS_END = """
import ctypes, threading
import ffi_hpy

class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]

class Cell(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32), ("word", ctypes.c_int64)]

lib, pointer = ffi_hpy.LIB, ctypes.c_void_p
items = ffi_hpy.List([1])
get_item = ffi_hpy.get_global_func("ffi.ListGetItem")
arguments = (Cell * 2)(Cell(items.__type_index__(), 0, items.__chandle__()), Cell(1, 0, 99))
function, result, text = pointer(get_item.__chandle__()), Cell(), Bytes(b"old", 3)
ended = []

class Owned:
    def __del__(self):
        ended.append(len(items))

def raise_over_old_errors():
    for _ in range(300):
        owned, error = Owned(), pointer()
        context = ffi_hpy.convert(lambda owned=owned: owned)
        lib.TVMFFIErrorCreateWithCauseAndExtraContext(ctypes.byref(text), ctypes.byref(text), ctypes.byref(text), None,
                                                      pointer(context.__chandle__()), ctypes.byref(error))
        del owned, context
        lib.TVMFFIErrorSetRaised(error)
        lib.TVMFFIObjectDecRef(error)
        assert lib.TVMFFIFunctionCall(function, arguments, 2, ctypes.byref(result)) == -1
        lib.TVMFFIErrorMoveFromRaised(ctypes.byref(error))
        lib.TVMFFIObjectDecRef(error)

thread = threading.Thread(target=raise_over_old_errors)
thread.start()
while thread.is_alive():
    assert len(items) == 1
print({*ended} <= {1})
"""


def test_an_error_of_a_locked_list_ends_the_one_before_it_outside_of_the_lock():
    """The old error owns a Python object. Destroying it needs the GIL, whose owner waits for the list."""
    assert run_python(PENDING_ERRORS_END) == "True\n"
