"""The output of ffi-hpy-stubgen passes mypy --strict and pyright, and declares the functions' parameters and
results."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkers import mypy_says, pyright_says

from ffi_hpy.core import TypeSchema
from ffi_hpy.stub.file_utils import CodeBlock
from ffi_hpy.stub.generator import get_generator
from ffi_hpy.stub.utils import FuncInfo, ObjectInfo, Options

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
USER = """
from typing import assert_type
from ffi_hpy import Map
from testing import TestCxxClassDerived, TestEnumVariant, TestIntPair, TestObjectBase
from testing import add_one, schema_id_map_str_int, schema_id_opt_str

assert_type(add_one(1), int)
assert_type(schema_id_map_str_int({"a": 1}), Map[str, int])
assert_type(schema_id_opt_str(None), str | None)
assert_type(TestIntPair(1, 2).a, int)
assert_type(TestIntPair(1, 2).sum(), int)
assert_type(TestCxxClassDerived(1, 2, 3.0).v_f32, float)
add_one("1")  # type: ignore[arg-type]
TestIntPair("1")  # type: ignore[arg-type, call-arg]
assert_type(TestEnumVariant.Alpha, TestEnumVariant)
assert_type([variant for variant in TestEnumVariant], list[TestEnumVariant])
assert_type(TestEnumVariant("Beta").name, str)
TestEnumVariant.Gamma  # type: ignore[attr-defined]
base = TestObjectBase()
base.v_i64 = 1
base.v_f64 = 1.0  # type: ignore[misc]
"""

ARRAYS = """
import numpy
import tally

tally.scale(numpy.zeros(3, dtype="float32"), 2)
tally.scale(numpy.float32)  # type: ignore[arg-type]
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A folder with a package that was generated for the testing library."""
    folder = tmp_path_factory.mktemp("generated")
    command = [sys.executable, "-m", "ffi_hpy.stub.cli", str(folder), "--imports", "ffi_hpy.testing"]
    command += ["--init-pypkg", "ffi-hpy", "--init-lib", "tvm_ffi_testing", "--init-prefix", "testing."]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (folder / "user.py").write_text(USER)
    return folder


@pytest.fixture(params=[".py", ".pyi"])
def overloaded(request, tmp_path):
    """A folder with a module whose class has overloaded methods and constructors, as OverloadObjectDef makes them."""

    def method(name, *params, is_member=False):
        types = tuple(TypeSchema(param) for param in params)
        return FuncInfo.from_schema(name, TypeSchema("Callable", types), is_member=is_member)

    info = ObjectInfo(
        [],
        [
            *(method("__ffi_init__", "Object", taken) for taken in ("int", "str")),
            *(method("is", taken, "Object", taken, is_member=True) for taken in ("int", "str")),
            *(method("same", taken, "Object", taken, is_member=True) for taken in ("int", "str")),
            *(method("of", taken, taken) for taken in ("int", "str")),
        ],
        has_init=True,
    )
    region = CodeBlock("object", "overloaded.X", 1, 2, ["    #", "    #"])
    generator = get_generator("python")
    here = tmp_path / f"overloaded{request.param}"
    imports = generator.new_imports()
    generator.generate_object_block(
        region, generator.default_ty_map(), imports, Options(), info, {"overloaded.X": here}
    )
    section = CodeBlock("import-section", "", 1, 2, ["#", "#"])
    generator.generate_import_section_block(section, imports, Options(), set())
    here.write_text("\n".join([*section.lines, "from ffi_hpy import Object", "class X(Object):", *region.lines, ""]))
    here.with_suffix(".py").touch()  # the module that the .pyi file describes
    user = "import typing, overloaded\nx = overloaded.X('1')\noverloaded.X(1)\n"
    user += "typing.assert_type(x.same(1), int)\ntyping.assert_type(overloaded.X.of('x'), str)\n"
    (tmp_path / "user.py").write_text(user)
    return tmp_path


@pytest.fixture
def packages(tmp_path):
    """A folder with the packages of the packaging examples from the checkout, and their user programs."""
    for project, name in (("packaging", "tally"), ("packaging_setuptools", "vocab")):
        source = EXAMPLES / project
        shutil.copytree(source / "python" / name, tmp_path / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        shutil.copy(source / "check_types.py", tmp_path / f"user_of_{name}.py")
    (tmp_path / "arrays.py").write_text(ARRAYS)
    return tmp_path


def test_a_generated_package_passes_mypy_and_has_the_types(generated, tmp_path):
    said = mypy_says(generated, "--cache-dir", tmp_path / "cache", "testing", "user.py")
    assert not said, said


def test_a_generated_package_passes_pyright_and_has_the_types(generated):
    said = pyright_says(generated)
    assert not said, said


def test_overloads_pass_mypy(overloaded):
    said = mypy_says(overloaded, "--cache-dir", overloaded / "cache", "user.py")
    assert not said, said


def test_overloads_pass_pyright(overloaded):
    said = pyright_says(overloaded)
    assert not said, said


def test_the_packaging_examples_pass_mypy(packages):
    users = ("user_of_tally.py", "user_of_vocab.py", "arrays.py")
    said = mypy_says(packages, "--cache-dir", packages / "cache", "tally", "vocab", *users)
    assert not said, said


def test_the_packaging_examples_pass_pyright(packages):
    said = pyright_says(packages)
    assert not said, said
