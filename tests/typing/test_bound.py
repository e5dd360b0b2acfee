"""A user's program passes mypy --strict with the stub of a library that is bound with ffi_hpy/bind.h, and then runs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkers import mypy_says, pyright_says

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/python"))
from support.native_build import PACKAGE, compile_cxx  # noqa: E402

PROGRAM = """
from typing import assert_type

import stubbed
from stubbed import Color, Shape, inner
from stubbed.inner import deep

square = stubbed.Square(side=2, color=Color.red)
assert_type(square.area, float)
square.area = 3
assert_type(square.sides, list[float])
square.sides = range(3)
assert_type(Shape.make(Size=Shape.Size.small), Shape)
assert_type(Shape.Part().of(square), Shape)
assert_type(stubbed.scale(1), int)
assert_type(stubbed.scale(1.5), float)
assert_type(stubbed.first({"a": (1, 2)}), list[int])
assert_type(stubbed.tuple((1, Color.red)), tuple[int, Color])
assert_type(stubbed.nothing(), tuple[()])
assert_type(stubbed.apply(lambda numbers: numbers[0], square, square), int)
assert_type(stubbed.find(None), Color | None)
assert_type(inner.color_of(square), Color)
assert_type(deep.twice(stubbed.answer), int)
assert_type(deep.same(square), stubbed.Square)
assert_type(Shape().Shape(), Shape)
assert_type(Shape.limit, int)
assert_type(square == 3, bool)
assert_type(stubbed.best, Color)
try:
    len(square)
except stubbed.TooSmall as error:
    print(error)
"""
WRONG = [
    ("stubbed.Square()", "call-overload"),
    ("stubbed.Square('x')", "call-overload"),
    ("stubbed.Shape().label = 'y'", "misc"),
    ("stubbed.apply(None, None, stubbed.Shape())", "arg-type"),
    ("stubbed.find(1)", "arg-type"),
    ("stubbed.first([1])", "arg-type"),
    ("stubbed.inner.color_of(stubbed.Shape())", "arg-type"),
    ("stubbed.missing", "attr-defined"),
]
RESULTS = [
    ("truth(True)", "bool"),
    ("number(1)", "int"),
    ("real(1)", "float"),
    ("text('x')", "str"),
    ("complex_number(1j)", "complex"),
    ("rows([(1, 2.5), range(2)])", "list[list[float]]"),
    ("colors((Color.red,))", "list[Color]"),
    ("two(range(2))", "list[int]"),
    ("pair(('x', 1))", "tuple[str, int]"),
    ("nothing(())", "tuple[()]"),
    ("table({(1, 2): 3})", "dict[tuple[int, int], int]"),
    ("numbers({1}.union([2]))", "set[int]"),
    ("perhaps((1,))", "list[int] | None"),
    ("either(2.5)", "float | None"),
    ("duration(timedelta(1))", "timedelta"),
    ("duration(1.5)", "timedelta"),
    ("moment(date(2024, 1, 2))", "datetime"),
    ("path('x')", "Path"),
    ("point(Point())", "Point"),
    ("color(Color.red)", "Color"),
    ("function(len)", "Callable[[Sequence[int]], int]"),
    ("data(b'x')", "bytes"),
    ("any_tuple((1, 'x'))", "tuple[Any, ...]"),
    ("any_list([1, 'x'])", "list[Any]"),
    ("any_dict({1: 'x'})", "dict[Any, Any]"),
    ("any_set({1})", "set[Any]"),
    ("any_frozenset(frozenset({1}))", "frozenset[Any]"),
    ("part(slice(1))", "slice"),
    ("all(1, 'x', a=None)", "tuple[Any, ...]"),
    ("named(1, b=2)", "int"),
    ("unnamed(1, None, 'x')", "int"),
    ("array(numpy.zeros(2))", "numpy.ndarray"),
    ("any_iterator(iter([1]))", "Iterator[Any]"),
    ("iterator_of_ints(iter([1]))", "Iterator[int]"),
    ("made_iterator()", "Iterator[int]"),
    ("made()", "Point"),
    ("no_value()", "None"),
]
RESULTS_HEAD = """
import inspect
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, assert_type, get_args, get_origin

import numpy

from bound_results import *
import bound_results

def check(name: str, found: object, expected: Any) -> None:
    classes = [get_origin(each) or each for each in get_args(expected) if type(None) in get_args(expected)]
    classes = classes or [get_origin(expected) or (expected if expected is not None else type(None))]
    assert isinstance(found, tuple(classes)), (name, type(found))
    assert type(found) in classes or classes in ([Path], [Callable], [Iterator]), (name, type(found))
    promised = inspect.signature(getattr(bound_results, name)).return_annotation
    promised = promised.__origin__ if get_origin(promised) is Annotated else promised
    if get_origin(promised) or Any not in get_args(expected):
        assert promised == expected, (name, promised)
    else:
        assert promised is classes[0], (name, promised)

"""


def make_folder(folder, name, program):
    """Fill a folder with a library, its stubs and a program that uses it."""
    library = compile_cxx(f"{name}.cc", PACKAGE / "include", "-O0", "-fvisibility=hidden", link=())
    shutil.copy(library, folder / f"{name}.so")
    command = [sys.executable, "-m", "ffi_hpy.stub.cli", name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    (folder / "user.py").write_text(program)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with `stubbed` and its program."""
    return make_folder(tmp_path_factory.mktemp("bound"), "stubbed", PROGRAM)


def test_a_program_passes_mypy_and_runs(folder):
    said = mypy_says(folder, "--cache-dir", folder / "cache", "stubbed", "user.py")
    assert not said, said
    done = subprocess.run([sys.executable, "user.py"], capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")


def test_results_have_the_classes_that_the_stub_and_the_signature_promise(tmp_path):
    lines = [RESULTS_HEAD]
    for i, (call, shown) in enumerate(RESULTS):
        name = call.partition("(")[0]
        if shown == "None":  # mypy refuses a use of the result
            lines += [f"function_{i}: Callable[[], None] = bound_results.{name}"]
            lines += [f"check({name!r}, vars(bound_results)[{name!r}](), None)"]
            continue
        lines += [f"found_{i} = bound_results.{call}"]
        if shown != "slice":  # generic for newer type checkers
            lines += [f"assert_type(found_{i}, {shown})"]
        lines += [f"check({name!r}, found_{i}, {shown})"]
    folder = make_folder(tmp_path, "bound_results", "\n".join(lines) + "\n")
    said = mypy_says(folder, "--cache-dir", folder / "cache", "bound_results.pyi", "user.py")
    assert not said, said
    done = subprocess.run([sys.executable, "user.py"], capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")


def test_mypy_and_the_library_refuse_the_same_calls(folder):
    lines = ["import stubbed", *(line for line, _ in WRONG)]
    (folder / "wrong.py").write_text("\n".join(lines))
    said = mypy_says(folder, "--cache-dir", folder / "cache", "wrong.py")
    errors = [line for line in said.splitlines() if " error: " in line]
    for i, (line, code) in enumerate(WRONG, 2):
        assert any(each.startswith(f"wrong.py:{i}: ") and each.endswith(f"[{code}]") for each in errors), (line, said)


def test_a_program_passes_pyright(folder):
    said = pyright_says(folder)
    assert "user.py" not in said, said
