"""Programs whose types mypy must infer as they say, and that run: cases/*.py.

``assert_type`` states what must be inferred. What must be refused carries ``type: ignore`` with the code of the error:
where mypy has nothing to say, it complains about the comment.
"""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

MODULES = ("access_path", "dataclasses", "serialization", "structural")
CASES = sorted(Path(__file__).with_name("cases").glob("*.py"))
ROOT = Path(__file__).resolve().parents[2]


def mypy_says(folder, *arguments):
    """What mypy --strict has to say, run in a folder from where it sees the installed package, not the checkout."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--python-version", "3.11"]
    command += ["--enable-error-code", "ignore-without-code", "--no-error-summary", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    said = done.stdout + done.stderr
    assert "error:" not in said or done.returncode != 0
    return said


def test_mypy_infers_what_the_programs_say(tmp_path):
    said = mypy_says(tmp_path, *CASES)
    assert not said, said


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_the_program_runs(case):
    runpy.run_path(str(case))


def test_the_wheel_says_that_it_is_typed():
    import ffi_hpy

    package = Path(ffi_hpy.__file__).parent
    assert ROOT not in package.parents  # the wheel, not the checkout
    assert (package / "py.typed").is_file()
    assert (package / "_core.pyi").is_file()


def test_every_name_of_the_package_has_a_type(tmp_path):
    import ffi_hpy

    program = tmp_path / "names.py"
    names = [name for name in ffi_hpy.__all__ if name not in MODULES]
    program.write_text("import ffi_hpy\n" + "".join(f"reveal_type(ffi_hpy.{name})\n" for name in names))
    said = mypy_says(tmp_path, "--cache-dir", tmp_path / "cache", program)
    lines = [line.partition('Revealed type is "')[2].rstrip('"') for line in said.splitlines()]
    assert len(lines) == len(names)
    assert [name for name, line in zip(names, lines) if line in ("Any", "")] == []
