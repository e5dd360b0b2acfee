"""Guards, policies, locks, lifetimes and the GIL around the calls of bound functions."""

from __future__ import annotations

import collections
import gc
import sys
import threading
import time
import weakref
from pathlib import Path

import pytest
from support import (
    IS_PYPY,
    collect_garbage,
    is_gone,
    needs_identity,
    needs_one_wrapper,
    needs_threads,
    parallelize,
    run_python,
)

import ffi_hpy

pytestmark = [needs_one_wrapper, needs_identity]


@pytest.fixture(scope="module")
def bound(import_bound):
    """The module of bound_calls.cc."""
    return import_bound("bound_calls")


BESIDE_A_SUB_INTERPRETER = """
import sys
sys.path[:0] = sys.argv[1:]
import bound_calls
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
made = interpreters.create()
print(bound_calls.depth_of_two())
interpreters.destroy(made)
"""


@pytest.mark.skipif(IS_PYPY, reason="PyPy has no sub-interpreters")
def test_a_function_releases_the_gil_beside_a_sub_interpreter(bound):
    folders = Path(ffi_hpy.__file__).parents[1], Path(bound.__file__).parent
    assert run_python(BESIDE_A_SUB_INTERPRETER, *folders) == "2\n"


def test_a_function_that_gets_python_objects_keeps_the_gil(bound):
    for choice in (True, False):
        bound.accepts_list.release_gil = choice
        assert bound.accepts_list([1, 2]) == 2


# --- exceptions -------------------------------------------------------------------------------------------------------


class TextError(KeyError):
    """An exception to which weak references may refer."""


def fail(error):
    raise error


def raised_by(function):
    with pytest.raises(KeyError) as caught:
        function()
    return caught.value


MAKES_ERRORS = ffi_hpy._core.CALLS == "cffi" or not ffi_hpy._core.HAS_EXTENSION
"""Whether an exception of Python becomes an error object when C++ catches it."""


@pytest.mark.skipif(MAKES_ERRORS, reason="Python code makes error objects")
@pytest.mark.thread_unsafe(reason="calls are counted")
def test_no_code_of_the_package_runs_for_an_exception_that_passes_cpp(bound):
    names = set()
    sys.setprofile(lambda frame, event, argument: names.add(frame.f_code.co_name))
    try:
        for depth in (1, 5):
            error = ValueError(depth)

            def go_down(n, error=error):
                return fail(error) if n == 0 else bound.call_object(n - 1, go_down)

            with pytest.raises(ValueError, match=str(depth)) as caught:
                go_down(depth)
            assert caught.value is error
    finally:
        sys.setprofile(None)
    assert not names & {"exception_asked_for", "error_to_exception", "_error_of"}


@pytest.mark.thread_unsafe(reason="the library keeps one error")
def test_an_exception_that_cpp_keeps_is_raised_again(bound):
    error = TextError("a text of some length")
    ended = weakref.ref(error)
    bound.keep_error(lambda _=None, error=error: fail(error))
    assert raised_by(bound.raise_kept) is error
    again = [raised_by(bound.raise_kept) for _ in range(3)]
    again += parallelize(lambda _: raised_by(bound.raise_kept), 4)
    assert [str(each) for each in again] == [str(error)] * 7 or MAKES_ERRORS  # an error object has the exception once
    assert all(each is error for each in again) or MAKES_ERRORS
    bound.drop_kept()
    del error, again
    collect_garbage()
    assert is_gone(ended) or MAKES_ERRORS  # an error object and its exception may be a cycle


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), OSError(2, "x"), ZeroDivisionError()], ids=repr)
def test_cpp_reads_an_exception_and_raises_it(bound, error):
    text = bound.text_of_error(lambda: fail(error), False)
    assert text.startswith(f"{type(error).__name__}: ")
    with pytest.raises(type(error)) as caught:
        bound.text_of_error(lambda: fail(error), True)
    assert caught.value is error
    assert "fail" in [entry.name for entry in caught.traceback]


# --- identity ---------------------------------------------------------------------------------------------------------


