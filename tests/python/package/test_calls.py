"""The path of native calls: the cffi backend on PyPy if it can be used, otherwise the binding in C. The environment may
ask for either."""

import sys

import pytest
from support import IS_CFFI_ON_CPYTHON, IS_DEBUG, IS_OVER_CFFI, IS_OWN_DEBUG, IS_PYPY, NO_GIL, run_python

from ffi_hpy import _core

SHOW = """
import ffi_hpy
from ffi_hpy import _core, testing
echo = ffi_hpy.get_global_func("testing.echo")
values = ffi_hpy.convert([1, "two", echo(3)])
print(_core.CALLS, list(values), echo(values).same_as(values), sep="|")
print(_core.CALLS_REASON)
"""

needs_cffi = pytest.mark.skipif(
    not (IS_PYPY or IS_OVER_CFFI) or IS_DEBUG or IS_OWN_DEBUG,
    reason="other interpreters, and debug modes, always use the binding",
)
ASKED = {"FFI_HPY_CFFI": "1"} if IS_CFFI_ON_CPYTHON else {}
"""The environment in which this interpreter uses cffi."""


def show(before: str = "", **environ: str) -> "tuple[str, str]":
    """Return the path of calls in a process in which a program has run, and the reason if it is not the cffi backend.
    Calls must work in that process."""
    line, reason = run_python(before + SHOW, environ={"FFI_HPY_CFFI": "", **environ}).splitlines()
    calls, values, is_same = line.split("|")
    assert (values, is_same) == ("[1, 'two', 3]", "True")
    return calls, reason


def test_the_package_shows_the_path_of_calls():
    assert _core.CALLS in ("cffi", "binding")
    assert (_core.CALLS == "cffi") == (_core.CALLS_REASON == "")


@pytest.mark.skipif(IS_PYPY, reason="PyPy has a JIT that compiles calls over cffi")
def test_other_interpreters_use_the_binding():
    calls, reason = show()
    assert calls == "binding"
    assert reason == f"only PyPy's JIT compiles calls over cffi, and this is {sys.implementation.name}"


@needs_cffi
def test_pypy_uses_cffi_and_other_interpreters_use_it_on_request():
    assert show(**ASKED) == ("cffi", "")


REQUIRED = {"FFI_HPY_CFFI": "1", "FFI_HPY_DEBUG": "", "FFI_HPY_CONTEXT": ""}
REFUSED = """
try:
    import ffi_hpy
except ImportError as error:
    print(error)
"""


def refusal(before: str = "", **environ: str) -> str:
    """Return the message of an import that requires cffi and fails."""
    said = run_python(before + REFUSED, environ={**REQUIRED, **environ})
    return said.removeprefix("FFI_HPY_CFFI=1 in the environment asks for the cffi backend, but ").rstrip()


@pytest.mark.skipif(NO_GIL, reason="the lack of the GIL comes first")
def test_an_interpreter_without_cffi_refuses_to_be_asked_for_it():
    reason = "cffi cannot be used: import of _cffi_backend halted; None in sys.modules"
    assert refusal("import sys; sys.modules['_cffi_backend'] = None\n") == reason


@pytest.mark.skipif(not NO_GIL, reason="about interpreters without a GIL")
def test_an_interpreter_without_a_gil_refuses_to_be_asked_for_cffi():
    assert refusal() == "it relies on the GIL, which is disabled in this interpreter"


def test_a_process_cannot_ask_for_cffi_and_for_a_debug_mode():
    assert refusal(FFI_HPY_DEBUG="1") == "FFI_HPY_DEBUG=1 in the environment asks for the binding"


needs_pypy = pytest.mark.skipif(not IS_PYPY, reason="others use cffi only where the environment requires it")


@needs_cffi
@needs_pypy
@pytest.mark.parametrize(("name", "value"), [("FFI_HPY_CFFI", "0"), ("FFI_HPY_DEBUG", "1")])
def test_a_variable_asks_for_the_binding(name, value):
    assert show(**{name: value}) == ("binding", f"{name}={value} in the environment asks for the binding")


@needs_cffi
@needs_pypy
@pytest.mark.parametrize("name", ["callback", "newp", "unpack"])
def test_a_pypy_whose_cffi_lacks_something_uses_the_binding(name):
    calls, reason = show(f"import _cffi_backend; del _cffi_backend.{name}\n")
    assert calls == "binding"
    assert reason.startswith("cffi cannot be used: ")
    assert f"'{name}'" in reason


@needs_cffi
@needs_pypy
def test_a_pypy_without_cffi_uses_the_binding():
    calls, reason = show("import sys; sys.modules['_cffi_backend'] = None\n")
    assert calls == "binding"
    assert reason.startswith("cffi cannot be used: ")
    assert "_cffi_backend" in reason


@needs_cffi
def test_the_cffi_backend_is_not_loaded_unless_it_is_used():
    program = "import sys, ffi_hpy; print([name for name in sys.modules if name.startswith('ffi_hpy._pypy')])"
    assert run_python(program, environ={"FFI_HPY_CFFI": "0"}) == "[]\n"


UNMADE = """
import gc, sys
from ffi_hpy._pypy.object.call_buffers import CallBuffer
from ffi_hpy._pypy.object.references import Owned, Reference
sys.unraisablehook = lambda told: print(told.exc_value)
for cls in (CallBuffer, Reference, Owned):
    cls.__new__(cls)
gc.collect()
print("ended")
"""


@needs_cffi
def test_objects_left_incomplete_at_the_end_of_the_stack_are_freed_silently():
    assert run_python(UNMADE, environ=ASKED) == "ended\n"
