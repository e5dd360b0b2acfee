"""What ffi-hpy-stubgen writes passes mypy --strict, and tells what the functions take and return."""

import subprocess
import sys

from test_cases import mypy_says

_USER = """
from typing import assert_type
from testing import TestCxxClassDerived, TestIntPair, add_one, schema_id_map_str_int, schema_id_opt_str
from collections.abc import Mapping

assert_type(add_one(1), int)
assert_type(schema_id_map_str_int({"a": 1}), Mapping[str, int])
assert_type(schema_id_opt_str(None), str | None)
assert_type(TestIntPair(1, 2).a, int)
assert_type(TestIntPair(1, 2).sum(), int)
assert_type(TestCxxClassDerived(1, 2, 3.0).v_f32, float)
add_one("1")  # type: ignore[arg-type]
TestIntPair("1")  # type: ignore[arg-type, call-arg]
"""


def test_a_generated_package_passes_mypy_and_has_the_types(tmp_path):
    command = [sys.executable, "-m", "ffi_hpy.stub.cli", str(tmp_path), "--imports", "ffi_hpy.testing"]
    command += ["--init-pypkg", "ffi-hpy", "--init-lib", "tvm_ffi_testing", "--init-prefix", "testing."]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "user.py").write_text(_USER)
    said = mypy_says(tmp_path, "--cache-dir", tmp_path / "cache", "testing", "user.py")
    assert not said, said
