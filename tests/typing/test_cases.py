"""Programs (cases/*.py) that run, and whose types mypy and pyright must infer as the programs state.

``assert_type`` states the type that must be inferred. A line that must be refused carries ``type: ignore`` with mypy's
error code: a checker that finds no error there complains about the comment.
"""

import re
import runpy
import shutil
from pathlib import Path

import pytest
from checkers import mypy_says, pyright_says, run_checker

MODULES = ("access_path", "dataclasses", "serialization", "structural")
CASES = sorted(Path(__file__).with_name("cases").glob("*.py"))
ROOT = Path(__file__).resolve().parents[2]


def test_mypy_infers_the_types_that_the_programs_state(tmp_path):
    said = mypy_says(tmp_path, *CASES)
    assert not said, said


def test_pyright_infers_the_types_that_the_programs_state(tmp_path):
    for case in CASES:
        shutil.copy(case, tmp_path)
    said = pyright_says(tmp_path)
    assert not said, said


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_the_program_runs(case):
    runpy.run_path(str(case))


def test_the_wheel_is_marked_as_typed():
    import ffi_hpy

    package = Path(ffi_hpy.__file__).parent
    assert ROOT not in package.parents  # the wheel, not the checkout
    assert (package / "py.typed").is_file()
    assert (package / "_core.pyi").is_file()


@pytest.fixture
def names(tmp_path):
    """Return names of the package; tmp_path gets a program that makes the type checker print the type of each, in
    order."""
    import ffi_hpy

    found = [name for name in ffi_hpy.__all__ if name not in MODULES]
    text = "import ffi_hpy\n" + "".join(f"reveal_type(ffi_hpy.{name})\n" for name in found)
    (tmp_path / "names.py").write_text(text)
    return found


def test_every_name_of_the_package_has_a_type_for_mypy(tmp_path, names):
    said = mypy_says(tmp_path, "--cache-dir", tmp_path / "cache", "names.py")
    types = [line.partition('Revealed type is "')[2].rstrip('"') for line in said.splitlines()]
    assert len(types) == len(names)
    assert [name for name, found in zip(names, types) if found in ("Any", "")] == []


def test_every_name_of_the_package_has_a_type_for_pyright(tmp_path, names):
    said = pyright_says(tmp_path)
    assert "error:" not in said
    types = re.findall(r'information: Type of "ffi_hpy\.(\w+)" is "(.+)"', said)
    assert [name for name, _ in types] == names
    assert [name for name, found in types if found in ("Any", "Unknown", "type[Unknown]")] == []


def test_nothing_that_the_package_exports_is_unknown_to_pyright(tmp_path):
    _, said = run_checker("pyright", tmp_path, "--verifytypes", "ffi_hpy", "--ignoreexternal")
    counts = re.findall(r"With unknown type: (\d+)", said)
    assert counts == ["0", "0"], said
