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
    ("is_tensor([1.0])", "bool"),
    ("n_alive()", "int"),
    ("narrow(None)", "bool"),
    ("map_by(lambda values: set(values), [1])", "set[int]"),
]
HEAD = """
import inspect
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, assert_type

import api
from ffi_hpy import Array, Dict, List, Map, get_global_func

def check(name: str, found: object, expected: Any, shown: str) -> None:
    cls = getattr(expected, "__origin__", expected)
    assert isinstance(found, cls), (name, type(found))
    assert cls in (Path, str) or type(found) is cls, (name, type(found))
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
