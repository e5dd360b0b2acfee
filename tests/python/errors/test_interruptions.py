"""Exceptions of a signal handler in the middle of the package's own code: they arrive, whatever the code was doing.

A trace function replaces the handler: it raises at each line of an operation in turn, so that every place is tested.
"""

import pytest
from support import IS_CFFI_ON_CPYTHON, IS_OVER_CFFI, run_python

from ffi_hpy import _core

HEAD = """
import gc, sys
import ffi_hpy, ffi_hpy.testing

gc.disable()  # an exception within a finalizer arrives nowhere

apply, raise_error = ffi_hpy.get_global_func("testing.apply"), ffi_hpy.get_global_func("testing.test_raise_error")
Pair = ffi_hpy.testing.TestIntPair

class Alarm(Exception):
    pass

def interrupted_at(operation, n):
    # The outcome of the operation if the n-th line below it raises; and whether that line exists.
    alarm, n_left, came = Alarm(n), n, False
    def trace(frame, event, arg):
        nonlocal n_left, came
        if frame.f_code.co_flags & 0x20:  # a generator that stands for a native frame: closed, but never run
            return None
        if event in ("call", "line") and not came:
            n_left -= 1
            came = n_left < 0
            if came:
                raise alarm
        return trace
    out = None
    sys.settrace(trace)
    try:
        operation()
    except BaseException as error:
        out = error
    finally:
        sys.settrace(None)
    return came, out is alarm or out

def check(operation):
    try:
        operation()  # loads the modules that load at first use
    except Exception:
        pass
    n, wrong = 0, []
    while True:
        came, out = interrupted_at(operation, n)
        if not came:
            break
        if out is not True:
            wrong.append((n, repr(out)))
        n += 1
    print(n > 0, wrong)
"""

OPERATIONS = {
    "a callback that raises": """
def operation():
    apply(lambda: 1 / 0)
""",
    "a callback that raises an exception from native code": """
def operation():
    def again():
        try:
            apply(lambda: 1 / 0)
        except ZeroDivisionError as error:
            raise error
    apply(again)
""",
    "a callback that raises an exception with a text by Python code": """
class Told(Exception):
    def __str__(self):
        text = "told"
        return text
def operation():
    def fail():
        raise Told
    apply(fail)
""",
    "a callback that raises an exception without a usable text": """
class Wordless(Exception):
    def __str__(self):
        words = {}
        return words["none"]
def operation():
    def fail():
        raise Wordless
    apply(fail)
""",
    "a native error": """
def operation():
    raise_error("ValueError", "boo")
""",
    "a native error of a class with another constructor": """
@ffi_hpy.register_error
class Demanding(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)
def operation():
    raise_error("Demanding", "boo")
""",
    "a native error of a class with a constructor that fails": """
@ffi_hpy.register_error
class Failing(Exception):
    def __init__(self, message):
        words = {}
        super().__init__(words["none"])
def operation():
    raise_error("Failing", "boo")
""",
    "an exception as a value": """
echo, problem = ffi_hpy.get_global_func("testing.echo"), ValueError("boo")
def operation():
    echo(problem)
""",
    "a text of an object": """
from ffi_hpy.core import object_repr
pair = Pair(1, 2)
def operation():
    object_repr(pair)
""",
    "a hook that makes the text of an object": """
from ffi_hpy.dataclasses import py_class
@py_class("interruptions.Shown")
class Shown(ffi_hpy.Object):
    x: int
    def __ffi_repr__(self, fn_repr):
        text = f"shown: {fn_repr(self.x)}"
        return text
shown = Shown(1)
assert repr(shown) == "shown: 1"
def operation():
    repr(shown)
""",
    "a global function that is put in the place of another": """
def operation():
    ffi_hpy.register_global_func("interruptions.replaced", len, override=True)
""",
}
"""Programs that define an operation."""


IN_CALLBACKS = ("a callback that raises", "a hook")
GIVES_EXCEPTIONS = _core.HAS_EXTENSION or IS_OVER_CFFI


finalizers_are_protected = pytest.mark.skipif(
    IS_CFFI_ON_CPYTHON, reason="CPython only reports an exception before the first step of a finalizer in Python"
)


@finalizers_are_protected
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_interruption_arrives_wherever_it_comes(operation):
    if operation.startswith(IN_CALLBACKS) and not GIVES_EXCEPTIONS:
        pytest.skip("this context gives no raised exception as a value: one in the steps of a callback is a TypeError")
    program = HEAD + OPERATIONS[operation] + "check(operation)\n"
    assert run_python(program) == "True []\n"


FINALIZER = """
import ctypes, itertools
from ffi_hpy._pypy.object import identity
echo = ffi_hpy.get_global_func("testing.echo")

def references(address):
    return ctypes.c_uint64.from_address(address).value & 0xFFFFFFFF

def end_interrupted(n):
    # Finalizes a wrapper, interrupted at the n-th line, and makes a call: whether there is such a line, and the fault.
    array = ffi_hpy.Array([Pair(1, 2)])
    item = array[0]
    address = item.__chandle__()
    before = references(address)
    identity._table[address] = lambda: None  # a weak reference, which is dead when a finalizer runs
    came, out = interrupted_at(item.__del__, n)
    if out is True:  # before the first step of the finalizer, which anybody but the interpreter may repeat
        item.__del__()
    else:
        try:
            echo(1)
        except Alarm as alarm:
            out = alarm.args == (n,)
    return came, [out is not came and out, references(address) - before + 1]

wrong, n = [], 0
for n in itertools.count():
    came, found = end_interrupted(n)
    if not came:
        break
    if any(found):
        wrong.append((n, found))
print(n > 5, wrong, [found for found in end_interrupted(n)[1] if found])
"""


@finalizers_are_protected
@pytest.mark.skipif(not IS_OVER_CFFI, reason="finalizers of wrappers are native code")
def test_an_interruption_of_a_finalizer_arrives_at_the_next_call():
    assert run_python(HEAD + FINALIZER) == "True [] []\n"
