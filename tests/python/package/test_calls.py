"""The path of native calls: the cffi backend on PyPy if it can be used, otherwise the binding in C."""

import sys

import pytest
from support import IS_DEBUG, IS_OWN_DEBUG, IS_PYPY, run_python

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
    not IS_PYPY or IS_DEBUG or IS_OWN_DEBUG, reason="other interpreters, and debug modes, always use the binding"
)


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
def test_pypy_uses_cffi():
    assert show() == ("cffi", "")


@needs_cffi
@pytest.mark.parametrize(("name", "value"), [("FFI_HPY_CFFI", "0"), ("FFI_HPY_DEBUG", "1")])
def test_a_variable_asks_for_the_binding(name, value):
    assert show(**{name: value}) == ("binding", f"{name}={value} in the environment asks for the binding")


@needs_cffi
@pytest.mark.parametrize("name", ["callback", "newp", "unpack"])
def test_a_pypy_whose_cffi_lacks_something_uses_the_binding(name):
    calls, reason = show(f"import _cffi_backend; del _cffi_backend.{name}\n")
    assert calls == "binding"
    assert reason.startswith("cffi cannot be used: ")
    assert f"'{name}'" in reason


@needs_cffi
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
from ffi_hpy._pypy.object.frames import Frame
from ffi_hpy._pypy.object.references import Owned, Reference
sys.unraisablehook = lambda told: print(told.exc_value)
for cls in (Frame, Reference, Owned):
    cls.__new__(cls)
gc.collect()
print("ended")
"""


@needs_cffi
def test_objects_left_incomplete_at_the_end_of_the_stack_are_freed_silently():
    assert run_python(UNMADE) == "ended\n"
