"""setup.py as a frontend runs it: its refusals, their time, and its requirements."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from ci.lib.folders import ROOT
from ci.provision.wheel import input_paths
from tools.build.nanobind_names import make_nanobind_headers
from tools.build.targets import VARIABLE

REQUIRED = "from setuptools import build_meta\nprint('\\n' + ' '.join(build_meta.get_requires_for_build_wheel()))"


@pytest.fixture
def sources(tmp_path):
    """A copy of the wheel's sources."""
    for path in input_paths():
        place = tmp_path / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    return tmp_path


def run(sources, *words, **variables):
    environ = {name: value for name, value in os.environ.items() if name not in ("CC", "CFLAGS", VARIABLE)}
    return subprocess.run(
        [sys.executable, *words], cwd=sources, env={**environ, **variables}, capture_output=True, text=True, check=False
    )


def test_an_unknown_target_is_refused_before_anything_else(sources):
    done = run(sources, "setup.py", "build", FFI_HPY_TARGET="nonsense")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("ffi_hpy: FFI_HPY_TARGET is 'nonsense'; known targets: ")


def test_a_compiler_that_cannot_serve_is_refused_before_anything_is_built(sources):
    done = run(sources, "setup.py", "build", CC="echo")
    assert (done.returncode, done.stdout) == (1, "running build\n")
    assert "the C compiler 'echo', which does not report" in done.stderr.splitlines()[-1]
    assert not (sources / "build" / "lib").exists()


@pytest.mark.parametrize(("target", "required"), [("", ""), ("aarch64-linux-gnu", "ziglang>=0.13")])
def test_a_build_for_a_target_asks_for_ziglang_on_every_system(sources, target, required):
    done = run(sources, "-c", REQUIRED, FFI_HPY_TARGET=target)
    assert done.stdout.rpartition("\n")[0].rpartition("\n")[2] == required, done.stderr


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the sources are not a checkout")
def test_git_ignores_the_headers_that_an_editable_installation_writes(tmp_path):
    written = [f"ffi_hpy/{inside}" for _, inside in make_nanobind_headers(ROOT, tmp_path)]
    done = subprocess.run(
        ["git", "check-ignore", "--stdin"],
        cwd=ROOT,
        input="\n".join(written),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == written
