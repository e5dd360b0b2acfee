"""Type checkers find the types of tvm_ffi in an environment with ffi_hpy installed by ffi_hpy.dropin in its place."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from checkers import run_checker

import ffi_hpy

PROGRAM = """
import tvm_ffi
import tvm_ffi.dataclasses as dc
from tvm_ffi import libinfo
from tvm_ffi._dtype import dtype
from tvm_ffi.registry import register_object

@dc.py_class("installed.Point")
class Point(dc.Object):
    x: int

paths: list[str] = libinfo.include_paths()
first: int = tvm_ffi.Array([Point(1)])[0].x
kind: dtype = tvm_ffi.float32
wrong: str = tvm_ffi.Array([1])[0]
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of such an environment."""
    folder = tmp_path_factory.mktemp("env")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    environ = {**os.environ, "PYTHONPATH": str(Path(ffi_hpy.__file__).parents[1])}
    command = [str(folder / "bin" / "python"), "-m", "ffi_hpy.dropin", "install"]
    subprocess.run(command, check=True, env=environ, stdout=subprocess.DEVNULL)
    return command[0]


def test_mypy_knows_tvm_ffi(python, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    _, said = run_checker("mypy", tmp_path, "--config-file", "", "program.py", python=python)
    errors = [line for line in said.splitlines() if "error:" in line]
    assert len(errors) == 1, said
    assert 'program.py:15: error: Incompatible types in assignment (expression has type "int"' in errors[0]


def test_pyright_knows_tvm_ffi(python, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    _, said = run_checker("pyright", tmp_path, "program.py", python=python)
    errors = [line for line in said.splitlines() if "error:" in line]
    assert len(errors) == 1, said
    assert 'program.py:15:14 - error: Type "int" is not assignable to declared type "str"' in errors[0]
