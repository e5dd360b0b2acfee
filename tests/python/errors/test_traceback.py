"""Tracebacks: Python's and native frames in calling order, without leaked references."""

import gc
import sys
import traceback
import weakref
from pathlib import Path

import pytest
from support import FREES_AT_ONCE, IS_PYPY, is_gone, needs_threads, run_python, unique_name

import ffi_hpy

PACKAGE_FOLDER = str(Path(ffi_hpy.__file__).parent)


def frames_of(exception):
    """Return (function, file) of each frame, outermost first, without the frames of the cffi backend, which CPython
    cannot hide."""
    frames = [(frame.name, frame.filename) for frame in traceback.extract_tb(exception.__traceback__)]
    return [(name, file) for name, file in frames if not file.startswith(str(Path(PACKAGE_FOLDER, "_pypy")))]


def place_of(frames, part):
    """Return the index of the only frame whose function has `part` in its name."""
    found = [i for i, (name, _) in enumerate(frames) if part in name]
    assert len(found) == 1, f"{part} is in {len(found)} of {frames}"
    return found[0]


def raised_by(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def call_native(function, *arguments):
    """Call a Python function through native code that never looks at errors: the binding's own code for callbacks."""
    return ffi_hpy.convert(function)(*arguments)


def test_a_native_frame_follows_the_caller(testing):
    frames = frames_of(raised_by(testing.test_raise_error, "ValueError", "boo"))
    assert frames[0][0] == "raised_by"
    assert place_of(frames, "TestRaiseError") == len(frames) - 1
    assert frames[-1][1].endswith(("basic.c", "testing.cc"))  # our library's file, or the other library's


def test_a_native_frame_has_its_line(testing):
    error = raised_by(testing.test_raise_error, "ValueError", "boo")
    line = traceback.extract_tb(error.__traceback__)[-1].lineno
    assert f'", line {line}, in' in error.__tvm_ffi_error__.backtrace
    assert line > 1


def test_the_frame_of_a_callback_comes_last(testing):
    def failing_callback():
        raise KeyError("x")

    frames = frames_of(raised_by(testing.apply, failing_callback))
    assert place_of(frames, "raised_by") == 0
    assert place_of(frames, "failing_callback") == len(frames) - 1
    assert frames[-1][1] == __file__


def test_frames_of_callbacks_inside_callbacks_are_in_order(testing):
    def innermost():
        raise KeyError("x")

    def middle():
        testing.apply(innermost)

    def outermost():
        testing.apply(middle)

    frames = frames_of(raised_by(testing.apply, outermost))
    places = [place_of(frames, name) for name in ("raised_by", "outermost", "middle", "innermost")]
    assert places == sorted(places)
    assert places[-1] == len(frames) - 1


def test_native_frames_inside_a_callback_come_after_it(testing):
    def rethrowing():
        testing.test_raise_error("KeyError", "x")

    frames = frames_of(raised_by(testing.apply, rethrowing))
    assert place_of(frames, "raised_by") < place_of(frames, "rethrowing") < place_of(frames, "TestRaiseError")


def test_a_traceback_does_not_grow_when_the_error_is_handled_again(testing):
    exception = KeyError("x")

    def failing_callback():
        raise exception

    lengths = set()
    for _ in range(5):
        exception.__traceback__ = None
        lengths.add(len(frames_of(raised_by(testing.apply, failing_callback))))
    assert len(lengths) == 1


@needs_threads
def test_an_error_of_a_native_thread_has_the_frame_of_the_callback(extension):
    def failing_callback(x):
        raise KeyError(x)

    frames = frames_of(raised_by(extension.call_on_thread, failing_callback, 1))
    assert place_of(frames, "failing_callback") == len(frames) - 1


def test_a_traceback_can_be_printed(testing):
    error = raised_by(testing.test_raise_error, "ValueError", "boo")
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    assert "Traceback (most recent call last)" in text
    assert "TestRaiseError" in text
    assert text.rstrip().endswith("ValueError: boo")


def test_lines_of_a_backtrace_that_are_not_frames_do_no_harm():
    backtrace = 'nonsense\n  File "f.c", line x, in g\n  File "ü.c", line 7, in größe(int, char)\n\n  File\n'
    exception = ffi_hpy.Error("ValueError", "m", backtrace).py_error()
    assert frames_of(exception) == [("größe(int, char)", "ü.c")]


def test_native_frames_are_between_the_frames_of_python_that_called_them(testing_library):
    program = """
import sys, traceback
import ffi_hpy
ffi_hpy.load_module(sys.argv[1])
apply, fail = map(ffi_hpy.get_global_func, ("testing.apply", "testing.test_raise_error"))
def innermost():
    fail("ValueError", "boo")
def middle():
    apply(innermost)
def outermost():
    apply(middle)
try:
    apply(outermost)
except ValueError as error:
    for frame in traceback.extract_tb(error.__traceback__):
        # Debug modes show the first; CPython shows the functions of the cffi backend.
        if frame.name != "raise_for_error" and "_pypy" not in frame.filename:
            print(frame.name.partition("(")[0].rpartition("::")[2])
"""
    said = run_python(program, testing_library, environ={"TVM_FFI_NATIVE_BACKTRACE": "1"})
    apply, fail = "TestApply", "TestRaiseError"
    assert said.split() == ["<module>", apply, "outermost", apply, "middle", apply, "innermost", fail]


# --- one exception, raised again and again ----------------------------------------------------------------------------


@pytest.mark.parametrize("looks", [False, True])
def test_an_exception_that_is_raised_again_and_again_gathers_nothing(testing, looks):
    call = testing.apply if looks else call_native
    exception = KeyError("x")

    def failing_callback():
        raise exception

    def through_two_calls():
        return raised_by(call, call, failing_callback)

    def through_two_callbacks():
        return raised_by(call, lambda: call(failing_callback))

    for again in (lambda: raised_by(call, failing_callback), through_two_calls, through_two_callbacks):
        lengths = [len(frames_of(again())) for _ in range(20)]
        assert len(set(lengths[2:])) == 1, lengths


@pytest.mark.parametrize("looks", [False, True])
def test_an_error_that_is_caught_at_its_call_gathers_no_frames(testing, looks):
    call = testing.apply if looks else call_native
    exception = KeyError("x")

    def failing_callback():
        raise exception

    lengths = []
    for _ in range(20):
        try:
            call(failing_callback)
        except KeyError as error:
            lengths.append(len(frames_of(error)))
    assert len(set(lengths[2:])) == 1, lengths


@needs_threads
def test_native_threads_that_raise_one_exception_gather_nothing(extension):
    exception = KeyError("x")

    def failing_callback(x):
        raise exception

    lengths = [len(frames_of(raised_by(extension.call_on_thread, failing_callback, 1))) for _ in range(20)]
    assert len(set(lengths[2:])) == 1, lengths


@pytest.mark.parametrize("looks", [False, True])
def test_an_exception_that_was_kept_shows_where_it_came_from_and_where_it_is_raised(testing, looks):
    call = testing.apply if looks else call_native

    def first():
        raise KeyError("x")

    kept = raised_by(call, first)

    def second():
        raise kept

    def third():
        raise kept

    frames = frames_of(raised_by(call, second))
    assert place_of(frames, "second") < place_of(frames, "first")
    frames = frames_of(raised_by(call, third))
    assert place_of(frames, "third") < place_of(frames, "second")
    assert "first" not in [name for name, _ in frames]


@pytest.mark.parametrize("looks", [False, True])
def test_all_frames_of_one_way_stay_however_often_the_exception_came_before(testing, looks):
    call = testing.apply if looks else call_native
    exception = KeyError("x")

    def innermost():
        raise exception

    def middle():
        call(innermost)

    def outermost():
        try:
            call(middle)
        except KeyError as error:
            again = error
            raise again  # noqa: B904 - a raise by name

    for _ in range(5):
        names = [name for name, _ in frames_of(raised_by(call, outermost))]
        places = [names.index(name) for name in ("raised_by", "outermost", "middle", "innermost")]
        assert places == sorted(places)


@pytest.mark.parametrize("looks", [False, True])
def test_an_exception_comes_back_as_it_is_whether_native_code_looked_at_it_or_not(plain, looks):
    call = plain.call_and_look if looks else call_native
    exception = KeyError("x")

    def first():
        raise exception

    def second():
        call(first)

    for _ in range(3):
        error = raised_by(call, second)
        assert error is exception
        assert (error.args, error.__context__, error.__cause__) == (("x",), None, None)
        names = [name for name, _ in frames_of(error)]
        assert [name for name in names if name in ("second", "first")][:2] == ["second", "first"]
        assert names[-1] == "first"


@pytest.mark.skipif(not ffi_hpy._core.HAS_EXTENSION, reason="in other contexts each exception becomes a native error")
def test_text_of_an_exception_is_made_only_when_native_code_looks_at_it(plain):
    n_asked = 0

    class Told(Exception):
        def __str__(self):
            nonlocal n_asked
            n_asked += 1
            return "told"

    def failing_callback():
        raise Told

    raised_by(call_native, failing_callback)
    raised_by(call_native, call_native, failing_callback)
    assert n_asked == 0
    error = raised_by(plain.call_and_look, failing_callback)
    assert n_asked == 1
    assert error.__tvm_ffi_error__.message == "told"


@needs_threads
def test_native_code_may_look_at_an_exception_on_its_own_thread(extension, plain):
    def failing_callback(x):
        raise KeyError(x)

    for _ in range(3):
        with pytest.raises(KeyError):
            extension.call_on_thread(lambda x: plain.call_and_look(failing_callback, x), 1)


# --- deep recursions --------------------------------------------------------------------------------------------------


def fall_through_native_code(testing, levels):
    if levels == 0:
        raise KeyError("x")
    testing.apply(fall_through_native_code, testing, levels - 1)


@pytest.mark.thread_unsafe(reason="traces its own code")
def test_a_crossing_costs_as_much_at_the_end_of_a_deep_recursion_as_at_its_start(testing):
    def lines_run(levels):
        """Return how many lines of the package run while an exception propagates through `levels` levels."""
        n = 0

        def count(frame, event, arg):
            nonlocal n
            if not frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
                return None
            n += event == "line"
            return count

        before = sys.gettrace()
        sys.settrace(count)
        try:
            raised_by(fall_through_native_code, testing, levels)
        finally:
            sys.settrace(before)
        return n

    lines_run(1)  # fills the caches
    # the least of three, because a collection may run finalizers of the package in between
    few, many = (min(lines_run(levels) for _ in range(3)) for levels in (40, 120))
    assert few > 0
    assert many < 3.5 * few


N_LEVELS = 200 if ffi_hpy._core.HAS_EXTENSION else 90
"""Through native code and back. Other contexts allow 100 nested callbacks."""


def test_a_traceback_has_all_frames_of_a_deep_recursion(testing):
    names = [name for name, _ in frames_of(raised_by(fall_through_native_code, testing, N_LEVELS))]
    assert names.count("fall_through_native_code") == N_LEVELS + 1


@pytest.mark.skipif(
    not ffi_hpy._core.HAS_EXTENSION,
    reason="100 callbacks, the most in other contexts, have fewer frames than the text may",
)
def test_native_code_gets_the_innermost_frames_of_a_deep_recursion(testing, plain):
    texts = []

    def outermost():
        try:
            plain.call_and_look(fall_through_native_code, testing, N_LEVELS)
        except KeyError as error:
            texts.append(error.__tvm_ffi_error__.backtrace)
            raise

    error = raised_by(plain.call_and_look, outermost)
    texts.append(error.__tvm_ffi_error__.backtrace)
    for text in texts:
        lines = text.splitlines()
        assert 200 < len(lines) < 320
        assert f", line {fall_through_native_code.__code__.co_firstlineno + 2}, in" in lines[0]


def test_native_code_gets_no_traceback_that_was_removed(testing, plain):
    def first():
        raise KeyError("x")

    def second():
        kept = raised_by(testing.apply, first)
        kept.__traceback__ = None
        raise kept

    text = raised_by(plain.call_and_look, second).__tvm_ffi_error__.backtrace
    assert "in second" in text
    assert "in first" not in text


# --- no reference cycle ---------------------------------------------------------------------------------------------


class Local:
    pass


@pytest.fixture
def no_collector():
    """Turn the garbage collector off, so that cycles stay."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.thread_unsafe(reason="turns the garbage collector off")
@pytest.mark.skipif(not FREES_AT_ONCE, reason="only where references are counted")
def test_a_caught_native_error_keeps_no_locals_alive(testing, no_collector):
    def work():
        local = Local()
        try:
            testing.test_raise_error("ValueError", "boo")
        except ValueError:
            pass
        return weakref.ref(local)

    assert is_gone(work())


@pytest.mark.thread_unsafe(reason="turns the garbage collector off")
@pytest.mark.skipif(not FREES_AT_ONCE, reason="only where references are counted")
def test_a_caught_error_of_a_callback_keeps_no_locals_alive(testing, no_collector):
    refs = []

    def callback():
        inside = Local()
        refs.append(weakref.ref(inside))
        raise ValueError("boo")

    def work():
        local = Local()
        refs.append(weakref.ref(local))
        try:
            testing.apply(callback)
        except ValueError:
            pass

    work()
    assert [is_gone(ref) for ref in refs] == [True, True]


@pytest.mark.thread_unsafe(reason="turns the garbage collector off")
@pytest.mark.skipif(not FREES_AT_ONCE, reason="only where references are counted")
def test_a_callback_that_handles_native_errors_keeps_nothing_alive(testing, no_collector):
    refs = []

    def inner():
        local = Local()
        refs.append(weakref.ref(local))
        testing.test_raise_error("KeyError", "x")

    def outer():
        local = Local()
        refs.append(weakref.ref(local))
        try:
            testing.apply(inner)
        except KeyError as error:
            raise ValueError("second") from error

    try:
        testing.apply(outer)
    except ValueError:
        pass
    assert [is_gone(ref) for ref in refs] == [True, True]


def test_objects_that_a_handled_error_kept_alive_are_freed(testing):
    refs = []

    def callback():
        local = Local()
        refs.append(weakref.ref(local))
        raise ValueError("boo")

    def work():
        with pytest.raises(ValueError, match="boo"):
            testing.apply(callback)

    work()
    # pytest's own report of the exception may form a cycle.
    if not is_gone(refs[0]):
        gc.collect()
    assert is_gone(refs[0])


@pytest.mark.thread_unsafe(reason="turns the garbage collector off")
@pytest.mark.skipif(not FREES_AT_ONCE, reason="only where references are counted")
def test_the_collector_finds_nothing_after_errors_that_crossed(testing, no_collector):
    # Looked up once, because without the GIL the collector frees the results of get_global_func().
    apply, echo, test_raise_error = testing.apply, testing.echo, testing.test_raise_error

    class Own(Exception):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.more = list(arguments)

    def fail_natively():
        test_raise_error("ValueError", "boo")

    def fail_in_python():
        raise Own("boo")

    def fail_with_a_cause():
        try:
            apply(fail_natively)
        except ValueError as error:
            raise Own("second") from error

    def fail_again():
        try:
            apply(fail_in_python)
        except Own as error:
            echo(error)
            raise

    def deeper():
        apply(fail_with_a_cause)

    gc.collect()  # without the GIL, a class statement leaves the function of its body
    for fail in (fail_natively, fail_in_python, fail_with_a_cause, fail_again, deeper):
        for call in (fail, lambda fail=fail: apply(fail), lambda fail=fail: apply(apply, fail)):
            try:
                call()
            except (ValueError, Own):
                pass
    del fail, call
    assert gc.collect() == 0


@pytest.mark.thread_unsafe(reason="turns the garbage collector off")
@pytest.mark.skipif(not FREES_AT_ONCE, reason="only where references are counted")
def test_an_error_from_a_new_place_leaves_nothing_to_the_collector(no_collector):
    def fail_at_a_new_place():
        place = unique_name("place")
        ffi_hpy.error.Error("ValueError", "boo", f'  File "{place}.c", line 3, in {place}\n').py_error()

    fail_at_a_new_place()  # this may evict the memory of earlier places
    gc.collect()
    fail_at_a_new_place()
    assert gc.collect() == 0


@pytest.mark.skipif(IS_PYPY, reason="PyPy has no frames that can be told apart")
def test_frames_for_native_code_have_no_caller(testing):
    error = raised_by(testing.test_raise_error, "ValueError", "boo")
    entry = error.__traceback__
    while entry.tb_next is not None:
        entry = entry.tb_next
    assert entry.tb_frame.f_back is None
    assert entry.tb_frame.f_locals == {}
