"""The leak report on the values of bound classes."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import needs_identity, needs_one_wrapper, run_python

pytestmark = [needs_one_wrapper, needs_identity, pytest.mark.thread_unsafe(reason="the tests start programs")]

REACHABLE = """
import os, sys
import ffi_hpy
sys.path.insert(0, sys.argv[1])
import bound_cycles as bound

button = bound.make_wide_button()
button.on_click = lambda: 1
button.data = [ffi_hpy.List([1])]
button.mixed = (1, lambda: 2)
button.hide(lambda: 3)
window = bound.Window()
window.shared = button
window.row = [bound.make_button()]
window.row[0].on_click = lambda: 4
window.inside.on_click = lambda: 5
owner = bound.Owner()
owner.button.data = ffi_hpy.List([2])
counted = bound.Counted()
counted.add_chain(lambda: 6)

class Square(bound.Shape):
    def corners(self):
        return 4

square = Square()
square.note = lambda: square
"""

LOST = """
def lose():
    lost = bound.make_button()
    lost.on_click = lambda: 7
    bound.keep(lost)

lose()
print(ffi_hpy.leaks(reachable=False))
bound.keep(None)
"""


def run(bound, program):
    return run_python(program, Path(bound.__file__).parent, environ={"FFI_HPY_LEAKS": "1"})


@pytest.fixture(scope="module")
def bound(import_bound):
    """The module of bound_cycles.cc."""
    return import_bound("bound_cycles")


def test_a_program_whose_values_are_reachable_prints_nothing(bound):
    assert run(bound, REACHABLE) == ""


def test_a_callable_that_only_cpp_has_is_reported(bound):
    report = run(bound, REACHABLE + LOST)
    assert report.startswith("ffi_hpy: ")
    assert report.count("ffi.Function of ") == 1
    assert "ffi.Function of lose.<locals>.<lambda> (<string>:" in report
