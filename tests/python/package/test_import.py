"""Importing the package: the modules that it loads, and its metadata."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import IS_DEBUG, IS_OVER_CFFI, IS_PYPY, SLOW_IMPORTS, needs_threads, run_python
from support.native_build import BINARIES, PACKAGE

import ffi_hpy


@pytest.mark.parametrize(
    "library",
    [
        "torch",
        "numpy",
        "ctypes",
        "asyncio",
        "json",
        "pathlib",
        "importlib.metadata",
        "typing",
        "inspect",
        "dataclasses",
    ],
)
@pytest.mark.skipif(IS_DEBUG, reason="the PyPI package hpy imports modules of its own")
def test_importing_does_not_import(library):
    # Some interpreters import modules at startup or have them built in, so only modules that the package adds count.
    program = "import sys; before = set(sys.modules); import ffi_hpy; print(*sorted(set(sys.modules) - before))"
    assert library not in run_python(program).split()


@pytest.mark.skipif(IS_OVER_CFFI or IS_PYPY, reason="the cffi backend has modules of its own")
@pytest.mark.skipif(IS_DEBUG, reason="the PyPI package hpy imports modules of its own")
def test_importing_loads_only_modules_that_each_program_needs():
    # A module for errors, rare methods or declarations is loaded on first use: see ffi_hpy/README.md
    program = "import sys, ffi_hpy; print(*sorted(name for name in sys.modules if name.startswith('ffi_hpy')))"
    chooses_binaries = (Path(ffi_hpy.__file__).parent / "_systems").exists()  # of several systems, by importlib
    assert len(run_python(program).split()) <= 40 + 2 * chooses_binaries
    program = "import sys, threading; before = set(sys.modules); import ffi_hpy; print(*set(sys.modules) - before)"
    assert chooses_binaries or not {"importlib", "warnings"} & set(run_python(program).split())


def test_importing_prints_nothing():
    assert run_python("import ffi_hpy") == ""


def test_an_interpreter_that_starts_beside_the_package_leaves_no_file_open():
    assert run_python("import gc; gc.collect()", environ={"PYTHONWARNINGS": "error::ResourceWarning"}) == ""


def test_importing_twice_gives_one_core():
    program = """
import importlib, sys
import ffi_hpy
core = sys.modules["ffi_hpy._core"]
importlib.reload(ffi_hpy)
print(sys.modules["ffi_hpy._core"] is core, ffi_hpy.convert([1, 2]))
"""
    assert run_python(program) == "True (1, 2)\n"


def test_importing_on_a_second_thread_works():
    program = """
import threading
def work():
    import ffi_hpy
    print(ffi_hpy.convert((1, "two")))
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    assert run_python(program) == '(1, "two")\n'


@needs_threads
def test_importing_on_several_threads_at_once_works():
    program = """
import threading
barrier = threading.Barrier(4)
seen = []
def work():
    barrier.wait()
    import ffi_hpy
    seen.append(len(ffi_hpy.convert([1, 2, 3])))
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(seen)
"""
    assert run_python(program) == "[3, 3, 3, 3]\n"


@needs_threads
@pytest.mark.parametrize("name", ["dataclasses", "testing", "access_path", "cpp"])
def test_a_module_that_one_thread_imports_and_another_uses_for_the_first_time_is_complete_for_both(name):
    program = """
import builtins, os, sys, threading
import ffi_hpy

name = "ffi_hpy." + sys.argv[1]
slow_modules = (name,)
is_begun, is_wanted = threading.Event(), threading.Event()

def during_import():
    is_begun.set()
    is_wanted.wait()

def after_import():
    ffi_hpy.LIB  # imports another module on first use

def import_it(full, *arguments, **options):
    if full == name and threading.current_thread() is user:
        is_wanted.set()
    return find(full, *arguments, **options)

def use():
    is_begun.wait()
    found.append(getattr(ffi_hpy, sys.argv[1]))

found = []
find, builtins.__import__ = builtins.__import__, import_it
importer = threading.Thread(target=lambda: found.append(find(name) and sys.modules[name]), daemon=True)
user = threading.Thread(target=use, daemon=True)
for thread in (importer, user):
    thread.start()
for thread in (importer, user):
    thread.join(20)
print([module.__name__ for module in found], flush=True)
os._exit(0)  # threads that wait for each other do not end
"""
    assert run_python(SLOW_IMPORTS + program, name) == f"{['ffi_hpy.' + name] * 2}\n"


