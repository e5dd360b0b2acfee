"""A pybind11 module and a nanobind module that use our headers work next to ffi_hpy: one runtime, the same objects."""

import gc
import subprocess
import sys
import threading

import pytest
from support.native_build import PACKAGE

import ffi_hpy


@pytest.fixture
def ffi(module, kind):
    """The registered functions of the module, as attributes."""

    class Registered:
        def __getattr__(self, name):
            return ffi_hpy.get_global_func(f"ffi_hpy_mixed.{kind}.{name}")

    return Registered()


@pytest.fixture
def register(kind):
    """Return a function that registers a global function for a test and returns its name."""
    names = []

    def register_one(f):
        names.append(f"ffi_hpy_mixed.{kind}.test_{len(names)}")
        ffi_hpy.register_global_func(names[-1], f)
        return names[-1]

    yield register_one
    for name in names:
        ffi_hpy.remove_global_func(name)


# --- objects --------------------------------------------------------------------------------------------------------


def test_an_object_is_handed_over_by_its_address(module, ffi, kind):
    counter = ffi.make_counter(5)
    assert (type(counter).__name__, counter.count) == ("Counter", 5)
    assert module.count_of(counter.__chandle__()) == 5
    counter.count = 6
    ffi.increment(counter)
    assert module.count_of(counter.__chandle__()) == counter.count == 7


def test_an_object_that_the_module_keeps_lives_on(module, ffi):
    counter = ffi.make_counter(3)
    address = counter.__chandle__()
    module.keep(address)
    del counter
    gc.collect()
    again = ffi.kept()
    assert (again.__chandle__(), again.count) == (address, 3)
    module.forget()
    assert ffi.kept() is None
    assert again.count == 3


def test_the_module_checks_its_arguments(module):
    array = ffi_hpy.convert([1, 2])
    with pytest.raises(RuntimeError, match=r"Cannot treat type `list` as type `ffi_hpy_mixed\.\w+\.Counter`"):
        module.count_of(array.__chandle__())


# --- functions ------------------------------------------------------------------------------------------------------


def test_the_module_calls_a_python_function(module, register):
    assert module.call_global(register(lambda x: x * 2), 21) == 42


def test_the_python_function_of_the_module_is_called_through_ffi(module, ffi, kind):
    module.set_callback(lambda x: x + 1)
    assert ffi.callback(1) == 2
    assert module.call_global(f"ffi_hpy_mixed.{kind}.callback", 2) == 3
    module.set_callback(None)


def test_threads_call_through_both(module, ffi, kind, register):
    module.set_callback(lambda x: x + 1)
    name = register(lambda x: ffi.callback(x) + 1)
    sums = []

    def work():
        sums.append(sum(module.call_global(name, i) for i in range(200)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    module.set_callback(None)
    assert sums == [sum(range(200)) + 400] * 4


# --- exceptions -----------------------------------------------------------------------------------------------------


def test_our_error_is_an_exception_of_the_binding_library(module):
    with pytest.raises(RuntimeError, match="a message of some length"):
        module.throw_error("a message of some length")


def test_our_error_keeps_its_kind_through_ffi(ffi):
    with pytest.raises(ValueError, match="a message of some length"):
        ffi.throw_error("a message of some length")


def test_an_exception_of_cxx_is_a_runtime_error(ffi):
    with pytest.raises(RuntimeError, match="boom"):
        ffi.throw_std("boom")


def test_the_module_catches_exceptions_of_python(module, register):
    def fail(x):
        raise KeyError(f"no {x}")

    assert module.error_of(register(fail), 7) == "KeyError: 'no 7'"
    assert module.error_of(register(lambda x: x), 7) == ""
    with pytest.raises(RuntimeError, match="no 8"):
        module.call_global(register(fail), 8)


def test_exceptions_of_the_modules_python_function_reach_ffi(module, ffi):
    def fail(x):
        raise KeyError(f"no {x}")

    module.set_callback(fail)
    with pytest.raises(Exception, match="no 9"):
        ffi.callback(9)
    module.set_callback(None)


# --- order of imports -----------------------------------------------------------------------------------------------

PROGRAM = """
import importlib.machinery, importlib.util, os, sys

def load():
    name = "mixed_{kind}"
    loader = importlib.machinery.ExtensionFileLoader(name, {path!r})
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(name, {path!r}, loader=loader))
    loader.exec_module(module)
    return module

{imports}
counter = ffi_hpy.get_global_func("ffi_hpy_mixed.{kind}.make_counter")(4)
with open("/proc/self/maps") as maps:
    libraries = {{os.path.realpath(line.split()[-1]) for line in maps if "libtvm_ffi.so" in line}}
print(module.count_of(counter.__chandle__()), len(libraries))
"""


@pytest.mark.parametrize("imports", ["module = load(); import ffi_hpy", "import ffi_hpy; module = load()"])
def test_the_order_of_imports_does_not_matter(compile_module, kind, imports):
    program = PROGRAM.format(kind=kind, path=str(compile_module(kind)), imports=imports)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=PACKAGE.parent)
    assert (done.stdout, done.stderr, done.returncode) == ("4 1\n", "", 0)
