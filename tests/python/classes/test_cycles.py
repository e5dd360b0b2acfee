"""Garbage collection of cycles that go through native objects."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
import weakref
from types import SimpleNamespace
from typing import Any

import pytest
from support import FREES_AT_ONCE, IS_CFFI_ON_CPYTHON, IS_DEBUG, IS_OWN_DEBUG, IS_PYPY, collect_garbage, run_python

import ffi_hpy
from ffi_hpy.dataclasses import py_class

collects = pytest.mark.skipif(
    IS_CFFI_ON_CPYTHON or IS_DEBUG or IS_OWN_DEBUG,
    reason="the cffi backend on CPython and debug modes do not see the references of native objects",
)
notes_orphans = pytest.mark.skipif(
    sys.implementation.name != "cpython" or IS_CFFI_ON_CPYTHON or IS_DEBUG or IS_OWN_DEBUG,
    reason="PyPy's part does not remember native objects that no wrapper leads to: each wrapper would pay for it",
)


@pytest.fixture(autouse=True)
def _search_on_pypy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let PyPy search for cycles, which conftest.py turns off for other tests."""
    if IS_PYPY:
        from ffi_hpy._pypy.object import cycles

        monkeypatch.setattr(cycles, "is_on", True)


@pytest.fixture(scope="module")
def lib(compile_era: Any) -> SimpleNamespace:
    """The functions and classes of native/cycles.cc."""
    ffi_hpy.load_module(compile_era("cycles.cc", "own", flags=("-O1",)))

    @ffi_hpy.register_object("cycles.Button")
    class Button(ffi_hpy.Object):
        pass

    @ffi_hpy.register_object("cycles.Window")
    class Window(ffi_hpy.Object):
        def closed(self) -> int:
            return 7

    @ffi_hpy.register_object("cycles.Node")
    class Node(ffi_hpy.Object):
        pass

    @ffi_hpy.register_object("cycles.Cabinet")
    class Cabinet(ffi_hpy.Object):
        pass

    functions = {
        name: ffi_hpy.get_global_func(f"cycles.{name}")
        for name in (
            *("n_alive", "n_refused", "keep", "kept", "call", "ring", "error_of", "set_traverse_throws"),
            *("keep_shared", "kept_shared", "forget_shared", "make_shared", "make_kept"),
        )
    }
    return SimpleNamespace(Button=Button, Window=Window, Node=Node, Cabinet=Cabinet, **functions)


MORE_ON_PYPY = 3 if IS_PYPY else 0
"""The further collections that wrappers with state or `__del__` may need on PyPy."""


def alive_after(lib: Any, make: Any, n: int = 100, n_more: int = 0) -> int:
    """Return how many C++ objects are alive after `make` was called n times, and one call of gc.collect(). n_more: the
    further calls that the test allows."""
    collect_garbage(n_rounds=2)
    before = lib.n_alive()
    for _ in range(n):
        make()
    gc.collect()
    collect_garbage(lambda: lib.n_alive() == before, n_more)
    return int(lib.n_alive() - before)


@collects
def test_windows(lib: Any) -> None:
    def make() -> None:
        window = lib.Window()
        window.button.on_press = window.closed
        assert window.button.press() == 7

    assert alive_after(lib, make, 5000) == 0


