"""What ffi-hpy-stubgen writes passes mypy --strict and pyright, and tells what the functions take and return."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkers import mypy_says, pyright_says

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
USER = """
from collections.abc import Mapping
from typing import assert_type
from testing import TestCxxClassDerived, TestIntPair, add_one, schema_id_map_str_int, schema_id_opt_str

assert_type(add_one(1), int)
assert_type(schema_id_map_str_int({"a": 1}), Mapping[str, int])
assert_type(schema_id_opt_str(None), str | None)
assert_type(TestIntPair(1, 2).a, int)
assert_type(TestIntPair(1, 2).sum(), int)
assert_type(TestCxxClassDerived(1, 2, 3.0).v_f32, float)
add_one("1")  # type: ignore[arg-type]
TestIntPair("1")  # type: ignore[arg-type, call-arg]
"""

USER_OF_TALLY = """
from typing import assert_type
import ffi_hpy
import numpy
import tally

assert_type(tally.Tally.of([1, 2.5]), tally.Tally)
assert_type(tally.merge(tally.Tally(), tally.Tally()).mean(), float)
assert_type(tally.Tally().count, int)
tally.Tally(1)  # type: ignore[call-arg]
tally.scale(numpy.zeros(3, dtype="float32"), 2)
tally.scale(ffi_hpy.from_dlpack(numpy.zeros(3)), 2)
tally.scale([1.0], 2)  # type: ignore[arg-type]
"""

USER_OF_VOCAB = """
from collections.abc import Sequence
from typing import assert_type
from vocab import Vocabulary, split

assert_type(split("a b"), Sequence[str])
assert_type(Vocabulary().find("a"), int | None)
assert_type(Vocabulary().words, Sequence[str])
split(1)  # type: ignore[arg-type]
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A folder with a package that was made for the testing library."""
    folder = tmp_path_factory.mktemp("generated")
    command = [sys.executable, "-m", "ffi_hpy.stub.cli", str(folder), "--imports", "ffi_hpy.testing"]
    command += ["--init-pypkg", "ffi-hpy", "--init-lib", "tvm_ffi_testing", "--init-prefix", "testing."]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (folder / "user.py").write_text(USER)
    return folder


@pytest.fixture
def packages(tmp_path):
    """A folder with the packages of the packaging examples, as they are in the checkout, and users of theirs."""
    for package, user in (
        ("packaging/python/tally", USER_OF_TALLY),
        ("packaging_setuptools/python/vocab", USER_OF_VOCAB),
    ):
        name = package.rpartition("/")[2]
        shutil.copytree(EXAMPLES / package, tmp_path / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        (tmp_path / f"user_of_{name}.py").write_text(user)
    return tmp_path


def test_a_generated_package_passes_mypy_and_has_the_types(generated, tmp_path):
    said = mypy_says(generated, "--cache-dir", tmp_path / "cache", "testing", "user.py")
    assert not said, said


def test_a_generated_package_passes_pyright_and_has_the_types(generated):
    said = pyright_says(generated)
    assert not said, said


def test_the_packaging_examples_pass_mypy(packages):
    users = ("user_of_tally.py", "user_of_vocab.py")
    said = mypy_says(packages, "--cache-dir", packages / "cache", "tally", "vocab", *users)
    assert not said, said


def test_the_packaging_examples_pass_pyright(packages):
    said = pyright_says(packages)
    assert not said, said
