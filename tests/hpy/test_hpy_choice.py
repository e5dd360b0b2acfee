"""The choice of the HPy runtime: it depends on a process's symbols, which are made up here except in the last tests."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import ffi_hpy
from ffi_hpy import _hpy_choice, hpy
from ffi_hpy._hpy_choice import BUILT_IN, choose, choose_file

CPYTHON, PYPY = "PyObject_GetAttr", "PyPyObject_GetAttr"
DISPLACED = "0.9.1.dev61+g79fb330d"
"""PyPy 7.3.19's description of its HPy, which has one more entry in the middle of its table."""


@pytest.mark.parametrize(
    ("interpreter", "release", "names", "expected"),
    [
        ("CPython", None, [CPYTHON], "_hpy.so"),
        ("PyPy 7.3 from 7.3.18 on", DISPLACED, [PYPY], "_hpy_pypy.so"),
        ("PyPy 7.3 before it", "0.9.0", [PYPY], BUILT_IN),
        ("the same of a revision", "0.9.0+g4a9b0f3", [PYPY], BUILT_IN),
        ("PyPy with an HPy older than 0.9", "0.0.4", [PYPY], "_hpy_pypy.so"),
        ("PyPy 8", None, [PYPY], "_hpy_pypy.so"),
        ("PyPy with CPython's names", None, [CPYTHON], "_hpy.so"),
        ("PyPy with both names", None, [CPYTHON, PYPY], "_hpy.so"),
    ],
)
def test_modules_of_others_run_on_the_runtime_that_fits(
    interpreter: str, release: str | None, names: list[str], expected: str
) -> None:
    assert choose(release, names) == expected, interpreter


def test_the_package_s_own_runtime_is_chosen_by_names_alone() -> None:
    assert choose_file("0.9.0", [PYPY]) == "_hpy_pypy.so"
    assert choose_file(None, [CPYTHON]) == "_hpy.so"


def test_if_no_runtime_fits_an_import_error_lists_the_searched_names() -> None:
    with pytest.raises(ImportError) as caught:
        choose(None, [])
    assert str(caught.value) == (
        "no HPy runtime fits this interpreter: _hpy_universal is missing, that of HPy 0.9.0 would do; and among the "
        "names that the process exports, PyObject_GetAttr (for _hpy.so) and PyPyObject_GetAttr (for _hpy_pypy.so) were "
        "looked for and not found"
    )
    with pytest.raises(ImportError, match=r"_hpy_universal is that of HPy 0\.9\.1\.dev61\+g79fb330d, that of"):
        choose(DISPLACED, [])


@pytest.mark.thread_unsafe(reason="threads would write into one folder")
def test_an_interpreter_without_names_raises_an_import_error_with_the_reason(tmp_path: Path) -> None:
    """The package is made to find neither `_hpy.so` nor a symbol."""
    folder = tmp_path / "ffi_hpy"
    folder.mkdir()
    for path in Path(ffi_hpy.__file__).parent.iterdir():
        if path.name not in ("_hpy.so", "_hpy_choice.py", "__pycache__"):
            (folder / path.name).symlink_to(path)
    source = Path(_hpy_choice.__file__).read_text()
    (folder / "_hpy_choice.py").write_text(f"{source}\n_is_exported = lambda name: False\n")
    program = """
import sys
sys.builtin_module_names = tuple(name for name in sys.builtin_module_names if name != "_hpy_universal")
sys.path.insert(0, sys.argv[1])
import ffi_hpy
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=os.sep, check=False)
    assert done.returncode == 1
    assert "ImportError: ffi_hpy does not run in this interpreter, " in done.stderr
    assert "PyPyObject_GetAttr (for _hpy_pypy.so) were looked for and not found" in done.stderr


@pytest.mark.parametrize("error", [OSError("no such thing"), TypeError("no name"), AttributeError("no such name")])
@pytest.mark.thread_unsafe(reason="modules are the process's")
def test_a_system_that_cannot_be_asked_for_names_exports_none(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(sys.implementation, "name", "pypy")
    cffi = SimpleNamespace(new_function_type=lambda *_: None, new_void_type=lambda: None, load_library=refuse)
    monkeypatch.setitem(sys.modules, "_cffi_backend", cffi)
    assert not _hpy_choice._is_exported(PYPY)
    if not isinstance(error, AttributeError):
        monkeypatch.setitem(sys.modules, "_cffi_backend", None)
        monkeypatch.setitem(sys.modules, "ctypes", SimpleNamespace(CDLL=refuse))
        assert not _hpy_choice._is_exported(PYPY)


def test_in_this_process_the_existing_runtime_is_found() -> None:
    is_pypy = sys.implementation.name == "pypy"
    release, names = _hpy_choice.look()
    assert names == [PYPY if is_pypy else CPYTHON]
    assert (release is not None) == (BUILT_IN in sys.builtin_module_names)


def test_the_runtime_that_modules_of_others_run_on_is_the_chosen_one() -> None:
    runtime = importlib.import_module("ffi_hpy._hpy")
    assert Path(runtime.__file__).name == choose(*_hpy_choice.look())
    assert hpy.context_name() == runtime.context_name
    assert sys.modules["ffi_hpy._hpy"] is ffi_hpy._hpy is runtime


@pytest.mark.thread_unsafe
def test_a_runtime_for_another_c_api_is_refused_by_the_system_s_loader(monkeypatch: pytest.MonkeyPatch) -> None:
    other = "_hpy.so" if sys.implementation.name == "pypy" else "_hpy_pypy.so"
    monkeypatch.setattr(_hpy_choice, "choose_file", lambda release, names: other)
    with pytest.raises(ImportError, match=r"undefined symbol|symbol not found"):  # glibc's message, musl's message
        _hpy_choice.import_file("other._hpy")


OTHER_HEADER = """
import ctypes
from ffi_hpy import _hpy, _hpy_choice

api = ctypes.CDLL(None)
base = ctypes.addressof(ctypes.c_char.in_dll(api, "PyPyBaseObject_Type"))
basicsize = ctypes.c_ssize_t.from_address(base + 40)
before, basicsize.value = basicsize.value, 16
try:
    _hpy_choice.import_file("other._hpy")
except ImportError as error:
    print(before, error)
finally:
    basicsize.value = before
"""


@pytest.mark.skipif(sys.implementation.name != "pypy", reason="CPython's headers are measured")
def test_a_pypy_whose_objects_have_another_header_is_refused() -> None:
    done = subprocess.run([sys.executable, "-c", OTHER_HEADER], capture_output=True, text=True, check=True)
    assert done.stdout == "24 ffi_hpy._hpy expects objects of PyPy with a header of 24 bytes, got 16\n"
