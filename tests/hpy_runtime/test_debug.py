"""Debug mode of the runtime: it reports every mistake with handles and the code that made it; see debug_probe.c."""

import contextlib
import gc
import importlib.machinery
import os
import platform
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest
from test_hpy_runtime import compile_universal

from ffi_hpy import _hpy, hpy, hpy_debug

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.thread_unsafe  # the hook and the handles belong to the process


@pytest.fixture(scope="session")
def debug_path(tmp_path_factory):
    return compile_universal(HERE / "debug_probe.c", tmp_path_factory.mktemp("debug") / "debug_probe.hpy0.so")


@pytest.fixture(scope="session")
def probe(debug_path):
    return _hpy.load("pkg.debug_probe", debug_path, debug=True)


@pytest.fixture
def reports():
    """Collect the reports of a test; otherwise a report ends the process."""
    texts = []
    hpy_debug.set_on_invalid_handle(texts.append)
    yield texts
    hpy_debug.set_on_invalid_handle(None)


def run(program, *arguments, **environ):
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=120,
    )


# ---- loading ----


def test_the_context_is_the_debug_one(probe):
    assert probe.context_name() == "HPy Debug Mode ABI (ffi_hpy)"
    assert probe.__name__ == "pkg.debug_probe"


def test_a_file_is_loaded_in_one_mode_only(probe, debug_path, tmp_path):
    with pytest.raises(ImportError, match=r"debug_probe\.hpy0\.so was loaded in debug mode before"):
        _hpy.load("debug_probe", debug_path, debug=False)
    other = tmp_path / "debug_probe.hpy0.so"
    other.write_bytes(Path(debug_path).read_bytes())
    plain = _hpy.load("debug_probe", str(other))
    assert plain.context_name() == "HPy Universal ABI (ffi_hpy)"
    with pytest.raises(ImportError, match="was loaded without debug mode before"):
        _hpy.load("debug_probe", str(other), debug=True)
    assert _hpy.load("debug_probe", debug_path, debug=True) is not probe
    # a call without the argument gets the file's mode
    assert _hpy.load("debug_probe", debug_path).context_name() == "HPy Debug Mode ABI (ffi_hpy)"
    assert _hpy.load("debug_probe", str(other), debug=None).context_name() == "HPy Universal ABI (ffi_hpy)"


@pytest.mark.parametrize(
    ("value", "name"), [("1", "HPy Debug Mode ABI (ffi_hpy)"), ("0", "HPy Universal ABI (ffi_hpy)")]
)
def test_the_environment_decides_if_the_caller_does_not(debug_path, value, name):
    program = """
import sys
from pathlib import Path
sys.path.insert(0, str(Path(sys.argv[1]).parent))
from ffi_hpy import hpy
hpy.install()
import debug_probe
print(debug_probe.context_name())
"""
    assert run(program, debug_path, FFI_HPY_DEBUG=value).stdout == f"{name}\n"


def test_an_unknown_value_in_the_environment_is_an_import_error(debug_path):
    program = """
import os, sys
from ffi_hpy import hpy
os.environ["FFI_HPY_DEBUG"] = "x"
try:
    hpy.load("debug_probe", sys.argv[1])
except ImportError as error:
    print(error)
print(hpy.load("debug_probe", sys.argv[1], debug=True).context_name())
"""
    said = run(program, debug_path, FFI_HPY_DEBUG="").stdout
    assert said == "FFI_HPY_DEBUG='x' is unknown; use '1', '0', or nothing\nHPy Debug Mode ABI (ffi_hpy)\n"


def test_the_public_loader_takes_debug(debug_path, tmp_path):
    copy = tmp_path / "debug_probe.hpy0.so"
    copy.write_bytes(Path(debug_path).read_bytes())
    assert hpy.load("debug_probe", copy, debug=True).context_name() == "HPy Debug Mode ABI (ffi_hpy)"


def test_load_takes_spec_and_no_other_keyword(debug_path):
    spec = importlib.machinery.ModuleSpec("debug_probe", None)
    assert _hpy.load("debug_probe", debug_path, spec, debug=True).__spec__ is spec
    with pytest.raises(TypeError, match="one keyword argument, debug or trace"):
        _hpy.load("debug_probe", debug_path, dbg=True)
    with pytest.raises(TypeError, match="one keyword argument, debug or trace"):
        _hpy.load("debug_probe", debug_path, debug=True, other=1)


