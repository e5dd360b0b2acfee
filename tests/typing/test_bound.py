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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the library, its stubs and the program."""
    folder = tmp_path_factory.mktemp("bound")
    library = compile_cxx("stubbed.cc", PACKAGE / "include", "-O0", "-fvisibility=hidden", link=())
    shutil.copy(library, folder / "stubbed.so")
    command = [sys.executable, "-m", "ffi_hpy.stub.cli", "stubbed"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    (folder / "user.py").write_text(PROGRAM)
    return folder


def test_a_program_passes_mypy_and_runs(folder):
    said = mypy_says(folder, "--cache-dir", folder / "cache", "stubbed", "user.py")
    assert not said, said
    done = subprocess.run([sys.executable, "user.py"], capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")


def test_mypy_refuses_what_the_library_refuses(folder):
    lines = ["import stubbed", *(line for line, _ in WRONG)]
    (folder / "wrong.py").write_text("\n".join(lines))
    said = mypy_says(folder, "--cache-dir", folder / "cache", "wrong.py")
    errors = [line for line in said.splitlines() if " error: " in line]
    for i, (line, code) in enumerate(WRONG, 2):
        assert any(each.startswith(f"wrong.py:{i}: ") and each.endswith(f"[{code}]") for each in errors), (line, said)


def test_a_program_passes_pyright(folder):
    said = pyright_says(folder)
    assert "user.py" not in said, said