@collects
@pytest.mark.skipif(not IS_PYPY, reason="other interpreters search in each full collection")
def test_garbage_does_not_pile_up_before_the_next_search(lib: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ffi_hpy._pypy.context.py_owners import n_owned
    from ffi_hpy._pypy.object import cycles

    def make() -> None:
        window = lib.Window()
        window.button.on_press = window.closed

    monkeypatch.setattr(cycles, "_MANY", 1000)
    monkeypatch.setattr(cycles._State, "earliest", float("inf"))  # the duration of the last search allows no search
    full = getattr(gc, "col" + "lect")  # a function with the plain name would ask for a search
    n, before = n_owned() + len(cycles.kept) + 1000, lib.n_alive()
    for _ in range(6):
        for _ in range(n):
            make()
        full()
        full()
    assert lib.n_alive() - before < 2 * 4 * n  # of 2 * 6 * n


LISTENER = """
import gc, weakref, ffi_hpy

class Hub(ffi_hpy.List):
    __slots__ = ("__weakref__",)

def make():
    hub = Hub()
    hub.append(lambda: hub)
    return weakref.ref(hub)

hub = make()
gc.collect()
print(hub() is None)
"""


@collects
@pytest.mark.thread_unsafe(reason="starts programs")
def test_the_environment_turns_it_off() -> None:
    assert run_python(LISTENER) == "True\n"
    assert run_python(LISTENER, environ={"FFI_HPY_COLLECT": "0"}) == "False\n"


AUTOMATIC = """
import time, weakref, ffi_hpy

class Hub(ffi_hpy.List):
    __slots__ = ("__weakref__", "content")

def make():
    hub = Hub()
    hub.content = bytearray(20_000)
    hub.append(lambda: hub)
    return weakref.ref(hub)

first = make()
end = time.monotonic() + 120
while first() is not None and time.monotonic() < end:
    make()
    time.sleep(0.001)
print(first() is None)
"""


@pytest.mark.skipif(sys.implementation.name != "pypy", reason="CPython counts objects, not their memory")
@pytest.mark.thread_unsafe(reason="starts a program")
def test_automatic_collection() -> None:
    """A program that does not call gc.collect()."""
    assert run_python(AUTOMATIC) == "True\n"


@collects
def test_fields_that_are_small_values_of_cpp(lib: Any) -> None:
    def make() -> None:
        window = lib.Window()
        window.extent, window.ids, window.scale = (2**31 - 1, -1), [2**63 - 1], (1.5,)
        window.button.on_press = window.closed
        gc.collect()
        fields = [list(each) for each in (window.extent, window.ids, window.scale)]
        assert fields == [[2**31 - 1, -1], [2**63 - 1], [1.5]]

    assert alive_after(lib, make, 3) == 0


@collects
def test_typed_function(lib: Any) -> None:
    def make() -> None:
        window = lib.Window()
        window.on_close = window.closed
        assert window.close() == 7

    assert alive_after(lib, make) == 0


@pytest.mark.parametrize("container", [ffi_hpy.List, ffi_hpy.Array])
@collects
def test_observers_in_a_sequence(lib: Any, container: Any) -> None:
    def make() -> None:
        window = lib.Window()
        window.extra = container([window.closed, lambda: window])

    assert alive_after(lib, make) == 0


@pytest.mark.parametrize("container", [ffi_hpy.Dict, ffi_hpy.Map])
@pytest.mark.parametrize("n_more", [0, 20])
@collects
def test_observers_in_a_mapping(lib: Any, container: Any, n_more: int) -> None:
    def make() -> None:
        window = lib.Window()
        window.extra = container({"closed": window.closed, **{str(i): i for i in range(n_more)}})

    assert alive_after(lib, make) == 0


@collects
def test_list_with_observers_that_refer_to_it(lib: Any) -> None:
    def make() -> None:
        observers = ffi_hpy.List([lib.Window()])
        observers.append(lambda: observers)

    assert alive_after(lib, make) == 0


@collects
def test_function_of_itself(lib: Any) -> None:
    def make() -> None:
        window = lib.Window()
        function = ffi_hpy.convert(lambda: (function, window))

    assert alive_after(lib, make) == 0


@collects
@pytest.mark.skipif(IS_PYPY, reason="PyPy's collector does not see callables as references of their Functions")
@pytest.mark.parametrize("has_attributes", [False, True])
def test_function_of_itself_needs_no_full_collection(lib: Any, has_attributes: bool) -> None:
    """The callable is a reference of the only wrapper, as of an object of Python."""

    class Named(ffi_hpy.Function):
        __slots__ = ("__dict__",)

    def convert(f: Any) -> Any:
        if not has_attributes:
            return ffi_hpy.convert(f)
        named = Named()
        named.__move_handle_from__(ffi_hpy.convert(f))
        return named

    def make() -> Any:
        window = lib.Window()
        function = convert(lambda: (function, window))
        return function

    collect_garbage(n_rounds=2)
    before = lib.n_alive()
    kept = make()
    n_kept = lib.n_alive()
    assert any(found is kept._callable for found in gc.get_referents(kept))
    gc.collect()
    assert kept()[0] is kept
    gc.disable()  # else a collection in the loop may move garbage to an older generation
    try:
        for _ in range(100):
            make()
        gc.collect(0)
        assert lib.n_alive() == n_kept
    finally:
        gc.enable()
    del kept
    collect_garbage(n_rounds=1)
    assert lib.n_alive() == before


@collects
def test_function_that_native_code_holds_keeps_its_callable(lib: Any) -> None:
    """The only wrapper is garbage while native code takes the Function, and while it has it."""

    def put() -> None:
        function = ffi_hpy.convert(lambda: function is not None)
        lib.keep(function)

    for generation in range(3):
        put()
        gc.collect(generation)
        assert lib.call(lib.kept()) is True
        lib.keep(None)


@py_class("test_cycles.Pair")
class Pair(ffi_hpy.Object):
    a: int
    b: int


class Named(Pair):
    __slots__ = ("__dict__", "__weakref__")


@py_class("test_cycles.Shelf")
class Shelf(ffi_hpy.Object):
    item: Any = None


@collects
@pytest.mark.parametrize("shelf_of", [lambda item: ffi_hpy.List([item]), lambda item: ffi_hpy.Map({1: item}), Shelf])
@pytest.mark.parametrize("n_more", [0, 3])
def test_item_without_fields_whose_wrapper_has_attributes(shelf_of: Any, n_more: int) -> None:
    """The type of the item can hold no object, so that the collector would read no container of such items alone."""

    def make() -> Any:
        items = [Pair(1, 2) for _ in range(n_more)]
        named = Named(1, 2)
        named.shelf = shelf_of(ffi_hpy.Array([*items, named]))
        return weakref.ref(named), named.shelf

    found, shelf = make()
    for _ in range(2):
        gc.collect()
        assert found() is not None
        assert found().shelf is shelf
    lost, _ = make()
    del shelf, _
    collect_garbage(lambda: found() is None and lost() is None, 1 + MORE_ON_PYPY)
    assert found() is None
    assert lost() is None


@py_class("test_cycles.Holder")
class Holder(ffi_hpy.Object):
    callback: Any
    window: Any = None


@collects
def test_py_class_with_a_closure(lib: Any) -> None:
    def make() -> None:
        holder = Holder(None, lib.Window())
        holder.callback = lambda: holder

    assert alive_after(lib, make) == 0


@py_class("cycles.Caller")
class Caller(ffi_hpy.Object):
    __slots__ = ("__dict__", "__weakref__")
    call: ffi_hpy.Function | None = None


@collects
def test_callable_in_a_field_for_functions() -> None:
    """One search frees the cycles, again and again, without another call into native code before the search."""

    def make() -> Any:
        caller = Caller()
        caller.call = lambda: caller
        return weakref.ref(caller)

    for _ in range(4):
        watches = [make() for _ in range(20)]
        for _ in range(1 + MORE_ON_PYPY):  # collect_garbage() makes such calls
            gc.collect()
        assert sum(watch() is not None for watch in watches) == 0


@collects
def test_python_object(lib: Any) -> None:
    class Thing:
        pass

    def make() -> None:
        holder, thing = Holder(None, lib.Window()), Thing()
        thing.holder = holder  # type: ignore[attr-defined]
        holder.callback = thing

    assert alive_after(lib, make) == 0


@collects
def test_both_alive(lib: Any) -> None:
    class View:
        pass

    def make() -> None:
        view: Any = View()
        view.window = lib.Window()
        view.button = view.window.button
        view.button.on_press = lambda: view

    assert alive_after(lib, make) == 0


@collects
def test_subclass(lib: Any) -> None:
    class MyWindow(lib.Window):  # type: ignore[misc, name-defined]
        __slots__ = ("__dict__", "__weakref__")

    def make() -> None:
        window = MyWindow()
        window.attribute = 1
        window.on_close = window.closed

    assert alive_after(lib, make) == 0


@collects
@pytest.mark.parametrize("slots", [("__dict__",), ("itself",), ("__dict__", "__weakref__")])
def test_subclass_that_native_code_and_python_refer_to(lib: Any, slots: tuple[str, ...]) -> None:
    class MyWindow(lib.Window):  # type: ignore[misc, name-defined]
        __slots__ = slots

    def make() -> None:
        window = MyWindow()
        window.itself = window.parent = window.extra = window
        window.on_close = window.closed

    assert alive_after(lib, make, n_more=MORE_ON_PYPY) == 0


@collects
def test_fields_without_references_are_not_set(lib: Any) -> None:
    """A setter of C++ that refuses a value throws, which would make the collection several times slower."""

    def make() -> None:
        window = lib.Window()
        window.extra = ffi_hpy.Array([window])
        window.on_close = window.closed

    assert alive_after(lib, make, 10) == 0
    assert lib.n_refused() == 0


@py_class("cycles.Slate")
class Slate(ffi_hpy.Object):
    __slots__ = ("__weakref__",)
    first: object = 5
    second: object = "a text that an Any does not hold itself"
    third: object = None


@pytest.mark.parametrize("value", [None, 5, "short", "a text that an Any does not hold itself", b"some bytes", 1.5])
@collects
def test_fields_that_change_between_plain_values_and_references(value: Any) -> None:
    """The search leaves out an object whose fields have plain values at that moment."""
    slate = Slate(value, value)
    watch = weakref.ref(slate)
    gc.collect()
    assert slate.first == slate.second == value
    slate.second = ffi_hpy.List([slate])
    gc.collect()
    assert slate.second[0] is slate
    del slate
    gc.collect()
    collect_garbage(lambda: watch() is None, MORE_ON_PYPY)
    assert watch() is None


@collects
def test_object_without_references_behind_a_cycle(lib: Any) -> None:
    def make() -> None:
        one, window = lib.Node(), lib.Window()
        one.next = window
        window.extra = ffi_hpy.Array([Slate(), ffi_hpy.List([lambda: one])])

    assert alive_after(lib, make, 100, MORE_ON_PYPY) == 0


@pytest.mark.skipif(IS_PYPY, reason="PyPy calls __del__ after the search")
@collects
def test_finalizer_that_fills_an_object_without_references(lib: Any) -> None:
    """The object is in use, and was left out of the search that found the garbage."""
    slate = Slate()

    class Last(lib.Window):  # type: ignore[misc, name-defined]
        def __del__(self) -> None:
            slate.third = self.button

    window = Last()
    window.button.on_press = window.closed
    del window
    gc.collect()
    gc.collect()
    assert slate.third.press() == 7
    before = lib.n_alive()
    slate.third = None
    gc.collect()
    assert lib.n_alive() == before - 2


@pytest.mark.parametrize("n", [1, 2, 10_000])
@collects
def test_ring(lib: Any, n: int) -> None:
    """A ring of native objects, of which Python refers to one."""

    def make() -> None:
        window, node = lib.Window(), lib.ring(n)
        window.parent = node
        window.extra = lambda: (window, node)

    assert alive_after(lib, make, 3) == 0


@collects
def test_ring_with_python_objects(lib: Any) -> None:
    def make() -> None:
        first: Any = lib.Window()
        last = first
        for _ in range(10_000):
            window = lib.Window()
            last.extra = lambda window=window: window
            last = window
        last.parent = first

    assert alive_after(lib, make, 2) == 0


@collects
def test_objects_of_two_threads(lib: Any) -> None:
    def make() -> None:
        windows: list[Any] = []
        threads = [threading.Thread(target=lambda: windows.append(lib.Window())) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        one, other = windows
        one.on_close = lambda: other and 0
        other.on_close = lambda: one and 0

    assert alive_after(lib, make, 20) == 0


@notes_orphans
def test_ring_through_members_without_reflection(lib: Any) -> None:
    def make() -> None:
        first, second = lib.Cabinet(), lib.Cabinet()
        first.put(second, second)
        second.put(first, second)

    assert alive_after(lib, make) == 0


IN_CONTAINERS_OF_CPP: Any = {
    "children": lambda window: [window],
    "rows": lambda window: [[1, window], [window]],
    "names": lambda window: {"me": window},
    "tagged": lambda window: (1, window),
}


@pytest.mark.parametrize("field", IN_CONTAINERS_OF_CPP)
@notes_orphans
def test_ring_through_a_container_of_cpp(lib: Any, field: str) -> None:
    def make() -> None:
        window = lib.Window()
        setattr(window, field, IN_CONTAINERS_OF_CPP[field](window))

    assert alive_after(lib, make) == 0


@pytest.mark.parametrize("field", IN_CONTAINERS_OF_CPP)
@collects
def test_callable_behind_a_container_of_cpp(lib: Any, field: str) -> None:
    def make() -> None:
        first, second = lib.Window(), lib.Window()
        setattr(first, field, IN_CONTAINERS_OF_CPP[field](second))
        second.extra = lambda: first

    assert alive_after(lib, make) == 0


@collects
def test_callable_in_a_function_of_cpp(lib: Any) -> None:
    def make() -> None:
        window = lib.Window()
        window.callback = window.closed
        window.callbacks = {"all": [window.callback, lambda: window.closed()]}
        assert window.callback() == window.callbacks["all"][1]() == 7

    assert alive_after(lib, make) == 0


@collects
@pytest.mark.thread_unsafe(reason="the library has one pointer for all threads")
def test_callable_behind_a_shared_pointer(lib: Any) -> None:
    def make() -> None:
        first, second = lib.Window(), lib.Window()
        first.shared, first.row = second, [second, first]
        second.on_close = first.closed
        lib.keep_shared(first)
        lib.forget_shared()

    assert alive_after(lib, make) == 0


@pytest.mark.thread_unsafe(reason="the library has one pointer for all threads")
def test_cycle_of_which_native_code_has_a_copy_of_a_shared_pointer(lib: Any) -> None:
    class MyWindow(lib.Window):  # type: ignore[misc, name-defined]
        __slots__ = ("__weakref__",)

    def make() -> weakref.ref[Any]:
        first, second = MyWindow(), MyWindow()
        first.shared, second.parent = second, first
        second.on_close = lambda: first.closed() + second.closed()
        lib.keep_shared(first)
        return weakref.ref(first)

    found = make()
    for _ in range(4):
        gc.collect()
    assert found() is not None
    assert lib.kept_shared().close() == 14
    lib.forget_shared()
    if not (IS_CFFI_ON_CPYTHON or IS_DEBUG or IS_OWN_DEBUG):
        collect_garbage(lambda: found() is None)
        assert found() is None


@pytest.mark.thread_unsafe(reason="the library has one pointer for all threads")
def test_cycle_of_an_object_of_which_native_code_has_the_first_shared_pointer(lib: Any) -> None:
    def make() -> None:
        window = lib.make_kept()
        window.on_close = lambda: window.closed()

    collect_garbage(n_rounds=2)
    before = lib.n_alive()
    make()
    for _ in range(4):
        gc.collect()
    assert lib.kept_shared().close() == 7
    lib.forget_shared()
    if not (IS_CFFI_ON_CPYTHON or IS_DEBUG or IS_OWN_DEBUG):
        collect_garbage(lambda: lib.n_alive() == before)
        assert lib.n_alive() == before


def with_a_title(lib: Any, window: Any) -> Any:
    """Give the native object of a window to a wrapper with state."""

    class Titled(lib.Window):  # type: ignore[misc, name-defined]
        __slots__ = ("__dict__", "__weakref__")

    titled = Titled.__new__(Titled)
    titled.__move_handle_from__(window)
    titled.title = "a title"
    return titled


@pytest.mark.parametrize("field", ["parent", "shared", "extra"])
@collects
def test_cycle_of_objects_of_make_shared_whose_wrappers_have_state(lib: Any, field: str) -> None:
    def make() -> None:
        first, second = with_a_title(lib, lib.make_shared()), with_a_title(lib, lib.make_shared())
        setattr(first, field, second)
        setattr(second, field, first)
        assert getattr(first, field).title == "a title"

    assert alive_after(lib, make, n_more=MORE_ON_PYPY) == 0


@pytest.mark.thread_unsafe(reason="the library has one pointer for all threads")
def test_cycle_of_objects_with_state_of_which_native_code_has_the_first_shared_pointer(lib: Any) -> None:
    def make() -> weakref.ref[Any]:
        first, second = with_a_title(lib, lib.make_kept()), with_a_title(lib, lib.make_shared())
        first.parent, second.parent = second, first
        return weakref.ref(first)

    found = make()
    for _ in range(4):
        gc.collect()
    if not IS_DEBUG and not IS_OWN_DEBUG:
        assert found() is lib.kept_shared()
        assert lib.kept_shared().parent.parent.title == "a title"
    lib.forget_shared()
    if not (IS_CFFI_ON_CPYTHON or IS_DEBUG or IS_OWN_DEBUG):
        collect_garbage(lambda: found() is None)
        assert found() is None


@pytest.mark.thread_unsafe(reason="it counts the objects of all threads")
def test_an_object_of_make_shared_is_destroyed_with_the_container_that_outlived_its_wrapper(lib: Any) -> None:
    collect_garbage(n_rounds=2)
    before = lib.n_alive()
    shelf = ffi_hpy.List([lib.make_shared()])
    shelf[0].extra = ffi_hpy.List()
    if not FREES_AT_ONCE:
        collect_garbage(n_rounds=2)
    shelf.clear()
    collect_garbage(lambda: lib.n_alive() == before, 0 if FREES_AT_ONCE and not IS_OWN_DEBUG else 4)
    assert lib.n_alive() == before


RECORDED = """
import gc, ffi_hpy
ffi_hpy.load_module({path!r})
made = ffi_hpy.get_global_func("cycles.make_shared")()
del made
for _ in range(3):
    gc.collect()
print(ffi_hpy.get_global_func("cycles.n_alive")())
"""


@pytest.mark.thread_unsafe(reason="starts a program")
def test_an_object_of_make_shared_is_destroyed_while_the_leak_report_records(compile_era: Any) -> None:
    path = str(compile_era("cycles.cc", "own", flags=("-O1",)))
    assert run_python(RECORDED.format(path=path), environ={"FFI_HPY_LEAKS": "1"}) == "0\n"


@pytest.mark.parametrize("put", ["extra", "put"])
@collects
def test_member_that_is_visited_twice(lib: Any, put: str) -> None:
    """Native code has as many other references to the callable."""

    def keep_one() -> None:
        holder = lib.Window() if put == "extra" else lib.Cabinet()
        function = ffi_hpy.convert(lambda: 6 if holder else 0)
        if put == "extra":
            holder.extra = function
        else:
            holder.put(function, None)
        lib.keep(function)

    collect_garbage(n_rounds=2)
    before = lib.n_alive()
    keep_one()
    collect_garbage(n_rounds=3)
    assert lib.call(lib.kept()) == 6
    lib.keep(None)
    collect_garbage(lambda: lib.n_alive() == before, 3)
    assert lib.n_alive() == before


@pytest.mark.parametrize("n", [1, 2, 10_000])
@notes_orphans
def test_ring_that_python_has_left(lib: Any, n: int) -> None:
    """No wrapper leads to the ring any more when the collector runs."""
    assert alive_after(lib, lambda: lib.ring(n) and None, 3) == 0


@notes_orphans
def test_ring_of_python_nodes_that_python_has_left(lib: Any) -> None:
    def make() -> None:
        nodes = [Holder(None, lib.Window() if i == 0 else None) for i in range(10_000)]
        for one, other in zip(nodes, nodes[1:] + nodes[:1]):
            one.callback = other

    assert alive_after(lib, make, 2) == 0


@notes_orphans
def test_ring_through_a_list_that_python_has_left(lib: Any) -> None:
    def make() -> None:
        window = lib.Window()
        window.extra = ffi_hpy.List([1, window])

    assert alive_after(lib, make) == 0


@pytest.mark.parametrize("windows_first", [False, True])
@pytest.mark.parametrize("attributes", ["__dict__", "windows"])
@collects
def test_subclass_that_native_code_owns(lib: Any, attributes: str, windows_first: bool) -> None:
    """The attributes of a wrapper lead back to the container that keeps the wrapper."""

    class MyWindow(lib.Window):  # type: ignore[misc, name-defined]
        __slots__ = (attributes, "__weakref__")

        def __del__(self) -> None:
            ended.append(self.windows[0] is self)

    ended = []

    def make() -> None:
        first = ffi_hpy.List() if windows_first else MyWindow()
        windows, window = (first, MyWindow()) if windows_first else (ffi_hpy.List(), first)
        windows.append(window)
        window.windows = windows
        weakref.finalize(window, ended.append, "finalized")
        del first, window, windows
        gc.collect()

    assert alive_after(lib, make, 5, MORE_ON_PYPY) == 0
    assert sorted(ended, key=str) == [True] * 5 + ["finalized"] * 5


@collects
def test_resurrection_of_a_subclass_that_native_code_owns(lib: Any) -> None:
    """`__del__` gives away the container, and with it the wrapper that is being finalized."""

    class MyWindow(lib.Window):  # type: ignore[misc, name-defined]
        __slots__ = ("__dict__",)

        def __del__(self) -> None:
            n_ended.append(1)
            rescued.append(self.windows)

    n_ended: list[int] = []
    rescued: list[Any] = []

    def make() -> None:
        windows = ffi_hpy.List([MyWindow()])
        windows[0].windows = windows
        windows[0].myself = windows[0]
        windows[0].number = 3

    before = lib.n_alive()
    make()
    for _ in range(3):
        gc.collect()
        assert rescued[0][0].number == 3
        assert rescued[0][0].windows is rescued[0]
    rescued.clear()
    collect_garbage(lambda: lib.n_alive() == before, 3)
    assert lib.n_alive() == before
    assert len(n_ended) == 1


@notes_orphans
def test_live_wrapper_that_native_code_owns(lib: Any) -> None:
    """A weak reference leads to a wrapper whose only native holder is garbage."""

    class MyWindow(lib.Window):  # type: ignore[misc, name-defined]
        __slots__ = ("__weakref__",)

    class Windows(ffi_hpy.List):  # type: ignore[type-arg]
        __slots__ = ("myself",)

    collect_garbage(n_rounds=2)
    before = lib.n_alive()
    windows = Windows([MyWindow()])
    windows.myself = windows
    windows[0].extra = node = lib.Node()
    node.next = node
    reference = weakref.ref(windows[0])
    del node
    window = reference()
    del windows
    gc.collect()
    assert window is reference()
    assert window is not None
    assert window.extra.next is not None
    del window
    collect_garbage(lambda: lib.n_alive() == before, 3)
    assert lib.n_alive() == before


@collects
def test_subclass_with_del(lib: Any) -> None:
    ended = []

    class MyWindow(lib.Window):  # type: ignore[misc, name-defined]
        __slots__ = ("__dict__",)

        def __del__(self) -> None:
            ended.append((self.name, self.close()))

    def make() -> None:
        window = MyWindow()
        window.name = "x"
        window.on_close = window.closed

    assert alive_after(lib, make, 5, MORE_ON_PYPY) == 0
    assert ended == [("x", 7)] * 5


@pytest.mark.parametrize("way", ["callback", "field", "list", "list and callback"])
@collects
def test_a_finalizer_finds_a_whole_cycle(lib: Any, way: str) -> None:
    """Also if only native code has the wrapper. The wrapper is older than its holder, so its attributes are cleared
    first; they have the only reference to the wrapper of the holder."""
    seen: list[Any] = []
    saved: list[Any] = []

    class MyWindow(lib.Window):  # type: ignore[misc, name-defined]
        __slots__ = ("__dict__",)

        def __del__(self) -> None:
            seen.append((sorted(self.__dict__), is_whole(self)))
            if saves:
                saved.append(self)

    def is_whole(window: Any) -> bool:
        holder = window.holder
        if way == "field":
            return holder.parent is window
        if "callback" in way and (holder.on_press() if way == "callback" else holder[1]()) is not window:
            return False
        return way == "callback" or holder[0] is window

    def make() -> None:
        window = MyWindow()
        if way == "field":
            window.holder = lib.Window()
            window.holder.parent = window
        elif way == "callback":
            window.holder = lib.Button()
            window.holder.on_press = lambda: window
        else:
            window.holder = ffi_hpy.List([window])
            if way != "list":
                window.holder.append(lambda: window)

    saves = False
    n_more = max(1, MORE_ON_PYPY)  # a List beside a callback needs a second one, and so do others without the GIL
    assert alive_after(lib, make, 5, n_more) == 0
    assert seen == [(["holder"], True)] * 5
    saves = True
    n_saved = alive_after(lib, make, 5, n_more)
    gc.collect()
    assert seen == [(["holder"], True)] * 10
    assert [is_whole(window) for window in saved] == [True] * 5
    before = lib.n_alive()
    saved.clear()
    # a List beside a callback needs two collections, and each of PyPy's finalizes a wrapper of a chain
    n_rounds = 2 if sys.implementation.name == "cpython" else 5
    collect_garbage(lambda: lib.n_alive() == before - n_saved, n_rounds)
    assert lib.n_alive() == before - n_saved
    assert len(seen) == 10


@collects
def test_the_destruction_of_one_cycle_destroys_others(lib: Any) -> None:
    """While the native objects of a cycle end, those of another one do."""

    def make() -> None:
        one, other = lib.Window(), lib.Window()
        views = [lib.Window(), lib.Window()]
        one.on_close = lambda: (other, views[0]) and 7
        other.on_close = lambda: (one, views[1]) and 7

    assert alive_after(lib, make, 50) == 0


@collects
def test_traverse_function_of_the_author(lib: Any) -> None:
    def make() -> None:
        cabinet = lib.Cabinet()
        cabinet.hide(lambda: cabinet and 7)
        assert cabinet.call() == 7

    assert alive_after(lib, make) == 0


@collects
@pytest.mark.thread_unsafe(reason="the traverse function throws on all threads")
def test_traverse_function_that_throws(lib: Any) -> None:
    """The members that it has not visited count as unknown holders."""

    def make() -> None:
        cabinet = lib.Cabinet()
        cabinet.hide(lambda: cabinet and 7)

    before = lib.n_alive()
    lib.set_traverse_throws(True)
    try:
        assert alive_after(lib, make, 3) == 3
        make()
    finally:
        lib.set_traverse_throws(False)
    make()  # PyPy looks again at objects that it has found to be in use
    collect_garbage(lambda: lib.n_alive() == before, 5)
    assert lib.n_alive() == before


@collects
def test_exception_inside_a_native_error(lib: Any) -> None:
    """The error carries the exception, whose attributes, and those of its cause, lead back to the holder."""

    def make() -> None:
        window = lib.Window()

        def fail() -> None:
            error = ValueError("no")
            error.window = window  # type: ignore[attr-defined]
            raise error

        window.extra = lib.error_of(fail)
        assert window.extra.message == "no"
        # an error with a cause
        holder = Holder(None, lib.Window())
        function = ffi_hpy.convert(lambda: holder)
        holder.callback = ffi_hpy.Error(
            "ValueError", "second", "", ffi_hpy.Error("KeyError", "first", "", None, function)
        )

    assert alive_after(lib, make, 20) == 0


WITHOUT_AUTOMATIC_COLLECTION = f"""
import gc
gc.disable()
{LISTENER}
class Named(ffi_hpy.List):
    __slots__ = ("__dict__", "__weakref__")
shelf = ffi_hpy.List([Named()])
shelf[0].itself = shelf[0]
gc.collect()
print(shelf[0].itself is shelf[0], gc.isenabled())
"""


@collects
@pytest.mark.thread_unsafe(reason="starts a program")
def test_program_that_has_disabled_automatic_collection() -> None:
    assert run_python(WITHOUT_AUTOMATIC_COLLECTION) == "True\nTrue False\n"


# --- objects in use stay ----------------------------------------------------------------------------------------------


def window_cycle(lib: Any) -> Any:
    window = lib.Window()
    window.on_close = window.closed
    window.button.on_press = lambda: window.closed()
    return window


def test_cycle_that_python_refers_to(lib: Any) -> None:
    window = window_cycle(lib)
    window.extra = ffi_hpy.List([window.closed, {"a": window.closed}])
    for _ in range(3):
        gc.collect()
        assert window.close() == window.button.press() == window.extra[0]() == window.extra[1]["a"]() == 7


def test_cycle_that_native_code_refers_to(lib: Any) -> None:
    """C++ has the only reference: to the window, to its button, or to the callable."""
    for part in (lambda w: w, lambda w: w.button, lambda w: w.on_close, lambda w: ffi_hpy.List([w])):
        lib.keep(part(window_cycle(lib)))
        for _ in range(3):
            gc.collect()
        kept = lib.kept()
        window = kept[0] if isinstance(kept, ffi_hpy.List) else kept
        if isinstance(window, ffi_hpy.Function):
            assert window() == 7
        elif isinstance(window, lib.Button):
            assert window.press() == 7
        else:
            assert window.close() == window.button.press() == 7
        del kept, window
        lib.keep(None)


def test_member_without_reflection(lib: Any) -> None:
    """The collector does not see such a member, so everything behind it stays."""
    collect_garbage(n_rounds=2)
    before = lib.n_alive()
    window = lib.Window()
    other = window_cycle(lib)
    window.hide(lambda other=other: other.close() + other.button.press())
    lib.keep(window)
    del other, window
    for _ in range(3):
        gc.collect()
    assert lib.n_alive() == before + 4  # two windows, and their buttons
    assert lib.kept().call_hidden() == 14
    lib.keep(None)


def test_cycle_that_a_call_uses(lib: Any) -> None:
    """The collector runs in a callback of the only reference to a cycle."""

    def collect(window: Any) -> int:
        for _ in range(3):
            gc.collect()
        return int(window.closed())

    def make() -> Any:
        window = lib.Window()
        window.button.on_press = lambda: collect(window)
        return window

    assert make().button.press() == 7
    lib.keep(make().button)
    function = lib.kept().on_press
    lib.keep(None)
    assert lib.call(function) == 7


@collects
def test_resurrection(lib: Any) -> None:
    saved: list[Any] = []

    class MyWindow(lib.Window):  # type: ignore[misc, name-defined]
        __slots__ = ("__dict__",)

        def __del__(self) -> None:
            if self.way == "python":
                saved.append(self)
            elif self.way == "button":
                saved.append(self.button)
            else:
                lib.keep(self)

    for way in ("python", "button", "native"):
        window = MyWindow()
        window.way = way
        window.on_close = window.closed
        window.button.on_press = window.closed
        del window
        for _ in range(3):
            gc.collect()
        if way == "native":
            saved.append(lib.kept())
            lib.keep(None)
        found = saved.pop()
        if way != "button":
            assert found.close() == 7
            found = found.button
        assert found.press() == 7
        del found
        gc.collect()


def test_frozen_objects(lib: Any) -> None:
    if not hasattr(gc, "freeze"):
        pytest.skip("PyPy's collector cannot freeze objects")
    window = lib.Window()
    gc.collect()
    gc.freeze()
    try:
        cycle = window_cycle(lib)
        window.parent = cycle
        window.extra = ffi_hpy.List([cycle])
        del cycle
        for _ in range(3):
            gc.collect()
        assert window.parent.close() == window.extra[0].button.press() == 7
    finally:
        gc.unfreeze()


@pytest.mark.skipif(IS_DEBUG or IS_OWN_DEBUG, reason="debug modes keep no identity")
def test_threads_use_objects_while_the_collector_runs(lib: Any) -> None:
    stop = threading.Event()
    failures: list[BaseException] = []
    shared = window_cycle(lib)
    shared.extra = ffi_hpy.List([window_cycle(lib)])

    def use() -> None:
        try:
            while not stop.is_set():
                while lib.n_alive() > 20_000 and not stop.is_set():
                    time.sleep(0.001)  # three threads make cycles faster than one thread frees them
                window = window_cycle(lib)
                window.parent = shared
                window.extra = ffi_hpy.List([window, shared, lib.ring(3)])
                extra = shared.extra  # another thread may replace it
                extra.append(window)
                assert window.close() == shared.close() == extra[0].button.press() == 7
                assert window.extra[0] is window
                if len(extra) > 20:
                    shared.extra = ffi_hpy.List([window_cycle(lib)])
                assert ffi_hpy.convert(window) is window
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + float(os.environ.get("FFI_HPY_TORTURE_SECONDS", "0.5"))
    while time.monotonic() < end and not failures:
        gc.collect()
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures, failures