# ---- mistakes ----


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("close_twice", (), ["debug_probe.close_twice closed handle #", "opened by debug_probe.close_twice"]),
        ("use_after_close", (), ["use_after_close passed to Repr handle #", "closed by debug_probe.use_after_close"]),
        ("return_closed", (), ["return_closed returned handle #", "which was closed"]),
        ("close_argument", ("x",), ["close_argument closed handle #", "an argument and belongs to the caller"]),
        ("return_argument", ("x",), ["return_argument returned without HPy_Dup handle #", "is an argument"]),
        ("close_constant", (), ["close_constant closed handle #", "a constant of the context"]),
        ("return_constant", (), ["return_constant returned without HPy_Dup handle #", "a constant of the context"]),
        ("build_twice", (), ["build_twice passed to ListBuilder_Build builder #", "closed by debug_probe.build_twice"]),
        ("set_after_cancel", (1,), ["set_after_cancel passed to TupleBuilder_Set builder #", "which was closed"]),
        ("cancel_after_build", (), ["passed to TupleBuilder_Cancel builder #", "closed by debug_probe.cancel_after"]),
        ("cancel_twice", (), ["passed to ListBuilder_Cancel builder #", "opened by debug_probe.cancel_twice"]),
        ("set_after_build", (1,), ["passed to ListBuilder_Set builder #", "closed by debug_probe.set_after_build"]),
        ("set_out_of_range", (1,), ["passed to ListBuilder_Set index 1 of a builder for 1 items"]),
        ("set_out_of_range", (-1,), ["passed to ListBuilder_Set index -1 of a builder for 1 items"]),
        ("set_null", (1,), ["set_null passed to ListBuilder_Set a null handle as item 0"]),
        ("build_unfinished", (1,), ["TupleBuilder_Build a builder for 3 items whose item 0 was not set"]),
        ("builder_as_handle", (), ["builder_as_handle passed to Repr builder #", "of a list"]),
        ("handle_as_builder", (1,), ["passed to TupleBuilder_Set handle #", "which is an argument"]),
        ("close_tracker_twice", (), ["passed to Tracker_Close tracker #", "closed by debug_probe.close_tracker_twice"]),
        ("add_to_closed_tracker", (1,), ["passed to Tracker_Add tracker #", "opened by debug_probe.add_to_closed"]),
        ("forget_all_of_closed_tracker", (), ["passed to Tracker_ForgetAll tracker #", "which was closed"]),
        ("use_null_tracker", (), ["passed to Tracker_ForgetAll a tracker that could not be made"]),
        ("track_closed", (1,), ["track_closed closed handle #", "opened by debug_probe.track_closed"]),
        ("type_check", (1, 2), ["debug_probe.type_check: HPy_TypeCheck arg 2 must be a type, got", "of type int"]),
        ("type_check", (1,), ["HPy_TypeCheck arg 2 must be a type, got a null handle"]),
        ("is_subtype", (1, int), ["HPyType_IsSubtype arg 1 must be a type, got an object of type int"]),
        ("is_subtype", (int, "x"), ["HPyType_IsSubtype arg 2 must be a type, got an object of type str"]),
        ("struct_of", ({},), ["Invalid usage of _HPy_AsStruct_Object.", "of that shape, got an object of type dict"]),
        ("text", (1, 3), ["HPyType_GetName arg must be a type, got an object of type int"]),
        ("substring", (b"abc",), ["HPyUnicode_Substring arg 1 must be a Unicode object, got an object of type bytes"]),
        ("use_pointer", (), ["use_pointer passed to Repr 0x", "not a handle of this context"]),
    ],
)
def test_a_mistake_is_reported_with_its_function(probe, reports, name, arguments, told):
    raised = {
        "build_twice": MemoryError,  # as from a builder that could not be created
        "add_to_closed_tracker": SystemError,
        "text": TypeError,
        "substring": TypeError,
    }
    since = _hpy.debug_serial()
    with pytest.raises(raised[name]) if name in raised else contextlib.nullcontext():
        getattr(probe, name)(*arguments)
    assert len(reports) == 1
    for words in told:
        assert words in reports[0]
    assert hpy_debug.open_handles(since) == []