def test_a_static_method_has_the_names_of_its_class(bound):
    alive = bound.Counter.alive
    assert (alive.__module__, alive.__qualname__) == ("bound_calls", "Counter.alive")


def test_an_argument_is_the_same_object_in_callbacks_and_containers(bound):
    counter, target, found, table = bound.Counter(), type("Target", (), {})(), [], {}
    assert bound.call_function(counter, lambda other: other is counter)
    assert bound.call_object(counter, lambda other: other is counter)
    bound.put_attribute(counter, target)
    assert target.value is counter
    assert bound.put_items(counter, found, table)[1] is counter
    assert found[0] is counter
    assert table["value"] is counter


@pytest.mark.parametrize("n", [0, 1, 16, 17, 300])
@pytest.mark.parametrize("container", [list, tuple, iter, lambda items: collections.deque(items)])
def test_items_of_an_argument_are_the_same_objects(bound, n, container):
    class Derived(bound.Counter):
        pass

    for cls in (bound.Counter, Derived):
        counters = [cls() for _ in range(n)]
        for _ in range(2):
            found = bound.same_counters(container(counters))
            assert len(found) == n
            assert all(a is b for a, b in zip(found, counters))
    assert bound.n_nurses(container([bound.Nurse()] * n)) == n
    mixed = [None, bound.Counter(), None, Derived(), Derived()]
    assert all(a is b for a, b in zip(bound.same_counters(container(mixed)), mixed))


def test_items_of_other_classes_are_refused(bound):
    counter = bound.Counter()
    for wrong in ([counter, 3], [counter, bound.Nurse()], [3, counter], (counter, "a"), [[counter]], [counter, [1]]):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            bound.same_counters(wrong)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        bound.n_nurses([bound.Nurse(), None])
    assert bound.same_counters([counter])[0] is counter


# --- lifetimes --------------------------------------------------------------------------------------------------------


@pytest.mark.thread_unsafe(reason="the library counts the objects of all threads")
@pytest.mark.parametrize("n", [1, 20])
def test_items_of_an_argument_live_until_the_call_ends(bound, n):
    collect_garbage()
    before, counters = bound.Counter.alive(), [bound.Counter() for _ in range(n)]
    for counter in counters:
        counter.add()
    del counter

    def clear(result=0):
        counters.clear()
        collect_garbage()
        return result if bound.Counter.alive() == before + n else -1

    assert bound.counters_after(counters, clear) == n
    collect_garbage(lambda: bound.Counter.alive() == before)
    assert bound.Counter.alive() == before
    counters += [bound.Counter() for _ in range(n)]
    with pytest.raises(RuntimeError, match="66 is refused"):
        bound.counters_after(counters, lambda: clear(66))
    collect_garbage(lambda: bound.Counter.alive() == before)
    assert (bound.Counter.alive(), counters) == (before, [])


def test_items_with_finalizers_end_after_an_error(bound):
    ended = []

    class Derived(bound.Counter):
        def __del__(self):
            ended.append(self.n)
            with pytest.raises(TypeError):
                bound.same_counters([3])

    counters = [Derived() for _ in range(3)]

    def clear():
        counters.clear()
        return 66

    with pytest.raises(RuntimeError, match="66 is refused"):
        bound.counters_after(counters, clear)
    collect_garbage(lambda: len(ended) == 3)
    assert ended == [0, 0, 0]


@pytest.mark.thread_unsafe(reason="the library counts the objects of all threads")
@pytest.mark.parametrize("way", ["keep_arg", "keep_result"])
def test_a_bound_nurse_owns_the_patient(bound, way):
    collect_garbage()
    before = bound.Counter.alive()
    nurse, patient = bound.Nurse(), bound.Counter()
    for _ in range(2):
        if way == "keep_arg":
            assert bound.keep_arg(patient, nurse) is nurse
        else:
            assert bound.keep_result(nurse, patient) is patient
    del patient
    collect_garbage()
    assert bound.Counter.alive() == before + 1
    del nurse
    collect_garbage(lambda: bound.Counter.alive() == before)
    assert bound.Counter.alive() == before


