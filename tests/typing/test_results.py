"""A user's program passes mypy --strict with generated stubs, and then runs: each result has the class that its stub,
its signature and its help promise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from checkers import mypy_says

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/python"))
from support.native_build import PACKAGE, compile_cxx  # noqa: E402

RESULTS = [
    ("vector([1.5])", "Array[float]"),
    ("ints(range(3))", "Array[int]"),
    ("nested([[1.0], range(2)])", "Array[Array[float]]"),
    ("array((1, 2, 3))", "Array[int]"),
    ("list_([1])", "Array[int]"),
    ("deque(['a'])", "Array[str]"),
    ("pair((1, 'x'))", "Array[int | str]"),
    ("tuple_((1, 'x', True))", "Array[int | str | bool]"),
    ("Tuple((1, 'x'))", "Array[int | str]"),
    ("Array_([1])", "Array[int]"),
    ("List_([1])", "List[int]"),
    ("map_({'a': 1})", "Map[str, int]"),
    ("unordered_map({1: [2.0]})", "Map[int, Array[float]]"),
    ("Map_({'a': 1})", "Map[str, int]"),
    ("Dict_({'a': 1})", "Dict[str, int]"),
    ("set_({1})", "set[int]"),
    ("set_(range(3))", "set[int]"),
    ("set_of_sets([{1}])", "set[frozenset[int]]"),
    ("multiset([1])", "Array[int]"),
    ("string('x')", "str"),
    ("string('a text of more than 7 bytes')", "str"),
    ("wstring('x')", "str"),
    ("complex_(1j)", "complex"),
    ("complexes([1, 2j])", "Array[complex]"),
    ("duration(1.5)", "timedelta"),
    ("system_time(date(2024, 1, 2))", "datetime"),
    ("date(date(2024, 1, 2))", "date"),
    ("path('x')", "Path"),
    ("unordered_set({'a'})", "set[str]"),
    ("forward_list([1])", "Array[int]"),
    ("string_view('x')", "str"),
    ("optional([1])", "Array[int] | None"),
    ("optional(None)", "Array[int] | None"),
    ("variant('x')", "None | int | str | Array[float]"),
    ("variant([1])", "None | int | str | Array[float]"),
    ("time(time(1, 2))", "time"),
    ("shape((1, 2))", "Shape"),
    ("shared(Node(3))", "Node | None"),
    ("tensor(numpy.zeros(2))", "Tensor"),
    ("function(len)", "Callable[..., Any]"),
    ("is_tensor([1.0])", "bool"),
    ("n_alive()", "int"),
    ("narrow(None)", "bool"),
    ("map_by(lambda values: set(values), [1])", "set[int]"),
    ("any(1.5)", "Any"),
    ("color(1)", "int"),
    ("bytes(b'x')", "bytes"),
    ("bytes(b'more than 7 bytes')", "bytes"),
    ("dtype(dtype('int8'))", "dtype"),
    ("device(device('cpu'))", "Device"),
    ("error(Error('ValueError', 'x', ''))", "Error"),
    ("module(system_lib())", "Module"),
    ("node(Node(3))", "Node"),
    ("nothing()", "None"),
    ("monostate(None)", "None"),
]
HEAD = """
import inspect
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from types import UnionType
from typing import Any, assert_type, get_args, get_origin

import numpy

import api
from api import Node
from ffi_hpy import Array, Device, Dict, Error, List, Map, Module, Shape, Tensor
from ffi_hpy import device, dtype, get_global_func, system_lib

def check(name: str, found: object, expected: Any, shown: str) -> None:
    members = get_args(expected) if get_origin(expected) is UnionType else (expected,)
    special = {None: type(None), Any: object}
    classes = [special.get(each) or get_origin(each) or each for each in members]
    assert isinstance(found, tuple(classes)), (name, type(found))
    assert type(found) in classes or {Path, str, bytes, Callable, object} & {*classes}, (name, type(found))
    function = get_global_func("stl_types." + name)
    assert inspect.signature(function).return_annotation == expected, name
    assert str(function.__doc__).partition(" -> ")[2] == shown, name

