"""Windows between two steps of a thread, in which another thread finds the same object: the cffi backend."""

from __future__ import annotations

import threading
import weakref

import pytest
from support import IS_OVER_CFFI, collect_garbage, needs_identity, needs_one_wrapper, needs_threads

pytestmark = [
    needs_identity,
    needs_one_wrapper,
    needs_threads,
    pytest.mark.skipif(not IS_OVER_CFFI, reason="the binding in C has no such windows: its steps hold a lock"),
    pytest.mark.thread_unsafe(reason="it replaces functions of the backend"),
]


@pytest.fixture(scope="module")
def bound(import_bound):
    """The module of bound.cc."""
    return import_bound("bound")


@pytest.fixture(autouse=True)
def _marked(bound, monkeypatch):
    """Let the backend mark objects, which it no longer does for a class whose objects other tests have found often."""
    from ffi_hpy._pypy.object import objects

    monkeypatch.setattr(bound.Dog, "_ffi_is_late", True)
    monkeypatch.setitem(objects._n_searches, bound.Dog, 0)


def on_thread(work):
    """Run a function on another thread. The function may have to wait for a lock that this thread holds."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(0.5)
    return thread


class Window:
    """Calls a function once, before or after a function of the backend."""

    def __init__(self, monkeypatch, module, name, act, *, is_after=False):
        self.n_acts = 0
        original = getattr(module, name)

        def with_act(*args):
            result = original(*args) if is_after else None
            if not self.n_acts:
                self.n_acts = 1
                act(*args)
            return result if is_after else original(*args)

        monkeypatch.setattr(module, name, with_act)


def test_a_thread_finds_an_object_while_its_wrapper_is_registered(bound, monkeypatch):
    from ffi_hpy._pypy.object import identity

    found, threads = [], []
    collect_garbage()  # the wrapper of an earlier test
    dog = bound.rex()

    def find(_):
        threads.append(on_thread(lambda: found.append(bound.rex())))

    window = Window(monkeypatch, identity, "unmark", find, is_after=True)
    assert dog.__chandle__()
    threads[0].join()
    assert (window.n_acts, len(found)) == (1, 1)
    assert found[0] is dog is bound.rex()


def test_a_thread_finds_an_object_while_its_wrapper_waits(bound, monkeypatch):
    """The other thread registers the wrapper, so the end of the wrapper removes the entry."""
    from ffi_hpy._pypy.object import identity, objects

    collect_garbage()  # the wrapper of an earlier test
    is_same = []

    def find(address):
        own = [each for each in objects.every_wrapper() if each._ffi_address == address]
        on_thread(lambda: is_same.append(bound.rex() is own[0])).join()

    window = Window(monkeypatch, objects, "mark", find, is_after=True)
    dog = bound.rex()
    address = dog._ffi_address
    assert (window.n_acts, is_same) == (1, [True])
    assert bound.rex() is dog
    del dog
    collect_garbage(lambda: not identity.has_entry(address))
    assert not identity.has_entry(address)


def test_a_thread_finds_an_object_at_the_end_of_a_call_that_stores_it(bound, monkeypatch):
    """The wrapper has attributes, so it is kept from then on."""
    from ffi_hpy._pypy.object import call_buffers

    class Named(bound.Dog):
        pass

    found = []
    dog = Named("named", 1)
    dog.attribute = "value"
    watch = weakref.ref(dog)

    def find(_):
        on_thread(lambda: found.append(bound.kept())).join()

    window = Window(monkeypatch, call_buffers, "_end", find)
    bound.keep(dog)
    assert window.n_acts == 1
    assert found.pop() is dog
    del dog
    collect_garbage()
    assert watch() is bound.kept()
    assert bound.kept().attribute == "value"
    bound.keep(None)


def test_a_thread_finds_an_object_whose_wrapper_is_ending(bound, monkeypatch):
    from ffi_hpy._pypy.object import handle

    found = []
    collect_garbage()  # the wrapper of an earlier test
    dog = bound.rex()
    address = dog._ffi_address
    end = handle._end

    def find_first(ending):
        if ending._ffi_address == address and not found:
            on_thread(lambda: found.append(bound.rex())).join()
        end(ending)

    monkeypatch.setattr(handle, "_end", find_first)
    del dog
    collect_garbage(lambda: bool(found))
    assert found[0].age == 3
    assert found[0] is bound.rex()
    collect_garbage()
    assert found[0] is bound.rex()