@pytest.mark.thread_unsafe(reason="the library counts the objects of all threads")
@pytest.mark.parametrize("kind", ["ByInit", "ByPlacement", "ByNew"])
def test_the_new_object_is_the_nurse_of_an_argument_of_its_constructor(bound, kind):
    collect_garbage()
    before = bound.Counter.alive()
    patient = bound.Counter()
    nurse = getattr(bound, kind)(patient)
    del patient
    collect_garbage()
    assert bound.Counter.alive() == before + 1
    del nurse
    collect_garbage(lambda: bound.Counter.alive() == before)
    assert bound.Counter.alive() == before


@pytest.mark.thread_unsafe(reason="other threads keep objects alive for a while")
def test_an_object_of_python_is_a_patient_and_a_nurse(bound):
    class Thing:
        pass

    ways = [
        (bound.Counter, lambda nurse, patient: bound.keep_result(nurse, patient)),
        (Thing, lambda nurse, patient: bound.keep_arg(patient, nurse)),
    ]
    for make_nurse, tie in ways:
        nurse, patient = make_nurse(), Thing()
        alive = weakref.ref(patient)
        tie(nurse, patient)
        del patient
        collect_garbage()
        assert alive() is not None
        del nurse
        assert is_gone(alive)
    with pytest.raises(RuntimeError, match="could not create a weak reference"):
        bound.keep_arg(Thing(), 5)


def test_none_is_neither_patient_nor_nurse(bound):
    assert bound.keep_arg(None, bound.Counter()) is not None
    assert bound.keep_arg(bound.Counter(), None) is None


# --- guards and policies ----------------------------------------------------------------------------------------------


@pytest.mark.thread_unsafe(reason="the library has one counter for all threads")
def test_guards_live_during_the_call(bound):
    assert (bound.depth(), bound.depth(), bound.depth_of_two(), bound.depth()) == (1, 1, 2, 1)


@pytest.mark.thread_unsafe(reason="the library has one number for all threads")
def test_a_policy_sees_the_arguments_and_the_result(bound):
    assert (bound.doubled(1, 2), bound.last_doubled()) == (6, 6)
    with pytest.raises(RuntimeError, match="66 is refused"):
        bound.doubled(30, 3)
    with pytest.raises(RuntimeError, match="bad_cast"):
        bound.doubled("a", 1)