"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A folder with generated stubs for stl_types.cc, and a user's program."""
    folder = tmp_path_factory.mktemp("results")
    library = compile_cxx("stl_types.cc", PACKAGE / "include", '-DERA="own"', "-std=c++20", "-O0", link=("-ltvm_ffi",))
    api = ["# tvm-ffi-stubgen(begin): import-section", "# tvm-ffi-stubgen(end)", "import ffi_hpy"]
    api += [f"ffi_hpy.load_module({str(library)!r})"]
    api += ['@ffi_hpy.register_object("stl_types.Node")', "class Node(ffi_hpy.Object):"]
    api += ["    # tvm-ffi-stubgen(begin): object/stl_types.Node", "    # tvm-ffi-stubgen(end)"]
    api += ["# tvm-ffi-stubgen(begin): global/stl_types", "# tvm-ffi-stubgen(end)", ""]
    (folder / "api.py").write_text("\n".join(api))
    command = [sys.executable, "-m", "ffi_hpy.stub.cli", "--dlls", str(library), str(folder / "api.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [HEAD]
    for i, (call, shown) in enumerate(RESULTS):
        name, _, arguments = call.partition("(")
        if shown == "None":  # mypy refuses a use of the result
            lines.append(f"function_{i}: Callable[..., None] = api.{name}")
            lines.append(f"found_{i} = vars(api)[{name!r}]({arguments}")
        else:
            lines.append(f"found_{i} = api.{name.rstrip('_')}({arguments}")
            lines.append(f"assert_type(found_{i}, {shown})")
        lines.append(f"check({name.rstrip('_')!r}, found_{i}, {shown}, {shown!r})")
    (folder / "user.py").write_text("\n".join(lines) + "\n")
    return folder


def test_a_program_passes_mypy_and_its_results_have_the_promised_classes(program):
    said = mypy_says(program, "--cache-dir", program / "cache", "api.py", "user.py")
    assert not said, said
    done = subprocess.run([sys.executable, "user.py"], capture_output=True, text=True, cwd=program)
    assert (done.returncode, done.stderr) == (0, "")


# --- operators --------------------------------------------------------------------------------------------------------

NAMES = ("Num", "OnlyEqual", "BelowEqual", "Hashed", "Counter", "Range", "Guard", "Closed", "Task")
PARENTS = {"BelowEqual": "OnlyEqual"}
OPERATORS = """
import asyncio
from typing import Any, assert_type
from api import Closed, Counter, Guard, Num, OnlyEqual, Range, Task

num = Num(3)
same = num
num += 1
assert_type(num, Num)
assert num is same and num.value == 4
assert_type(num + Num(1), Num)
assert_type(1 + num, Num)
assert_type(num / 2, Num)
assert [bool(num), int(num), float(num), [0] * num] == [True, 4, 4.5, [0] * 4]
assert_type(num(1), int)
assert_type(OnlyEqual(1) == "a", bool)
assert_type(OnlyEqual(1) != OnlyEqual(2), bool)
assert_type([number for number in Range(2)], list[int])
assert next(iter(Range(1))) == 0
assert_type(next(reversed(Range(1))), int)
assert_type(next(Counter(1)), int)
assert_type("a" in Range(2), bool)
with Guard(False) as guard:
    assert_type(guard, Guard)
with Closed():
    pass

async def wait() -> Any:
    return await Task(5)

assert asyncio.run(wait()) == 5
"""


def test_operators_pass_mypy_and_work_as_the_stub_says(tmp_path):
    library = compile_cxx("operators.cc", PACKAGE / "include", '-DERA="typed"', "-O0", link=("-ltvm_ffi",))
    api = ["# tvm-ffi-stubgen(begin): import-section", "# tvm-ffi-stubgen(end)", "import ffi_hpy"]
    api += [f"ffi_hpy.load_module({str(library)!r})"]
    for name in NAMES:
        api += [f'@ffi_hpy.register_object("operators.typed.{name}")']
        api += [f"class {name}({PARENTS.get(name, 'ffi_hpy.Object')}):"]
        api += [f"    # tvm-ffi-stubgen(begin): object/operators.typed.{name}", "    # tvm-ffi-stubgen(end)", ""]
    (tmp_path / "api.py").write_text("\n".join(api))
    command = [sys.executable, "-m", "ffi_hpy.stub.cli", "--dlls", str(library), str(tmp_path / "api.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "user.py").write_text(OPERATORS)
    said = mypy_says(tmp_path, "--cache-dir", tmp_path / "cache", "api.py", "user.py")
    assert not said, said
    done = subprocess.run([sys.executable, "user.py"], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
