"""The leak report: live native objects by type, count, holder and the line that made them."""

import os
import subprocess
import sys

import pytest
from support import IS_CFFI_ON_CPYTHON, IS_DEBUG, IS_OWN_DEBUG, IS_PYPY, run_python
from support.native_build import PACKAGE, compile_cxx

import ffi_hpy
from ffi_hpy._leaks.natives import Natives
from ffi_hpy._leaks.reachable import find_keepers
from ffi_hpy._leaks.report import Leak, Leaks

LEAKY = """
import os, sys
import ffi_hpy
module = ffi_hpy.load_module(sys.argv[1])
from ffi_hpy.dataclasses import py_class

@py_class("test_leaks.Node")
class Node(ffi_hpy.Object):
    value: object

class Listener:
    def hear(self):  # method
        pass

@ffi_hpy.register_global_func("test_leaks.registered")
def registered(x, default=ffi_hpy.List()):
    return x

def lose():
    for _ in range(3):
        module.store_value(ffi_hpy.List([1]))  # lost
    module.store_value(Node(ffi_hpy.Map({"k": ffi_hpy.List()})))  # node
    module.store_value([Listener().hear])  # heard
    module.store_value(ffi_hpy.convert("a text of some length"))
    captured = ffi_hpy.List()  # captured
    module.store_value(lambda: captured)

kept = ffi_hpy.Array([ffi_hpy.List()])
"""

NO_LEAK = """
import contextvars, threading
var = contextvars.ContextVar("var")
var.set(ffi_hpy.List())
local = threading.local()
local.value = ffi_hpy.List()
kept.__class__.extra = lambda x=ffi_hpy.List(): x
Node(Node(1))
module.store_value(None)
ffi_hpy.convert(lambda: kept)()
ffi_hpy.convert([[], {}, (), [1, {"a": []}]])
try:
    ffi_hpy.convert(lambda: 1 / 0)()
except ZeroDivisionError:
    pass
def inner():
    captured = ffi_hpy.List()
    ffi_hpy.register_global_func("test_leaks.captures", lambda: captured)
    yield ffi_hpy.List()
running = inner()
next(running)
n_threads = 0 if os.environ.get("FFI_HPY_CONTEXT") == "debug" else 2  # hpy's debug mode has no threads
if n_threads:
    module.call_on_thread(len, [1])  # on a thread without Python frames
if len(sys.argv) > 2:  # a class whose Python subclasses override methods
    ffi_hpy.load_module(sys.argv[2])
    @ffi_hpy.register_object("overrides.Shape")
    class Shape(ffi_hpy.Object):
        pass
    def override():
        class Disc(Shape):
            def area(self):
                return 3
        assert ffi_hpy.get_global_func("overrides.area")(Disc(1)) == 3
    override()
module.load_once = module.store_value  # the module stays, and its wrapper with its attributes
module = None
from ffi_hpy._leaks import recording
recording._FEWEST = recording._limit = 100  # records of destroyed objects are removed often
is_done = threading.Event()
def work():
    while not is_done.is_set():
        ffi_hpy.convert(lambda x=ffi_hpy.Map({"a": ffi_hpy.List([1])}): x)()
threads = [threading.Thread(target=work) for _ in range(n_threads)]
for thread in threads:
    thread.start()
for _ in range(3):
    ffi_hpy.leaks()
is_done.set()
for thread in threads:
    thread.join()
"""


