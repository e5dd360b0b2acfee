"""The end of the interpreter, while C++ uses Python objects."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import IS_CFFI_ON_CPYTHON, IS_PYPY, needs_threads, run_python

import ffi_hpy

pytestmark = pytest.mark.skipif(
    IS_CFFI_ON_CPYTHON, reason="cffi attaches to an interpreter that has ended, and crashes"
)

HEAD = """
import sys, time
sys.path[:0] = sys.argv[1:]
import bound_late
assert bound_late.use([]) == "a text of some length"
"""
USED = "a text of some length"
AFTER_THE_END = USED if IS_PYPY else "RuntimeError: a Python callback was called after the interpreter began to exit"
"""PyPy's interpreter still works when C runs its handlers."""


@pytest.fixture(scope="module")
def run(import_bound):
    """Return a function that runs a program after HEAD and returns its output."""
    folders = Path(ffi_hpy.__file__).parents[1], Path(import_bound("bound_late").__file__).parent
    return lambda program, **options: run_python(HEAD + program, *folders, **options)


def test_a_handler_of_atexit_in_cpp_gets_an_error_if_the_interpreter_has_ended(run):
    assert run("bound_late.at_exit([])\nprint('end', flush=True)") == f"end\natexit: {AFTER_THE_END}\n"


def test_a_static_destructor_gets_an_error_if_the_interpreter_has_ended(run):
    assert run("bound_late.keep([])\nprint('end', flush=True)") == f"end\nstatic destructor: {AFTER_THE_END}\n"


def test_a_handler_of_atexit_in_python_uses_objects(run):
    program = "import atexit\natexit.register(lambda: print(bound_late.use([])))\nprint('end')"
    assert run(program) == f"end\n{USED}\n"


@needs_threads
@pytest.mark.parametrize("n_threads", [1, 3])
def test_threads_of_cpp_use_objects_while_the_interpreter_ends(run, n_threads):
    program = f"""
shared = []
for own in ([], shared, shared)[:{n_threads}]:
    bound_late.on_thread(own)
time.sleep(0.05)
print('end', flush=True)
"""
    assert run(program, has_daemon_threads=True) == "end\n"