def test_importing_leaves_the_gil_as_it_was():
    if not hasattr(sys, "_is_gil_enabled"):
        pytest.skip("this interpreter cannot tell")
    program = "import sys; before = sys._is_gil_enabled(); import ffi_hpy; print(before == sys._is_gil_enabled())"
    assert run_python(program) == "True\n"


def test_importing_installs_no_signal_handler():
    program = """
import signal
before = [signal.getsignal(s) for s in signal.valid_signals()]
def caught():
    return [line for line in open("/proc/self/status") if line.startswith("SigCgt")]
handled = caught()
import ffi_hpy
print([signal.getsignal(s) for s in signal.valid_signals()] == before, caught() == handled)
"""
    # Not through run_python(): -X faulthandler installs its own handlers.
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True True\n")


def test_LIB_is_the_core_with_its_symbols_global():
    program = """
import ctypes, ffi_hpy
index = ctypes.c_int32()
class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]
assert ffi_hpy.LIB.TVMFFITypeKeyToIndex(ctypes.byref(Bytes(b"ffi.Object", 10)), ctypes.byref(index)) == 0
print(index.value, hasattr(ctypes.CDLL(None), "TVMFFITypeKeyToIndex"))
"""
    assert run_python(program) == "64 True\n"


def test_the_core_is_the_one_of_the_package(testing_library):
    program = """
import sys
from pathlib import Path
import ffi_hpy
ffi_hpy.load_module(sys.argv[1])
mapped = Path("/proc/self/maps").read_text().splitlines()
cores = {line.split()[-1] for line in mapped if "libtvm_ffi.so" in line}
print(cores == {sys.argv[2]})
"""
    assert run_python(program, testing_library, BINARIES / "lib" / "libtvm_ffi.so") == "True\n"


def test_version_is_text_and_numbers():
    assert isinstance(ffi_hpy.__version__, str)
    assert ffi_hpy.__version_tuple__[:2] == tuple(int(part) for part in ffi_hpy.__version__.split(".")[:2])


def test_everything_promised_is_there():
    assert [name for name in ffi_hpy.__all__ if not hasattr(ffi_hpy, name)] == []
    assert len(set(ffi_hpy.__all__)) == len(ffi_hpy.__all__)


def test_a_public_class_names_the_module_that_programs_import_it_from():
    public = {name: getattr(ffi_hpy, name) for name in ffi_hpy.__all__}
    hidden = {
        name: thing.__module__ for name, thing in public.items() if isinstance(thing, type) and "._" in thing.__module__
    }
    assert hidden == {}
    with pytest.raises(AttributeError, match=r"'(ffi_hpy\.)?Tensor' object has no attribute 'nonsense'"):
        ffi_hpy.Tensor.__new__(ffi_hpy.Tensor).nonsense  # noqa: B018


def test_core_has_the_names_that_tvm_ffi_has_there():
    assert [name for name in ffi_hpy.core.__all__ if not hasattr(ffi_hpy.core, name)] == []
    assert ffi_hpy.core.Tensor is ffi_hpy.Tensor


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ffi_hpy.nonsense  # noqa: B018


def test_an_unknown_context_is_an_import_error_that_names_the_known_ones():
    program = """
try:
    import ffi_hpy
except ImportError as error:
    print(error)
"""
    said = run_python(program, environ={"FFI_HPY_CONTEXT": "nonsense"})
    assert said == "FFI_HPY_CONTEXT='nonsense' is unknown; use 'universal', 'debug', or nothing\n"


