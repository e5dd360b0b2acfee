"""Debug mode of the runtime: every mistake with handles is told with who made it; debug_probe.c makes them."""

import gc
import importlib.machinery
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest
from test_hpy_runtime import compile_universal

from ffi_hpy import _hpy, hpy_debug

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.thread_unsafe  # the hook and the handles are the process's


@pytest.fixture(scope="session")
def debug_path(tmp_path_factory):
    return compile_universal(HERE / "debug_probe.c", tmp_path_factory.mktemp("debug") / "debug_probe.hpy0.so")


@pytest.fixture(scope="session")
def probe(debug_path):
    return _hpy.load("pkg.debug_probe", debug_path, debug=True)


@pytest.fixture
def reports():
    """The reports of a test, which then do not end the process."""
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
        _hpy.load("debug_probe", debug_path)
    other = tmp_path / "debug_probe.hpy0.so"
    other.write_bytes(Path(debug_path).read_bytes())
    plain = _hpy.load("debug_probe", str(other))
    assert plain.context_name() == "HPy Universal ABI (ffi_hpy)"
    with pytest.raises(ImportError, match="was loaded without debug mode before"):
        _hpy.load("debug_probe", str(other), debug=True)
    assert _hpy.load("debug_probe", debug_path, debug=True) is not probe


def test_load_takes_spec_and_no_other_keyword(debug_path):
    spec = importlib.machinery.ModuleSpec("debug_probe", None)
    assert _hpy.load("debug_probe", debug_path, spec, debug=True).__spec__ is spec
    with pytest.raises(TypeError, match="one keyword argument, debug"):
        _hpy.load("debug_probe", debug_path, dbg=True)
    with pytest.raises(TypeError, match="one keyword argument, debug"):
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
        ("build_twice", (), ["build_twice passed to ListBuilder_Build handle #", "closed by debug_probe.build_twice"]),
        ("set_after_cancel", (1,), ["set_after_cancel passed to TupleBuilder_Set handle #", "which was closed"]),
        ("use_pointer", (), ["use_pointer passed to Repr 0x", "no handle of this context"]),
    ],
)
def test_a_mistake_is_told_with_its_function(probe, reports, name, arguments, told):
    if name == "build_twice":
        with pytest.raises(SystemError, match="after its end"):
            probe.build_twice()
    else:
        getattr(probe, name)(*arguments)
    assert len(reports) == 1
    for words in told:
        assert words in reports[0]


@pytest.mark.skipif(sys.implementation.name == "pypy", reason="PyPy has no reference counts to ask for")
def test_after_a_report_the_program_goes_on(probe, reports):
    value = object()
    before = sys.getrefcount(value)
    assert probe.use_after_close() == "None"
    assert probe.return_closed() is None
    assert probe.return_argument(value) is value
    assert probe.close_argument(value) is None
    assert probe.return_constant() is True
    assert sys.getrefcount(value) == before
    assert probe.Thing(3).struct_of_closed() == 0
    assert len(reports) == 6


def test_an_argument_that_was_kept_is_told(probe, reports):
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


# ---- leaks ----


def test_a_leak_is_told_with_its_opener_and_object(probe):
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


def test_a_forgotten_builder_is_a_leak_and_nobody_sees_its_object(probe):
    since = _hpy.debug_serial()
    probe.forget_builder()
    (handle,) = hpy_debug.open_handles(since)
    assert handle.opener == "debug_probe.forget_builder"
    assert handle.value is tuple


def test_what_is_closed_is_no_leak(probe):
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
    probe.leak("before")
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


# ---- threads ----


def test_handles_are_opened_and_closed_on_several_threads(probe, reports):
    n_threads = 4
    barrier = threading.Barrier(n_threads)
    results = []

    def work(i):
        barrier.wait()
        for k in range(100):
            probe.churn(50)
            results.append(probe.track((i, k)) == repr((i, k)) and probe.Thing(k).number >= 0)

    since = _hpy.debug_serial()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(n_threads)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 400
    assert all(results)
    assert reports == []
    # the getter, and nothing else, forgets one each time
    assert [h.opener for h in hpy_debug.open_handles(since)] == ["debug_probe.Thing.number"] * 400