@pytest.mark.skipif(sys.implementation.name == "pypy", reason="PyPy has no reference counts to ask for")
def test_the_program_continues_after_a_report(probe, reports):
    value = object()
    before = sys.getrefcount(value)
    assert probe.use_after_close() == "None"
    assert probe.return_closed() is None
    assert probe.return_argument(value) is value
    assert probe.close_argument(value) is None
    assert probe.return_constant() is True
    assert sys.getrefcount(value) == before
    assert probe.Thing(3).struct_of_closed() == 0
    assert probe.struct_of([]) == 0
    assert probe.set_out_of_range(7) == [7]
    assert probe.set_after_build(value) == [value]
    assert probe.set_null(value) == [value]
    assert probe.build_unfinished(value) == (None, value, None)
    assert probe.type_check(1, 2) is False
    assert probe.is_subtype(int, 2) is False
    assert sys.getrefcount(value) == before
    assert len(reports) == 13


def test_correct_uses_are_not_reported(probe, reports):
    class Sub(probe.Thing):
        pass

    assert probe.type_check(True, int) is True
    assert probe.is_subtype(int, str) is False
    assert probe.is_subtype(bool, int) is True
    assert probe.substring("abcd") == "bc"
    assert (probe.struct_of(probe.Thing(3)), probe.struct_of(Sub(4))) == (3, 4)
    assert reports == []


def test_an_argument_that_was_kept_is_reported(probe, reports):
    probe.keep_argument("x")
    probe.use_kept()
    assert "opened by debug_probe.keep_argument (its argument)" in reports[0]
    assert "closed by debug_probe.keep_argument (when it returned)" in reports[0]


def test_opener_and_closer_may_be_different_functions(probe, reports):
    probe.leak_new()
    probe.close_leaked()
    probe.use_leaked()
    assert "debug_probe.use_leaked passed to Repr" in reports[0]
    assert "opened by debug_probe.leak_new\n" in reports[0]
    assert reports[0].endswith("closed by debug_probe.close_leaked")


def test_a_stale_handle_is_known_after_its_record_was_used_again(probe, reports):
    probe.leak_new()
    probe.close_leaked()
    probe.churn(3000)
    probe.use_leaked()
    assert "opened by debug_probe.leak_new" in reports[0]
    probe.churn(20000)
    probe.use_leaked()
    assert "passed to Repr a handle that was closed" in reports[1]


def test_without_a_hook_the_process_ends_with_the_report(probe, debug_path):
    program = "import sys; from ffi_hpy import _hpy; _hpy.load('debug_probe', sys.argv[1], debug=True).close_twice()"
    done = run(program, debug_path)
    assert done.returncode == -6
    assert "ffi_hpy debug mode: debug_probe.close_twice closed handle #" in done.stderr
    assert "opened by debug_probe.close_twice" in done.stderr


def test_the_hook_keeps_a_raised_exception_and_may_fail(probe, monkeypatch):
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)

    def hook(text):
        raise KeyError(text)

    assert hpy_debug.set_on_invalid_handle(hook) is None
    assert probe.use_after_close() == "None"
    assert hpy_debug.set_on_invalid_handle(None) is hook
    assert [args.exc_type for args in unraisable] == [KeyError]
    with pytest.raises(TypeError, match="callable or None"):
        hpy_debug.set_on_invalid_handle(3)


# ---- texts ----

TEXTS = [("'text'", 0), ("b'text'", 1), ("b'text'", 2), ("int", 3)]


@pytest.mark.parametrize(("value", "mode"), TEXTS)
def test_a_text_is_the_objects(probe, value, mode):
    value = eval(value)
    assert probe.text(value, mode) == (value.__name__ if mode == 3 else "text")
    assert probe.text("\xe9" * 5000, 0) == "\xe9" * 5000  # more than a page


def test_an_object_without_text_is_an_exception(probe):
    with pytest.raises(TypeError):
        probe.text(b"bytes", 0)
    with pytest.raises(TypeError):
        probe.text("str", 1)
    with pytest.raises(UnicodeEncodeError):
        probe.text("\ud800", 0)


