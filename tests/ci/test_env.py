"""ci/env makes a working environment: the requested interpreter, with the wheel and the requirements of the tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAID = (
    "import sys, ffi_hpy, numpy, pytest; "
    "print(sys.version_info[:2], ffi_hpy.__file__.startswith(sys.prefix), ffi_hpy.convert([1, 2]))"
)


def run(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, cwd=cwd)


def test_the_printed_environment_can_be_activated_and_has_the_wheel(tmp_path: Path) -> None:
    made = run(sys.executable, "-B", "ci/env", "cp39")
    assert made.returncode == 0, made.stderr
    activated = run("sh", "-euc", f'. "{made.stdout.strip()}/bin/activate"\npython -c "{SAID}"', cwd=tmp_path)
    assert activated.stdout == "(3, 9) True (1, 2)\n", activated.stderr


@pytest.mark.parametrize("name", ["cp38", "", "arm64-cp311"])
def test_an_unknown_interpreter_is_refused(name: str) -> None:
    refused = run(sys.executable, "-B", "ci/env", name)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "invalid choice" in refused.stderr


def test_a_failed_installation_is_reported_in_one_line() -> None:
    failed = run(sys.executable, "-B", "ci/env", "cp39", "--with", "ffi-hpy==0.0.0.dev0")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr.splitlines()[-1].startswith("ci/env: ")
