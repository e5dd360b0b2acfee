"""Garbage collection of cycles through the values of bound classes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import weakref

import pytest
from support import IS_CFFI_ON_CPYTHON, IS_DEBUG, IS_OWN_DEBUG, IS_PYPY, collect_garbage

pytestmark = [
    pytest.mark.skipif(
        IS_CFFI_ON_CPYTHON or IS_DEBUG or IS_OWN_DEBUG,
        reason="the cffi backend on CPython and debug modes do not see the references of native objects",
    ),
    pytest.mark.thread_unsafe(reason="the tests count the values that are alive in the process"),
]


ALONE = "FFI_HPY_TEST_BOUND_CYCLES"


@pytest.fixture(autouse=True)
def _search_on_pypy(monkeypatch, request):
    """Let PyPy search for cycles, which conftest.py turns off for other tests. The search runs in a process that has
    run no other tests, because a search visits all objects of the process."""
    if IS_PYPY and request.function is not test_on_pypy_the_other_tests_pass_in_a_separate_process:
        if ALONE not in os.environ:
            pytest.skip("it runs in a process of its own")
        from ffi_hpy._pypy.object import cycles

        monkeypatch.setattr(cycles, "is_on", True)


@pytest.fixture(scope="module")
def bound(import_bound):
    """The module of bound_cycles.cc."""
    return import_bound("bound_cycles")


@pytest.mark.skipif(not IS_PYPY or ALONE in os.environ, reason="about PyPy")
def test_on_pypy_the_other_tests_pass_in_a_separate_process(request):
    options = ("-q", "-p", "no:cacheprovider", "-c", request.config.inipath, f"--rootdir={request.config.rootpath}")
    command = [sys.executable, "-m", "pytest", *map(str, options), __file__]
    done = subprocess.run(command, env={**os.environ, ALONE: "1"}, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


# --- cycles that a program makes and drops ----------------------------------------------------------------------------


def refer_to_itself(member, kind="callable", value=lambda button: lambda: button):
    """Return a program that sets a member of a button to a value that refers to the button."""

    def make(bound):
        button = bound.Button()
        setattr(button, member, value(button))

    return pytest.param(make, id=f"{member}-{kind}")


def refer_to_each_other(member):
    """Return a program that sets a member of two buttons to the other button."""

    def make(bound):
        first, second = bound.Button(), bound.Button()
        setattr(first, member, second)
        setattr(second, member, first)

    return pytest.param(make, id=f"each-other-{member}")


def set_hidden_member(bound):
    button = bound.WideButton()
    button.hide(lambda: button)


def set_callback_of_a_shared_value(bound):
    window = bound.Window()
    window.shared.on_click = lambda: window


def set_callback_of_a_part(bound):
    window = bound.Window()
    window.inside.on_click = lambda: window


def share_a_part_that_has_no_references(bound):
    frame = bound.Frame()
    pane = frame.share_pane()  # owns the frame
    frame.on_open = lambda: pane


def share_an_object_of_python(bound):
    window, button = bound.Window(), bound.Button()
    window.shared = button
    button.on_click = lambda: window


def share_objects_of_python(bound):
    window = bound.Window()
    window.row = [bound.Button(), bound.WideButton()]
    for button in window.row:
        button.on_click = lambda: window


def own_a_value(bound):
    owner = bound.Owner()
    owner.button.data = lambda: owner


def append_to_a_bound_vector(bound):
    callbacks, button = bound.Callbacks(), bound.Button()
    callbacks.append(lambda: (callbacks, button))


def add_to_a_bound_map(bound):
    table, button = bound.Table(), bound.Button()
    table["self"] = lambda: (table, button)


def override_a_method(bound):
    class Square(bound.Shape):
        def corners(self):
            return 4

    square = Square()
    square.note = lambda: square


def keep_an_argument_alive(bound):
    window, button = bound.Window(), bound.Button()
    bound.link(window, button)
    button.data = lambda: window


def share_a_value_of_cpp_with_python(bound):
    first, second = bound.make_button(), bound.make_wide_button()
    first.next, second.next = second, first
    second.hide(lambda: (first, second))


def share_a_value_in_several_members(bound):
    window, other, button = bound.Window(), bound.Window(), bound.make_button()
    window.shared = other.shared = button
    window.row = other.row = [button, button]
    button.on_click = lambda: (window, other, button)


def share_shapes(bound):
    class Square(bound.Shape):
        def corners(self):
            return 4

    first, second = Square(), Square()
    first.neighbor, second.neighbor = second, first
    first.note = second


def share_values_that_know_their_owner(bound):
    first, second = bound.make_shape(), bound.Shape()
    first.neighbor, second.neighbor = second, first
    second.note = lambda: (first, second)


def count_themselves(bound):
    first, second = bound.Counted(), bound.Counted()
    first.next, second.next = second, first
    second.row = [first, second]


def count_a_callback(bound):
    first, second = bound.Tallied(), bound.Tallied()
    first.next = second
    second.on_click = lambda: first


def count_values_that_cpp_alone_has(bound):
    first = bound.Counted()
    first.add_chain(lambda: first)


def keep_each_other_alive(bound):
    first, second = bound.Button(), bound.Button()
    bound.link(first, second)
    bound.link(second, first)


@pytest.mark.parametrize(
    "make",
    [
        *map(refer_to_itself, ("on_click", "data", "maybe", "variant")),
        refer_to_itself("data", "itself", lambda button: button),
        refer_to_itself("data", "list", lambda button: [button]),
        refer_to_itself("mixed", "tuple", lambda button: (1, lambda: button)),
        *map(refer_to_each_other, ("data", "next")),
        *(share_a_value_of_cpp_with_python, share_a_value_in_several_members, share_shapes),
        *(share_values_that_know_their_owner, count_themselves, count_a_callback, count_values_that_cpp_alone_has),
        *(keep_each_other_alive, set_hidden_member, set_callback_of_a_shared_value, set_callback_of_a_part),
        *(share_an_object_of_python, share_objects_of_python, own_a_value, append_to_a_bound_vector),
        *(add_to_a_bound_map, override_a_method, keep_an_argument_alive, share_a_part_that_has_no_references),
    ],
)
def test_a_cycle_is_freed(bound, make):
    before = bound.n_alive()
    for _ in range(20):
        make(bound)
    collect_garbage(lambda: bound.n_alive() <= before)
    assert bound.n_alive() <= before


def test_ten_thousand_buttons_of_a_cycle_are_freed(bound):
    before = bound.n_alive()
    first = last = bound.Button()
    for _ in range(10_000):
        button = bound.Button()
        last.data, last = [button], button
    last.data = [first]
    del first, last, button
    collect_garbage(lambda: bound.n_alive() <= before)
    assert bound.n_alive() <= before


# --- cycles of which C++ holds a part ---------------------------------------------------------------------------------


def check_life(watched, is_whole, drop):
    """Check that a cycle is whole until C++ drops its part. `watched` is a weak reference to an object of the cycle."""
    collect_garbage()
    assert watched() is not None
    assert is_whole(watched())
    drop(None)
    collect_garbage(lambda: watched() is None)
    assert watched() is None


def test_a_traverse_function_that_throws_keeps_the_cycle(bound):
    def make():
        button = bound.Button()
        button.hide(lambda: button)
        return weakref.ref(button)

    bound.set_traverse_throws(True)
    try:
        check_life(make(), lambda button: True, lambda _: (bound.set_traverse_throws(False), make()))
    finally:
        bound.set_traverse_throws(False)


def test_a_value_that_cpp_shares_keeps_its_callable(bound):
    def make():
        window = bound.Window()
        window.shared.on_click = lambda: 1 + (window is not None)
        bound.keep(window.shared)
        return weakref.ref(window)

    check_life(make(), lambda window: bound.kept().click() == 2, bound.keep)


def test_a_button_that_cpp_keeps_alone_works(bound):
    def make():
        button = bound.Button()
        button.on_click = lambda: 5 if button is not None else 0
        bound.keep(button)
        return weakref.ref(button)

    check_life(make(), lambda button: bound.kept() is button and button.click() == 5, bound.keep)


def test_a_callable_that_cpp_copied_works(bound):
    def make():
        button = bound.Button()
        button.data = None
        button.on_click = lambda: 6 if button.data is None else 0
        bound.keep_callback(button)
        return weakref.ref(button)

    check_life(make(), lambda button: bound.call_kept() == 6, bound.keep_callback)


def test_a_member_with_two_names_keeps_the_copy_of_cpp(bound):
    def keep_one():
        button = bound.Button()
        button.data = [button]
        bound.keep_data(button)

    keep_one()
    collect_garbage()
    button = bound.kept_data()[0]
    assert button.data is bound.kept_data()
    button.data = None
    bound.keep_data(button)


def test_a_value_that_counts_itself_keeps_its_callable(bound):
    def make():
        first, second = bound.Counted(), bound.Counted()
        first.next, second.next = second, first
        first.on_click = lambda: 3 if second is not None else 0
        bound.keep_counted(first)
        return weakref.ref(second)

    def is_whole(second):
        return bound.kept_counted().next is second and bound.kept_counted().on_click() == 3

    check_life(make(), is_whole, bound.keep_counted)


def test_a_value_in_several_members_that_cpp_shares_keeps_its_callable(bound):
    def make():
        window, button = bound.Window(), bound.make_button()
        window.shared = button
        window.row = [button, button]
        button.on_click = lambda: 4 if window.row else 0
        bound.keep(button)
        return weakref.ref(window)

    check_life(make(), lambda window: bound.kept().click() == 4, bound.keep)


def test_a_value_that_two_windows_share_keeps_its_callable(bound):
    first, second = bound.Window(), bound.Window()
    second.shared = first.shared
    first.shared.on_click = lambda first=first: 8
    del first
    collect_garbage()
    assert second.shared.click() == 8


def test_a_collection_beside_calls_frees_nothing_in_use(bound):
    wrong = []

    def use():
        for _ in range(300):
            window = bound.Window()
            window.shared.on_click = lambda window=window: 9
            window.row = [bound.Button()]
            window.row[0].on_click = window.shared.on_click
            if (window.shared.click(), window.row[0].click()) != (9, 9):
                wrong.append(window)

    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        collect_garbage(n_rounds=1)
    assert not wrong