@pytest.mark.parametrize(("value", "mode"), TEXTS)
@pytest.mark.parametrize(
    "mistake",
    [
        "probe.text_after_close(value, mode)",
        "probe.write_text(value, mode)",
        "probe.keep_text(value, mode); probe.use_kept_text()",
    ],
)
def test_text_is_not_readable_after_its_handle_and_never_writable(debug_path, value, mode, mistake):
    program = f"""
import sys
from ffi_hpy import _hpy
probe = _hpy.load("debug_probe", sys.argv[1], debug=True)
value, mode = {value}, {mode}
probe.text(value, mode)
print("so far", flush=True)
{mistake}
print("never")
"""
    done = run(program, debug_path)
    assert (done.stdout, done.returncode) == ("so far\n", -11)


def test_texts_of_closed_handles_are_kept_up_to_a_limit(probe):
    def kept(n_chars):
        since = _hpy.debug_serial()
        probe.text("x" * n_chars, 0)
        return sum(handle.n_text_bytes for handle in hpy_debug.closed_handles(since))

    before = hpy_debug.limits()
    try:
        hpy_debug.set_limits(before._replace(n_closed=0))  # drops the strings so far
        assert hpy_debug.closed_handles() == []
        hpy_debug.set_limits(before._replace(n_closed=100, n_text_bytes=100))
        assert (kept(150), kept(59), kept(40), kept(39), kept(1)) == (0, 60, 0, 40, 0)
        probe.churn(200)
        assert sum(handle.n_text_bytes for handle in hpy_debug.closed_handles()) == 0
        assert kept(99) == 100
    finally:
        hpy_debug.set_limits(before)


# ---- queries ----


def test_closed_handles_are_listed_with_their_closer(probe):
    since = _hpy.debug_serial()
    probe.leak_new()
    probe.close_leaked()
    (mine,) = [
        h for h in hpy_debug.closed_handles(since) if h.closer == "debug_probe.close_leaked" and "new" in h.opener
    ]
    assert (mine.opener, mine.kind, mine.n_text_bytes, mine.stack) == ("debug_probe.leak_new", "handle", 0, "")


def test_as_many_closed_handles_are_known_as_asked_for(probe):
    before = hpy_debug.limits()
    try:
        assert hpy_debug.set_limits(before._replace(n_closed=5)) == before
        assert len(hpy_debug.closed_handles()) <= 5
        probe.churn(20)
        since = _hpy.debug_serial()
        probe.churn(1)
        handles = hpy_debug.closed_handles()
        assert len(handles) == 5
        assert [h.serial > since for h in handles] == [False] + [True] * 4  # self, the number, the copy, the result
    finally:
        hpy_debug.set_limits(before)
    for wrong in (-1, "x"):
        with pytest.raises((OverflowError, TypeError, ValueError)):  # the interpreter's choice
            hpy_debug.set_limits(before._replace(n_closed=wrong))
    assert hpy_debug.limits() == before


def test_the_native_stack_of_the_opening_is_noted_on_request(probe):
    before = hpy_debug.limits()
    try:
        hpy_debug.set_limits(before._replace(n_frames=8))
        since = _hpy.debug_serial()
        probe.leak(1)
    finally:
        hpy_debug.set_limits(before)
    (handle,) = hpy_debug.open_handles(since)
    if "glibc" in platform.libc_ver():  # other C libraries may be unable to walk the stack
        assert 2 <= len(handle.stack.splitlines()) <= 8
        assert "debug_probe.hpy0.so" in handle.stack
        assert "debug_probe.hpy0.so" in str(handle)
    hpy_debug.close(handle)
    probe.leak(1)
    assert hpy_debug.open_handles(handle.serial)[-1].stack == ""


def test_a_leaked_handle_can_be_closed_from_outside(probe, reports):
    since = _hpy.debug_serial()
    probe.leak_new()
    probe.forget_builder()
    handle, builder = hpy_debug.open_handles(since)
    hpy_debug.close(handle)
    with pytest.raises(ValueError, match="expects the word of a handle that is open"):
        hpy_debug.close(handle)
    with pytest.raises(ValueError, match="expects the word of a handle that is open"):
        hpy_debug.close(builder)
    assert hpy_debug.open_handles(since) == [builder]
    probe.use_leaked()
    assert reports[0].endswith("closed by ffi_hpy.hpy_debug.close")


