"""Garbage collection of cycles that go through native objects."""

from __future__ import annotations

import gc
import threading
import weakref
from types import SimpleNamespace
from typing import Any, Optional

import pytest
from support import collect_garbage

import ffi_hpy
from ffi_hpy.dataclasses import py_class


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

    functions = {name: ffi_hpy.get_global_func(f"cycles.{name}") for name in ("n_alive", "keep", "kept", "call", "ring")}
    return SimpleNamespace(Button=Button, Window=Window, Node=Node, **functions)


def alive_after(lib: Any, make: Any, n: int = 100) -> int:
    """Return how many C++ objects are alive after `make` was called n times and a collection."""
    collect_garbage(n_rounds=2)
    before = lib.n_alive()
    for _ in range(n):
        make()
    gc.collect()
    collect_garbage(lambda: lib.n_alive() == before, 3)
    return int(lib.n_alive() - before)


def test_windows(lib: Any) -> None:
    def make() -> None:
        window = lib.Window()
        window.button.on_press = window.closed
        assert window.button.press() == 7

    assert alive_after(lib, make, 5000) == 0


def test_typed_function(lib: Any) -> None:
    def make() -> None:
        window = lib.Window()
        window.on_close = window.closed
        assert window.close() == 7

    assert alive_after(lib, make) == 0


@pytest.mark.parametrize("container", [ffi_hpy.List, ffi_hpy.Array])
def test_observers_in_a_sequence(lib: Any, container: Any) -> None:
    def make() -> None:
        window = lib.Window()
        window.extra = container([window.closed, lambda: window])

    assert alive_after(lib, make) == 0


@pytest.mark.parametrize("container", [ffi_hpy.Dict, ffi_hpy.Map])
@pytest.mark.parametrize("n_more", [0, 20])
def test_observers_in_a_mapping(lib: Any, container: Any, n_more: int) -> None:
    def make() -> None:
        window = lib.Window()
        window.extra = container({"closed": window.closed, **{str(i): i for i in range(n_more)}})

    assert alive_after(lib, make) == 0


def test_list_of_its_own_observers(lib: Any) -> None:
    def make() -> None:
        observers = ffi_hpy.List([lib.Window()])
        observers.append(lambda: observers)

    assert alive_after(lib, make) == 0


def test_function_of_itself(lib: Any) -> None:
    def make() -> None:
        window = lib.Window()
        function = ffi_hpy.convert(lambda: (function, window))

    assert alive_after(lib, make) == 0


@py_class("test_cycles.Holder")
class Holder(ffi_hpy.Object):
    callback: Any
    window: Any = None


def test_py_class_with_a_closure(lib: Any) -> None:
    def make() -> None:
        holder = Holder(None, lib.Window())
        holder.callback = lambda: holder

    assert alive_after(lib, make) == 0


def test_python_object(lib: Any) -> None:
    class Thing:
        pass

    def make() -> None:
        holder, thing = Holder(None, lib.Window()), Thing()
        thing.holder = holder  # type: ignore[attr-defined]
        holder.callback = thing

    assert alive_after(lib, make) == 0


def test_both_alive(lib: Any) -> None:
    class View:
        pass

    def make() -> None:
        view: Any = View()
        view.window = lib.Window()
        view.button = view.window.button
        view.button.on_press = lambda: view

    assert alive_after(lib, make) == 0


def test_subclass(lib: Any) -> None:
    class MyWindow(lib.Window):  # type: ignore[misc, name-defined]
        __slots__ = ("__dict__", "__weakref__")

    def make() -> None:
        window = MyWindow()
        window.attribute = 1
        window.on_close = window.closed

    assert alive_after(lib, make) == 0


@pytest.mark.parametrize("n", [1, 2, 10_000])
def test_ring(lib: Any, n: int) -> None:
    """A ring of native objects, of which Python refers to one."""

    def make() -> None:
        window, node = lib.Window(), lib.ring(n)
        window.parent = node
        window.extra = lambda: (window, node)

    assert alive_after(lib, make, 3) == 0


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