def test_the_error_of_a_package_without_its_core_names_the_file(tmp_path):
    package = tmp_path / "ffi_hpy"
    shutil.copytree(Path(ffi_hpy.__file__).parent, package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    program = """
import sys
sys.path.insert(0, sys.argv[1])
try:
    import ffi_hpy
except ImportError as error:
    print(error)
"""
    said = run_python(program, tmp_path)
    core = package / BINARIES.relative_to(PACKAGE) / "lib" / "libtvm_ffi.so"
    assert said == f"ffi_hpy is not built or not installed completely: {core} is missing\n"
    # Next to a setup.py the package's folder has the sources, which hide the installed package: one sentence names
    # the remedy.
    (tmp_path / "setup.py").touch()
    said = run_python(program, tmp_path)
    installed = Path(ffi_hpy.__file__).parent
    assert f"These are the sources, which hide the package in {installed}: start Python elsewhere, or" in said


def test_pypy_on_windows_is_refused_in_one_sentence():
    program = """
import sys
sys.implementation.name, sys.platform = "pypy", "win32"
try:
    import ffi_hpy
except ImportError as error:
    print(error)
"""
    assert run_python(program) == (
        "PyPy on Windows is not supported: ffi_hpy has no HPy runtime for it; use CPython, or PyPy elsewhere\n"
    )


# --- sub-interpreters -----------------------------------------------------------------------------------------------

IN_SUB_INTERPRETERS = """
import os, sys, tempfile
def run_in_sub_interpreter(program, config):
    said = tempfile.mktemp()
    program = f"said = open({said!r}, 'w')\\nimport sys; sys.path[:] = {sys.path!r}\\n{program}\\nsaid.close()"
    if sys.version_info >= (3, 13):
        import _interpreters as interpreters
        interpreter = interpreters.create(config)
    else:
        import _xxsubinterpreters as interpreters
        interpreter = interpreters.create(isolated=config == "isolated")
    interpreters.run_string(interpreter, program)
    interpreters.destroy(interpreter)
    with open(said) as file:
        print(file.read(), end="")
    os.unlink(said)
TRY = '''
for _ in range(2):
    try:
        import ffi_hpy
    except ImportError as error:
        print(str(error).partition(": ")[2], file=said)
    else:
        print("imported", file=said)
    assert "ffi_hpy" not in sys.modules
'''
"""
IMPORT = "import ffi_hpy; print(ffi_hpy.convert([1, 2]))\n"
TRY_IN_SUB_INTERPRETER = "run_in_sub_interpreter(TRY, sys.argv[1])\n"


@pytest.mark.skipif(IS_PYPY, reason="PyPy has no sub-interpreters")
@pytest.mark.parametrize("config", ["legacy", "isolated"])
@pytest.mark.parametrize(
    "program",
    [IMPORT + TRY_IN_SUB_INTERPRETER, TRY_IN_SUB_INTERPRETER + IMPORT, TRY_IN_SUB_INTERPRETER * 2 + IMPORT],
    ids=["main first", "sub-interpreter first", "two sub-interpreters first"],
)
@pytest.mark.skipif(IS_DEBUG, reason="the PyPI package hpy has no word for it")
def test_a_sub_interpreter_gets_an_import_error_and_the_main_interpreter_imports(program, config):
    *refused, imported = sorted(run_python(IN_SUB_INTERPRETERS + program, config).splitlines(), key=len, reverse=True)
    assert imported == "(1, 2)"
    assert len(refused) == 2 * program.count(TRY_IN_SUB_INTERPRETER)
    for line in refused:
        assert line.startswith("this is sub-interpreter ")
        assert line.endswith("can be loaded in the main interpreter only")


def test_an_import_that_failed_anywhere_can_be_repeated():
    program = """
import importlib.abc, sys
import json, traceback, typing # the other packages' modules are there
class Failing(importlib.abc.MetaPathFinder):
    def __init__(self):
        self.seen = []
    def find_spec(self, name, path, target=None):
        if name.startswith("ffi_hpy") and name not in self.seen:
            self.seen.append(name)
            if len(self.seen) > 1:
                raise MemoryError(name)
failing = Failing()
sys.meta_path.insert(0, failing)
while True:
    try:
        import ffi_hpy
    except MemoryError:
        continue
    break
sys.meta_path.remove(failing)
print(len(failing.seen) > 10, ffi_hpy.convert([1, "two", {"k": 2.5}]), ffi_hpy.dtype("int8"))
from ffi_hpy.dataclasses import py_class
@py_class("test_import.P")
class P(ffi_hpy.Object):
    x: int
print(P(3).x)
"""
    assert run_python(program) == 'True (1, "two", {"k": 2.5}) int8\n3\n'