# ---- leaks ----


def test_a_leak_is_reported_with_its_opener_and_object(probe):
    value = ["leaked"]
    with (
        pytest.raises(hpy_debug.LeakedHandles, match=r"opened by debug_probe\.leak") as caught,
        hpy_debug.LeakDetector(),
    ):
        probe.leak(value)
    (handle,) = caught.value.handles
    assert handle.opener == "debug_probe.leak"
    assert handle.value is value


def test_methods_slots_and_getsets_are_named_with_their_type(probe):
    thing = probe.Thing(5)
    since = _hpy.debug_serial()
    assert (repr(thing), thing.number) == ("Thing", 5)
    openers = [handle.opener for handle in hpy_debug.open_handles(since)]
    assert openers == ["debug_probe.Thing.tp_repr", "debug_probe.Thing.number"]


def test_a_forgotten_builder_is_a_leak_and_its_object_stays_hidden(probe):
    since = _hpy.debug_serial()
    probe.forget_builder()
    (handle,) = hpy_debug.open_handles(since)
    assert (handle.opener, handle.kind) == ("debug_probe.forget_builder", "builder")
    assert handle.value is tuple
    assert str(handle).endswith("of <class 'tuple'>, opened by debug_probe.forget_builder")


def test_a_forgotten_tracker_is_a_leak(probe):
    since = _hpy.debug_serial()
    probe.forget_tracker()
    (handle,) = hpy_debug.open_handles(since)
    assert (handle.opener, handle.kind, handle.value) == ("debug_probe.forget_tracker", "tracker", None)
    assert str(handle) == f"tracker #{handle.serial}, opened by debug_probe.forget_tracker"


def test_a_closed_handle_is_not_a_leak(probe):
    with hpy_debug.LeakDetector():
        assert probe.build(5) == ([5], 5)
        probe.leak_new()
        probe.close_leaked()
        assert probe.track(1) == "1"
        assert probe.variable("v") == "v"
        assert probe.call(lambda a, b: (a, b), 1, ("b",), 2) == (1, 2)
        with pytest.raises(TypeError, match="kwnames"):
            probe.call(len, 1, ["b"], 2)


def test_a_handle_from_before_does_not_count(probe):
    since = _hpy.debug_serial()
    probe.leak("before")
    assert len(hpy_debug.open_handles(since)) == 1
    with hpy_debug.LeakDetector():
        pass


def test_an_exception_in_the_block_is_not_replaced(probe):
    detector = hpy_debug.LeakDetector()
    with pytest.raises(KeyError), detector:
        raise KeyError(probe.leak(1))
    detector.start()
    with pytest.raises(RuntimeError, match="started already"):
        detector.start()
    detector.stop()
    with pytest.raises(RuntimeError, match="not been started"):
        detector.stop()


@pytest.mark.skipif(sys.implementation.name == "pypy", reason="PyPy has no reference counts to ask for")
def test_a_leaked_handle_keeps_its_object_until_it_is_closed(probe):
    with hpy_debug.LeakDetector():
        probe.leak_new()
        since = _hpy.debug_serial() - 3
        (made,) = [handle.value for handle in hpy_debug.open_handles(since) if handle.value == [None, None]]
        count = sys.getrefcount(made)
        probe.close_leaked()
        assert sys.getrefcount(made) == count - 1


def test_arguments_and_results_are_released(probe):
    class Value:
        def __repr__(self):
            return "value"

    value = Value()
    gone = weakref.ref(value)
    assert probe.track(value) == "value"
    assert probe.call(lambda a, b: a, value, ("b",), value) is value
    del value
    gc.collect()
    assert gone() is None


def test_the_fixture_fails_the_test_that_leaks(debug_path, tmp_path):
    (tmp_path / "test_it.py").write_text(
        f"""
from ffi_hpy import _hpy
from ffi_hpy.hpy_debug import leak_detector
probe = _hpy.load("debug_probe", {debug_path!r}, debug=True)
def test_good(leak_detector):
    probe.track(1)
def test_bad(leak_detector):
    probe.leak(1)
"""
    )
    done = run("import pytest, sys; sys.exit(pytest.main(sys.argv[1:]))", "-p", "no:cacheprovider", str(tmp_path))
    assert "2 passed, 1 error" in done.stdout
    assert "opened by debug_probe.leak" in done.stdout