@needs_threads
def test_a_function_releases_the_gil_inside(bound):
    seen, gate = [], bound.Gate()
    opener = threading.Timer(0.02, gate.open)
    opener.start()
    assert bound.wait_inside(gate, seen.append)
    opener.join()
    bound.call_from_thread(seen.append)
    assert seen == [1, 2, 3]
    with pytest.raises(ZeroDivisionError):
        bound.wait_inside(gate, lambda x: 1 // 0)


# --- locks ------------------------------------------------------------------------------------------------------------


@needs_threads
def test_lock_self_excludes_other_calls(bound):
    counter = bound.Counter()
    parallelize(lambda _: [counter.add() for _ in range(300)], 4)
    assert counter.n == 1200
    counter.add_nested(counter)
    assert counter.n == 1202


@needs_threads
def test_two_locked_arguments_do_not_deadlock(bound):
    a, b = bound.Counter(), bound.Counter()

    def work(i):
        for _ in range(200):
            bound.move(a, b) if i % 2 else bound.move(b, target=a)
            a.add()

    parallelize(work, 4)
    assert (a.n, b.n) == (1600, 800)
    bound.move(a, a)
    assert a.n == 1602
    with pytest.raises(TypeError):
        bound.move(a, None)


@pytest.mark.thread_unsafe(reason="the library has one counter for all threads")
@needs_threads
def test_a_mutex_excludes_other_threads(bound):
    before = bound.add_guarded()
    parallelize(lambda _: [bound.add_guarded() for _ in range(300)], 4)
    assert bound.add_guarded() == before + 1201


@needs_threads
def test_a_thread_that_waits_for_a_lock_lets_others_run(bound):
    counter, entered, leave = bound.Counter(), threading.Event(), threading.Event()

    def hold():
        entered.set()
        assert leave.wait(20)
        gc.collect()  # without the GIL, all other threads stop for it
        return True

    holder = threading.Thread(target=lambda: bound.with_object(counter, hold))
    holder.start()
    assert entered.wait(20)
    waiter = threading.Thread(target=counter.add)
    waiter.start()
    time.sleep(0.05)
    leave.set()
    for thread in (holder, waiter):
        thread.join(20)
        assert not thread.is_alive()
    assert counter.n == 1


# --- arguments --------------------------------------------------------------------------------------------------------


def test_callables_members_and_texts_are_arguments_of_one_call(bound):
    def add(x):
        return x + 1

    assert bound.mixed(add, bound.Level.high, "a text of 20 letters", [5]) == "a text of 20 letters7"
    with pytest.raises(ZeroDivisionError):
        bound.mixed(lambda x: x // 0, bound.Level.low, "a text of 20 letters", [5])
    with pytest.raises(IndexError):
        bound.mixed(add, bound.Level.low, "a text of 20 letters", [])
    for wrong in ((add, 7, "text", [1]), (1, bound.Level.low, "text", [1]), (add, bound.Level.low, b"text", [1])):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            bound.mixed(*wrong)


def test_a_callable_is_released_with_the_call(bound):
    class Adder:
        def __call__(self, x):
            return x + 1

    adder = Adder()
    seen = weakref.ref(adder)
    assert bound.mixed(adder, bound.Level.low, "", [1]) == "2"
    del adder
    assert is_gone(seen)


def test_a_callable_that_cpp_keeps_is_not_replaced_by_that_of_a_later_call(bound):
    def add_to(x):
        # calls inside of a call, with callables of their own
        texts = [bound.mixed(lambda y, n=n: x + y + n, bound.Level.low, "", [1]) for n in range(3)]
        with pytest.raises(KeyError):
            bound.mixed({}.__getitem__, bound.Level.low, "", [1])
        return int(texts[-1])

    kept = [bound.twice(lambda x, n=n: x * n) for n in range(20)]
    assert bound.mixed(add_to, bound.Level.low, "", [10]) == "13"
    assert bound.twice(add_to)(10) == 16
    assert [each(3) for each in kept] == [3 * n * n for n in range(20)]


@pytest.mark.parametrize(
    ("named", "result"), [({}, 123), ({"a": 7}, 723), ({"b": 7}, 173), ({"c": 7}, 127), ({"c": 7, "a": 8}, 827)]
)
def test_an_int_that_is_left_out_has_its_default(bound, named, result):
    assert bound.defaults(**named) == result
    assert bound.defaults(4, 5, 6) == 456
    with pytest.raises(TypeError, match="incompatible function arguments"):
        bound.defaults("a", "b", "c")


@pytest.mark.thread_unsafe(reason="the library adds an overload once")
def test_a_function_that_was_called_gets_an_overload(bound):
    assert bound.grown(1) == "int"
    bound.add_overload(bound)
    assert (bound.grown(1), bound.grown("a text of 20 letters")) == ("int", "text")
    with pytest.raises(TypeError, match=r"(?s)1\. grown\(arg: int, /\).*2\. grown\(arg: str, /\)"):
        bound.grown(1.5)


class Index:
    def __index__(self):
        return 5


def test_the_first_overload_that_accepts_a_value_unchanged_runs(bound):
    assert [bound.ranked(value) for value in ("7", "a", "a text of 20 letters")] == ["digit", "text", "text"]
    assert [bound.ranked(value) for value in (7, True, 2**63, 1.5)] == ["unsigned", "unsigned", "unsigned", "float"]
    assert (bound.ranked(-1), bound.ranked(Index())) == ("float", "unsigned")  # these are converted
    for value in (None, b"bytes", [1]):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            bound.ranked(value)


def test_a_caster_that_derives_from_one_of_the_package_may_keep_objects(bound):
    assert bound.loud("a text of 20 letters") == "a text of 20 letters!"


def test_a_declared_iterator_is_the_result_of_iter(bound):
    numbers = bound.Numbers()
    assert list(numbers) == list(iter(numbers)) == [1, 2, 3]
    code = getattr(vars(bound.Numbers)["__iter__"], "__code__", None)
    assert code is None or code.co_name != "iterate"  # the method of results that are not iterators
