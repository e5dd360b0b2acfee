"""No Python program can pass off an object as one with another struct, through classes or their slots.

layout_cases.py contains the cases and runs in a separate process. Interpreters refuse at different times: when the
class is made, when its instance is made, or when the instance is used.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from support import IS_DEBUG, IS_OVER_CFFI, IS_OWN_DEBUG, IS_PYPY, PROGRAM_SECONDS, run_python

import ffi_hpy

HAS_PYPY_CONTEXT = IS_PYPY and not ffi_hpy._core.HAS_EXTENSION

# Errors other than TypeError: from int.__new__ for a str that is not a number; from dtype.__new__, which is Python
# code, for a str that does not name a data type; from attributes that cannot be set; and, on PyPy 7.3, from a __new__
# that checks the other arguments first or gets none.
OTHERS = {
    "foreign_new": {"ValueError", "AttributeError", *({"IndexError", "MemoryError"} if HAS_PYPY_CONTEXT else ())},
    "other_classes": {"AttributeError"},
    "slots": {"AttributeError", *({"ValueError"} if IS_OVER_CFFI else ())},
}


def run_cases(group):
    """Return each case and its answer; a case that ended the process is the last, with the answer ""."""
    program = [sys.executable, str(Path(__file__).with_name("layout_cases.py")), group]
    done = subprocess.run(program, capture_output=True, text=True, timeout=PROGRAM_SECONDS, check=False)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"{group} ended with {done.returncode} in {lines[-1:]}: {done.stderr[-2000:]}"
    return lines


@pytest.mark.thread_unsafe(reason="starts a process that does nothing with threads")
@pytest.mark.skipif(IS_DEBUG, reason="hpy's debug mode is not made for classes that do not fit")
@pytest.mark.skipif(IS_OWN_DEBUG, reason="a process in debug mode ends when handles are misused, which this does")
@pytest.mark.parametrize(
    "group",
    [
        "mixed_classes", "functions_with_containers", "foreign_new", "unmade_objects", "other_classes", "slots",
        "descriptors",
    ],
)  # fmt: skip
def test_an_object_is_never_used_as_one_with_another_struct(group):
    cases = run_cases(group)
    assert cases
    accepted = {"TypeError", *OTHERS.get(group, ())}
    assert [case for case in cases if case[-1] not in accepted] == []


RECURSION = """
import sys, threading
import ffi_hpy

def plain():
    f = ffi_hpy.convert(lambda: f())
    f()

def new_functions(n=0):
    ffi_hpy.convert(lambda: new_functions(n + 1))()

def through_objects():
    def outer():
        return inner(ffi_hpy.Array([1]))
    def inner(array):
        return f(array)
    f = ffi_hpy.convert(lambda array: outer())
    outer()

def run():
    for program in (plain, new_functions, through_objects, plain):
        try:
            program()
        except RecursionError:
            print("RecursionError")

threading.stack_size(int(sys.argv[1]))
thread = threading.Thread(target=run)
thread.start()
thread.join()
print(ffi_hpy.convert(lambda: 7)())
"""


# On CPython, and in smaller threads on PyPy, recursion in pure Python also ends the process.
@pytest.mark.parametrize("stack_bytes", [0, *([1 << 20, 1 << 21] if IS_PYPY else [])])
def test_recursion_through_callbacks_in_a_thread_is_a_recursion_error(stack_bytes):
    assert run_python(RECURSION, str(stack_bytes)) == "RecursionError\n" * 4 + "7\n"


def test_a_class_keeps_its_mixins():
    class Mixin:
        def double(self):
            return self[0] * 2

    class Local(Mixin, ffi_hpy.Array):
        pass

    assert Local([4]).double() == 8


REFUSING = """
import gc
import ffi_hpy

class Refusing(tuple):
    def __iter__(self):
        raise ValueError("not now")

first, last = Refusing((1, 2)), list(range(40))
for n in range(200):
    for use in (ffi_hpy.Array, ffi_hpy.List, ffi_hpy.convert, ffi_hpy.Shape):
        try:
            use([n, first, *last])
        except (TypeError, ValueError):
            pass
    gc.collect(0)
gc.collect()
print("fine")
"""


@pytest.mark.skipif(
    IS_PYPY and ffi_hpy._core.HAS_EXTENSION,
    reason="PyPy 8 itself: interpreter_faults.py sequence_get_item; the way round it takes 30 times as long",
)
@pytest.mark.thread_unsafe(reason="starts a process that does nothing with threads")
def test_a_list_with_a_tuple_that_refuses_to_be_read_does_no_harm():
    assert run_python(REFUSING) == "fine\n"


UNSPEAKABLE = """
import ffi_hpy

class Meta(type):
    def __repr__(cls):
        raise ValueError("no name")

class Odd(metaclass=Meta):
    pass

for call in (lambda: ffi_hpy.Array.__new__(Odd), lambda: ffi_hpy.Array.__len__(Odd())):
    try:
        call()
    except (TypeError, ValueError, AttributeError):  # AttributeError: a method that is written in Python
        print("refused")
"""


@pytest.mark.thread_unsafe(reason="starts a process that does nothing with threads")
def test_a_class_whose_repr_raises_is_refused_as_others():
    assert run_python(UNSPEAKABLE) == "refused\nrefused\n"