EXIT_PROGRAM = """
import sys
from ffi_hpy import hpy
probe = hpy.load("debug_probe", sys.argv[1])
assert probe.context_name() == "HPy Debug Mode ABI (ffi_hpy)"
probe.track(1)
for i in range(int(sys.argv[2])):
    probe.leak([i])
if sys.argv[2] != "0":
    probe.forget_builder()
    probe.forget_tracker()
"""


def test_open_handles_are_reported_at_exit_if_the_environment_selects_debug_mode(debug_path):
    done = run(EXIT_PROGRAM, debug_path, "2", FFI_HPY_DEBUG="1")
    lines = done.stderr.splitlines()
    assert (done.returncode, lines[0]) == (0, "ffi_hpy debug mode: 4 open at exit:")
    assert [line.partition("#")[2].partition(" ")[2] for line in lines[1:]] == [
        "of type list, opened by debug_probe.leak",
        "of type list, opened by debug_probe.leak",
        "of type tuple, opened by debug_probe.forget_builder",
        "opened by debug_probe.forget_tracker",
    ]
    done = run(EXIT_PROGRAM, debug_path, "30", FFI_HPY_DEBUG="1")
    lines = done.stderr.splitlines()
    assert (lines[0], lines[-1]) == ("ffi_hpy debug mode: 32 open at exit:", "  and 12 more")


def test_nothing_is_printed_at_exit_without_open_handles_or_the_variable(debug_path):
    done = run(EXIT_PROGRAM, debug_path, "0", FFI_HPY_DEBUG="1")
    assert (done.returncode, done.stderr) == (0, "")
    program = EXIT_PROGRAM.replace("sys.argv[1])\n", "sys.argv[1], debug=True)\n", 1)
    done = run(program, debug_path, "2", FFI_HPY_DEBUG="")
    assert (done.returncode, done.stderr) == (0, "")


def test_open_handles_of_a_running_thread_are_not_reported_at_exit(debug_path):
    threads = """
import threading
has_leaked = threading.Event()
def work():
    probe.leak([1])
    has_leaked.set()
    threading.Event().wait()
threading.Thread(target=work, daemon=True).start()
has_leaked.wait()
# After the other, whose identity it would give on
ended = threading.Thread(target=probe.leak, args=("by a thread that has ended",))
ended.start(), ended.join()
"""
    done = run(EXIT_PROGRAM + threads, debug_path, "0", FFI_HPY_DEBUG="1")
    lines = done.stderr.splitlines()
    assert (done.returncode, lines[0]) == (0, "ffi_hpy debug mode: 1 open at exit:")
    assert lines[1].endswith("of type str, opened by debug_probe.leak")


# ---- threads ----


def test_handles_are_opened_and_closed_on_several_threads(probe, reports):
    n_threads = 4
    barrier = threading.Barrier(n_threads)
    results = []

    def work(i):
        barrier.wait()
        for k in range(100):
            probe.churn(50)
            text = f"{i} {k}"
            results.append(probe.track((i, k)) == repr((i, k)) and probe.Thing(k).number >= 0)
            results.append(probe.text(text, 0) == text and probe.build(k) == ([k], k))
            if k % 20 == 0:
                hpy_debug.set_limits(before._replace(n_closed=10 * k, n_text_bytes=10 * k, n_frames=k % 3))
                results.append(len(hpy_debug.closed_handles()) >= 0)
                # a handle's value may be None while another thread is about to return it
                trackers = [h for h in hpy_debug.open_handles(since) if h.kind == "tracker"]
                results.append(all(h.value is None for h in trackers))

    before = hpy_debug.limits()
    since = _hpy.debug_serial()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(n_threads)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    hpy_debug.set_limits(before)
    assert len(results) == 4 * (100 + 100 + 5 + 5)
    assert all(results)
    assert reports == []
    # only the getter leaks a handle at each call
    assert [h.opener for h in hpy_debug.open_handles(since)] == ["debug_probe.Thing.number"] * 400
