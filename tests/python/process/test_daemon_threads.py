"""The interpreter ends threads that are inside native code which catches everything: the process ends with its own exit
status. CPython up to 3.13 unwinds the stack of such a thread by force, which ends C++ programs."""

import sys

import pytest
from support import NO_GIL, needs_threads, run_python

HEAD = """
import os, sys, threading, time
import ffi_hpy
from typing import Any
from ffi_hpy.dataclasses import py_class

m = ffi_hpy.load_module(sys.argv[1])
other = ffi_hpy.load_module(sys.argv[2])

class Dropped:
    def __del__(self):
        str(self) * 9

class Value:
    def __tvm_ffi_value__(self):
        return [str(self) * 9]

@py_class("ffi_hpy_test.Ended")
class Ended(ffi_hpy.Object):
    value: Any

def fail(x):
    raise ValueError(str(x) * 9)

def repeat(work):
    work()  # the first call looks into sys.modules, see modules_at_exit in interpreter_faults.py
    def loop():
        while True:
            try:
                work()
            except RuntimeError as error:  # a thread that calls back too late gets an error
                if "began to exit" not in str(error):
                    os._exit(3)
                time.sleep(0.001)
    for _ in range(4):
        threading.Thread(target=loop, daemon=True).start()
"""

SHAPES = {
    "a callback": "repeat(lambda: m.swallow(lambda x: [str(x) * 9]))",
    "a callback below noexcept": "repeat(lambda: m.swallow_noexcept(lambda x: [str(x) * 9]))",
    "a callback that raises": "repeat(lambda: m.swallow(fail))",
    "a callback in a callback": "repeat(lambda: m.swallow(lambda x: m.swallow_noexcept(lambda y: str(y) * 9)))",
    "a callback between two libraries": "repeat(lambda: m.swallow(lambda x: other.swallow(lambda y: str(y) * 9)))",
    "a callback that waits": "repeat(lambda: m.swallow(lambda x: time.sleep(0.0005)))",
    "native code that releases the GIL": "repeat(lambda: m.swallow(lambda x: m.doze()))",
    "the conversion of a field": "repeat(lambda: m.swallow(lambda x: Ended([Value()])))",
    "a finalizer": "repeat(lambda: m.drop_result(lambda x: [Dropped(), Dropped()]))",
    "a question for signals": "repeat(lambda: m.swallow(lambda x: m.ask_for_signals(3)))",
    "a callback on a thread of native code": "[m.call_on_thread(lambda x: [str(x) * 9]) for _ in range(4)]",
    "a callback that raises on a thread of native code": "[m.call_on_thread(fail) for _ in range(4)]",
    "a finalizer on a thread of native code": "[m.drop_on_thread(lambda x: [Dropped()]) for _ in range(4)]",
}


@pytest.fixture(scope="module")
def libraries(compile_era):
    return compile_era("swallows.cc", "own"), compile_era("swallows.cc", "new")


@needs_threads
@pytest.mark.parametrize("shape", SHAPES)
def test_a_thread_is_ended_in_native_code_that_catches_everything(libraries, shape):
    if shape == "the conversion of a field" and NO_GIL and sys.version_info < (3, 14):
        pytest.skip("it looks into sys.modules, and CPython may hang: interpreter_faults.py modules_at_exit")
    program = f"{HEAD}\n{SHAPES[shape]}\ntime.sleep(0.05)\nprint('end')"
    assert run_python(program, *libraries, has_daemon_threads=True) == "end\n"
