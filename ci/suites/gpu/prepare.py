"""The folder that ci/gpu prepares for a machine with a GPU."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from ci.lib.folders import ROOT
from ci.lib.messages import Missing, say
from ci.lib.process import output_of
from ci.provision.sdist import TVM_FFI, fetch_sdist
from ci.provision.tools import run_uv
from ci.provision.wheel import build_wheel

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 64 << 20
SITE, UPSTREAM, UPSTREAM_TESTS, SCALING = "site", "upstream", "upstream-tests", "scaling.tar.xz"
TEST_PACKAGES = ("pytest>=8", "pytest-timeout", "ninja", "typing-extensions>=4.13", "pyelftools")


def prepare(folder: Path, python_version: str) -> None:
    """Empty and fill `folder` for that version of CPython. Raises Missing."""
    wheel, tests = build_wheel(), fetch_sdist(TVM_FFI, "conformance") / "tests" / "python"
    if folder.exists() and any(folder.iterdir()) and not (folder / SITE).is_dir():
        raise Missing(f"{folder} has files that are not of ci/gpu: it would be emptied")
    shutil.rmtree(folder, ignore_errors=True)
    unpack(folder / SITE, python_version, wheel, *TEST_PACKAGES)
    unpack(folder / UPSTREAM, python_version, "--no-deps", TVM_FFI)
    shutil.copytree(tests, folder / UPSTREAM_TESTS)
    output_of([sys.executable, "-B", ROOT / "benchmarks" / "scaling.py", "--pack", folder / SCALING])
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > MAX_BYTES:
        raise Missing(f"{folder} has {size} bytes; it must not have more than {MAX_BYTES}")
    say(f"{folder}: {size / 1e6:.1f} MB")


def unpack(folder: Path, python_version: str, *words: str | Path) -> None:
    """Unpack packages so that a program needs only PYTHONPATH to import them."""
    run_uv(
        *("pip", "install", "--quiet", "--only-binary", ":all:", "--link-mode", "copy", "--target", folder),
        *("--python-version", python_version, "--python-platform", "x86_64-manylinux_2_28", *words),
    )
