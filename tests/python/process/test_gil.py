"""When a call releases the GIL: by default, by attribute, by the declaration of the function's author."""

import ctypes
import sys
import threading
import weakref
from typing import Any, Union

import pytest
from support import IS_OVER_CFFI, IS_PYPY, NO_GIL, collect_garbage, parallelize, run_python, unique_name

import ffi_hpy
from ffi_hpy.core import TypeSchema
from ffi_hpy.dataclasses import py_class

cannot_tell = pytest.mark.skipif(IS_PYPY, reason="PyPy has no function that tells whether a thread holds the GIL")

RELEASED, HELD = 0, 1

RELEASED_IF_SHORT = IS_OVER_CFFI  # where releasing the GIL is faster, short calls release it, too


@cannot_tell
def test_a_call_releases_the_gil_unless_release_gil_is_false(extension):
    function = extension.get_function("gil_state")
    assert function.release_gil is True
    assert function() == RELEASED
    function.release_gil = False
    assert function() == HELD
    function.release_gil = 1
    assert function.release_gil is True
    assert function() == RELEASED


def test_release_gil_cannot_be_deleted(extension):
    function = extension.get_function("gil_state")
    with pytest.raises((TypeError, AttributeError), match="delete"):
        del function.release_gil
    assert function.release_gil is True


@cannot_tell
def test_a_global_function_declared_nonblocking_keeps_the_gil(extension):
    function = ffi_hpy.get_global_func("ffi_hpy_test.gil_state_nonblocking")
    assert function.release_gil is RELEASED_IF_SHORT
    assert function() == (RELEASED if RELEASED_IF_SHORT else HELD)


@cannot_tell
@pytest.mark.parametrize("name", ["ffi_hpy_test.gil_state", "ffi_hpy_test.gil_state_blocking"])
def test_a_global_function_not_declared_nonblocking_releases_the_gil(extension, name):
    assert ffi_hpy.get_global_func(name)() == RELEASED


@cannot_tell
def test_a_method_declared_nonblocking_keeps_the_gil(IntPair):
    pair = IntPair(1, 2)
    assert pair.holds_gil_nonblocking() is not RELEASED_IF_SHORT
    assert pair.holds_gil() is False


def test_a_function_of_a_module_declared_nonblocking_keeps_the_gil_where_that_is_faster(plain):
    assert plain.short.release_gil is RELEASED_IF_SHORT
    assert plain.sum.release_gil is True
    assert plain.short(1, 2) == 3
    assert plain.get_function_metadata("short")["nonblocking"] is True


def test_nonblocking_holds_for_functions_that_init_ffi_api_finds(extension):
    import types

    module = types.ModuleType(unique_name())
    sys.modules[module.__name__] = module
    ffi_hpy.init_ffi_api("ffi_hpy_test", module.__name__)
    assert module.gil_state_nonblocking.release_gil is RELEASED_IF_SHORT
    assert module.gil_state.release_gil is True


def test_threads_can_wait_for_each_other_in_native_code(extension):
    meeting = id(object()) ^ threading.get_ident()
    assert parallelize(lambda i: extension.get_function("rendezvous")(meeting, 2), 2) == [None, None]


def test_an_environment_variable_makes_keeping_the_gil_the_default(extension_path):
    program = """
import sys, ffi_hpy
module = ffi_hpy.load_module(sys.argv[1])
print(module.gil_state.release_gil, module.gil_state())
module.gil_state.release_gil = True
print(module.gil_state.release_gil, module.gil_state())
"""
    said = run_python(program, extension_path, environ={"TVM_FFI_RELEASE_GIL_BY_DEFAULT": "0"})
    states = (-1, -1) if IS_PYPY else (HELD, RELEASED)
    assert said == f"False {states[0]}\nTrue {states[1]}\n"


def test_a_callback_runs_with_the_gil_whatever_the_caller_does(testing, extension):
    gil_state = extension.get_function("gil_state")
    gil_state.release_gil = False
    for release in (False, True):
        apply = testing.apply
        apply.release_gil = release
        assert apply(gil_state.__call__) == (-1 if IS_PYPY else HELD)


def test_a_free_threaded_interpreter_stays_so(testing):
    testing.apply(lambda: None)
    assert (not getattr(sys, "_is_gil_enabled", lambda: True)()) == NO_GIL


# --- Python code within native calls that keep the GIL --------------------------------------------------------------


@pytest.mark.parametrize("annotation", [Any, int, list[Any], dict[str, int], Union[int, list[float]], tuple[int, ...]])
def test_a_conversion_may_call_native_code_that_calls_back(annotation):
    echo = ffi_hpy.convert(lambda value: value)

    class Value:
        def __tvm_ffi_value__(self):
            return echo(5)

    class Index:
        def __index__(self):
            return echo(5)

    def items():
        yield echo(5)

    body = {"__annotations__": {"x": annotation}}
    Holder = py_class(unique_name("gil"))(type(ffi_hpy.Object)("Holder", (ffi_hpy.Object,), body))
    for make in (Value, Index, items, lambda: [Value()], lambda: {"a": Value()}):
        for use in (Holder, lambda value: Holder(x=value), TypeSchema.from_annotation(annotation).convert):
            try:
                use(make())
            except TypeError:  # the value does not fit
                pass
    assert echo(5) == 5


# --- Python code within native calls that released the GIL ----------------------------------------------------------


def test_python_code_within_a_call_that_released_the_gil_may_end_owners_of_python_objects():
    class Memory:
        pass

    memory = Memory()
    ref = weakref.ref(memory)
    float64, cpu = (2, 64, 1), (1, 0)
    held = [ffi_hpy._core.memory_capsule(memory, 0x1000, (1,), (1,), float64, cpu, False)]
    del memory

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    def end(*_words):
        held.clear()
        collect_garbage(lambda: ref() is None)
        return 0

    binding = getattr(ffi_hpy, "_binding", ffi_hpy._core)  # the calls of the cffi backend do not need the binding
    function = binding.function_from_address(ctypes.cast(end, ctypes.c_void_p).value)
    function.release_gil = True
    function()
    assert ref() is None
