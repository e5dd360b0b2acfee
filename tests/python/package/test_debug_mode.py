"""The leak detector itself: in a debug mode, hpy's or ours, a test that leaves a handle open fails (see
conftest.py)."""

import os

import pytest
from support import IS_DEBUG, IS_OWN_DEBUG, run_python

import ffi_hpy
from ffi_hpy import _core

IS_OURS = _core.CONTEXT_NAME.endswith("(ffi_hpy)")


def test_the_context_is_the_one_asked_for():
    assert _core.HAS_EXTENSION == (_core.CONTEXT_NAME == "HPy Universal ABI (ffi_hpy)")  # noqa: SIM300
    assert IS_DEBUG == (_core.CONTEXT_NAME == "HPy Debug Mode ABI")  # noqa: SIM300
    assert (os.environ.get("FFI_HPY_DEBUG") == "1" and IS_OURS) == IS_OWN_DEBUG


@pytest.mark.skipif(not (IS_DEBUG or IS_OWN_DEBUG), reason="only in a debug mode")
def test_handles_that_are_open_are_seen():
    if IS_DEBUG:
        from hpy.debug.leakdetector import HPyLeakError as Leak
        from hpy.debug.leakdetector import LeakDetector

        expected = "unclosed handle"
    else:
        from ffi_hpy.hpy_debug import LeakDetector
        from ffi_hpy.hpy_debug import LeakedHandles as Leak

        expected = r"opened by ffi_hpy\.Function\.tp_call"

    detector = LeakDetector()

    def look(x):
        detector.stop()  # during a call, whose arguments are handles

    detector.start()
    with pytest.raises(Leak, match=expected):
        ffi_hpy.convert(look)("a text of some length")


@pytest.mark.skipif(not IS_OURS, reason="there the variable has no meaning")
@pytest.mark.parametrize(
    ("value", "name"), [("1", "HPy Debug Mode ABI (ffi_hpy)"), ("0", "HPy Universal ABI (ffi_hpy)")]
)
def test_a_variable_asks_for_debug_mode(value, name):
    program = "from ffi_hpy import _core; print(_core.CONTEXT_NAME)"
    assert run_python(program, environ={"FFI_HPY_DEBUG": value}) == f"{name}\n"


@pytest.mark.skipif(not IS_OURS, reason="there the variable has no meaning")
def test_the_binding_leaves_nothing_open_at_exit():
    program = """
import atexit, ffi_hpy
from ffi_hpy import _hpy
def work():
    kept = ffi_hpy.convert([1, "a", {"b": (2.0, b"c")}])
    assert ffi_hpy.convert(lambda x: x)(kept) is not None
    assert _hpy.debug_serial() > 0
    return kept
kept = work()
atexit.register(work)
"""
    assert run_python(program, environ={"FFI_HPY_DEBUG": "1"}) == ""  # no output on stderr either


@pytest.mark.skipif(not IS_OURS, reason="there the variable has no meaning")
def test_an_unknown_value_of_the_variable_is_an_import_error():
    program = "try:\n    import ffi_hpy\nexcept ImportError as error:\n    print(error)"
    assert (
        run_python(program, environ={"FFI_HPY_DEBUG": "x"})
        == "FFI_HPY_DEBUG='x' is unknown; use '1', '0', or nothing\n"
    )