def run_leaky(program, *paths, **environ):
    """Return the stderr of a program after LEAKY, which runs with FFI_HPY_LEAKS=1 and ends with exit status 0."""
    done = subprocess.run(
        [sys.executable, "-c", LEAKY + program, *paths],
        env={**os.environ, "FFI_HPY_LEAKS": "1", **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def leaky(extension_path):
    """The lines of the reports of a process that leaks, of a child of its fork that does not, and of one that does."""
    program = """
lose()
sys.stderr.flush()
for loses in (False, True) if hasattr(os, "fork") else ():
    child = os.fork()
    if child == 0:
        print("child", loses, file=sys.stderr)
        if loses:
            module.store_value(ffi_hpy.List([2]))  # lost in the child
        sys.exit()
    os.waitpid(child, 0)
print("parent", file=sys.stderr)
"""
    return run_leaky(program, extension_path)


def line_with(mark):
    return next(i for i, line in enumerate(LEAKY.splitlines(), 1) if line.endswith("# " + mark))


def test_the_report_has_type_count_line_and_holder(leaky):
    report = leaky.partition("parent\n")[2]
    assert report.startswith("ffi_hpy: ")
    assert "that the program cannot reach" in report
    assert f"3 ffi.List, made at <string>:{line_with('lost')} in lose\n" in report
    assert "1 native reference, each; held by native code (1 reference)" in report


@pytest.mark.skipif(
    IS_PYPY or IS_CFFI_ON_CPYTHON or IS_DEBUG, reason="our debug mode is one of our own runtime on CPython"
)
def test_in_the_debug_mode_the_report_has_lines(extension_path):
    report = run_leaky("lose()", extension_path, FFI_HPY_DEBUG="1")
    assert f"3 ffi.List, made at <string>:{line_with('lost')} in lose\n" in report


def test_containers_and_fields_are_holders(leaky):
    report = leaky.partition("parent\n")[2]
    node = line_with("node")
    assert f"1 ffi.Map, made at <string>:{node} in lose\n" in report
    assert "held by the field value of test_leaks.Node" in report
    assert f"1 ffi.List, made at <string>:{node} in lose\n" in report
    assert "held by the value of ffi.Map" in report
    assert f"1 test_leaks.Node, made at <string>:{node} in lose\n" in report


def test_a_callback_has_the_name_of_its_callable(leaky):
    report = leaky.partition("parent\n")[2]
    heard = line_with("heard")
    assert f"1 ffi.Function of Listener.hear (<string>:{line_with('method')}), made at <string>:{heard} in" in report
    assert f"1 ffi.Array, made at <string>:{heard} in lose\n" in report
    assert "held by the item of ffi.Array" in report


def test_python_objects_that_only_native_code_keeps_alive_are_holders(leaky):
    report = leaky.partition("parent\n")[2]
    assert f"1 ffi.List, made at <string>:{line_with('captured')} in lose\n" in report
    assert "held by lose.<locals>.<lambda>" in report


def test_objects_that_live_on_purpose_are_not_reported(leaky):
    report = leaky.partition("parent\n")[2]
    assert "registered" not in report
    assert "in <module>" not in report


@pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork does not exist")
def test_a_child_of_fork_reports_its_own_objects(leaky):
    first, _, rest = leaky.partition("child False\n")[2].partition("child True\n")
    assert first == ""
    assert rest.partition("parent\n")[0].startswith("ffi_hpy: 1 native object is alive")


def test_a_program_without_leaks_prints_nothing(extension_path):
    # debug modes have no overrides
    overrides = [compile_cxx("overrides.cc", PACKAGE / "include")] if ffi_hpy._core.KEEPS_IDENTITY else []
    assert run_leaky(NO_LEAK, extension_path, *overrides) == ""


def test_a_module_that_stays_is_not_reported(extension_path):
    """Without FFI_HPY_LEAKS=1, the report does not know who made an object."""
    source = "import sys, ffi_hpy; ffi_hpy.load_module(sys.argv[1]); print(ffi_hpy.leaks(reachable=False))"
    assert run_python(source, extension_path) == "\n"


KEPT_BY_CPP = """
import gc, sys, weakref
import ffi_hpy
ffi_hpy.load_module(sys.argv[1])

@ffi_hpy.register_object("preserve.Shape")
class Shape(ffi_hpy.Object):
    pass

class Square(Shape):
    __slots__ = ("__dict__", "__weakref__")

def free():
    shelf = ffi_hpy.List([Square(1)])
    shelf[0].shelf = shelf

def lose():
    square = Square(3); square.note = "kept"  # lost
    ffi_hpy.get_global_func("preserve.keep")(square)
    return weakref.ref(square)

free()
square = lose()
gc.collect()
gc.collect()
print(square().note)
"""


def test_an_object_of_a_subclass_that_cpp_keeps_is_reported_and_keeps_its_state():
    if not ffi_hpy._core.KEEPS_IDENTITY or IS_CFFI_ON_CPYTHON or IS_OWN_DEBUG:
        pytest.skip("debug modes preserve no wrappers, and do not find cycles, as the cffi backend on CPython")
    done = subprocess.run(
        [sys.executable, "-c", KEPT_BY_CPP, str(compile_cxx("preserve.cc", PACKAGE / "include"))],
        env={**os.environ, "FFI_HPY_LEAKS": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    line = next(i for i, line in enumerate(KEPT_BY_CPP.splitlines(), 1) if line.endswith("# lost"))
    assert done.stdout == "kept\n", done.stderr
    first, *rest = done.stderr.splitlines()
    assert first.startswith("ffi_hpy: 1 native object is alive")
    assert rest[0] == f"  1 preserve.Shape, made at <string>:{line} in lose"
    assert rest[1].startswith("    2 native references; held by ")
    assert rest[1].endswith("native code (1 reference)")
    assert "_Again" not in rest[1]


def test_a_closed_stderr_does_not_matter(extension_path):
    assert run_leaky("lose()\nsys.stderr.close()", extension_path) == ""


ASKED = """
import weakref
assert not any(name.startswith("ffi_hpy._leaks") for name in sys.modules)
lose()

def found(type_key, **options):
    return [leak for leak in ffi_hpy.leaks(**options) if leak.type_key == type_key]

class Plain:
    pass

def work():
    node = Node(1)
    box = ffi_hpy.Array([node, node])
    id = module.store_value(node)
    plain = Plain()
    ref = weakref.ref(plain)
    (leak,) = found("test_leaks.Node")
    assert leak.holders == ("item of ffi.Array",) * 2, leak
    assert (leak.count, leak.native_references, leak.other_references) == (1, 4, 1), leak
    assert leak.python_references == (None if sys.implementation.name == "pypy" else 1), leak
    assert leak.is_reachable and leak.line is None, leak
    assert found("test_leaks.Node", reachable=False) == []
    module.take_stored(id)
    # a report does not keep the variables of running functions
    del node, box, plain
    assert found("test_leaks.Node") == []
    assert ref() is None

work()

def line_of_tracemalloc():
    import tracemalloc
    tracemalloc.start()
    node = Node(1); line = sys._getframe().f_lineno
    (leak,) = found("test_leaks.Node")
    assert leak.line == f"<string>:{line}", leak

if sys.argv[2] == "True":
    line_of_tracemalloc()
"""


def test_without_the_variable_leaks_lists_the_objects_that_have_wrappers(extension_path):
    sees_wrappers = not IS_PYPY and not IS_CFFI_ON_CPYTHON  # tracemalloc does
    if not ffi_hpy._core.KEEPS_IDENTITY:
        pytest.skip("debug modes have no instance map")
    assert run_python(LEAKY + ASKED, extension_path, sees_wrappers, environ={"FFI_HPY_LEAKS": ""}) == ""


def test_an_object_that_another_thread_moves_during_the_report_is_left_out(monkeypatch):
    class Moved(ffi_hpy.List):
        pass

    moved = Moved()

    def move(natives):
        for wrapper in natives.wrappers.values():
            if type(wrapper).__name__ == "Moved":
                ffi_hpy.List.__new__(ffi_hpy.List).__move_handle_from__(wrapper)
        return {}

    monkeypatch.setattr(Natives, "find_holders", move)
    assert isinstance(ffi_hpy.leaks(), Leaks)
    with pytest.raises(ValueError, match="moved"):
        len(moved)


def test_a_holder_may_be_of_a_class_whose_module_is_not_a_str():
    class Holder:
        __module__ = None

    holder = Holder()
    holder.held = ffi_hpy.List()
    (names,) = find_keepers(Natives(), [holder], set()).values()
    assert any(name.endswith("Holder") for name in names)


def test_the_text_of_a_list_without_leaks_is_empty():
    assert str(Leaks()) == ""
    leak = Leak("a.B", 2, "x.py:1 in f", "g", 1, (), 3, ("item of ffi.List",), 1, False)
    assert repr(leak).startswith("Leak(type_key='a.B', count=2, line='x.py:1 in f'")
    assert str(Leaks([leak])) == (
        "ffi_hpy: 2 native objects are alive that the program cannot reach:\n"
        "  2 a.B of g, made at x.py:1 in f\n"
        "    3 native references, each; held by Python (1 reference), the item of ffi.List, native code (1 reference)"
    )
