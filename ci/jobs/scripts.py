"""The jobs of ci/test that run other commands: the C tests, the C++ tests, the packaging examples, the soak, the pages
for new users, and the short forms of other projects' tests."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ci.jobs.result import Result, count
from ci.lib.folders import CI, ROOT
from ci.lib.process import clean_environ, closing_line, run_logged
from ci.provision.compilers import find_c_compiler, find_cxx_compiler

if TYPE_CHECKING:
    from pathlib import Path

CORE_MODES = ("plain", "pending", "asan", "tsan", "arm64", "riscv64", "s390x", "windows", "fuzz")
FIRST_PAGES = ("README.md", "docs/first_library.md", "docs/classes.md", "examples/notebook/README.md")
EXAMPLE_PAGES = tuple(f"examples/{name}/README.md" for name in ("packaging", "packaging_setuptools", "binding"))
"""The pages that ci/newcomer runs."""
SOAKED = ("cp311", "cp314t")
CONFORMING = ("cp311", "cp314t")
"""Interpreters for upstream's tests that compile nothing."""


def run_core(mode: str, wheel: Path, log: Path) -> Result:
    """Run the C tests in one of ci/core's modes; the mode pending runs after plain, with the same program."""
    find_c_compiler()
    return run_script(f"core-{mode}", ["core", mode, *(["pending"] if mode == "plain" else [])], log)


def run_cpp(wheel: Path, log: Path) -> Result:
    """Run the tests of the C++ headers."""
    find_cxx_compiler()
    return run_script("cpp", ["cpp", str(wheel)], log)


def run_packaging(wheel: Path, log: Path) -> Result:
    """Build the packaging examples and run their tests."""
    find_cxx_compiler()
    return run_script("packaging", ["packaging", "--wheel", str(wheel)], log)


def run_newcomer(wheel: Path, log: Path, of_examples: bool = False) -> Result:
    """Run the code of pages as a new user does. This builds no wheel: the wheel is up to date."""
    find_cxx_compiler()
    name, pages = ("newcomer-examples", EXAMPLE_PAGES) if of_examples else ("newcomer", FIRST_PAGES)
    return run_script(name, ["newcomer", *pages], log)


def run_soak(wheel: Path, log: Path) -> Result:
    """Repeat each operation of the soak for a moment. This builds no wheel: the wheel is up to date."""
    find_cxx_compiler()
    return run_script("soak", ["soak", *SOAKED, "--minutes", "0.25"], log)


def run_conformance(wheel: Path, log: Path) -> Result:
    """Run upstream's Python tests that compile nothing. This builds no wheel: the wheel is up to date."""
    return run_script("conformance-short", ["conformance", *CONFORMING, "--short"], log)


def run_clients(wheel: Path, log: Path) -> Result:
    """Run the tests of the quick clients. This builds no wheel: the wheel is up to date."""
    find_cxx_compiler()
    return run_script("clients-short", ["clients", "--short"], log)


def run_nanobind(wheel: Path, log: Path) -> Result:
    """Run some of nanobind's own tests, compiled with our headers."""
    find_cxx_compiler()
    return run_script("nanobind-short", ["nanobind-suite", "--short"], log)


def run_script(name: str, words: list[str], log: Path) -> Result:
    """Run a command of ci/ whose last line has the numbers of passed, failed and skipped tests."""
    status = run_logged([sys.executable, "-B", str(CI / words[0]), *words[1:]], log, clean_environ(), ROOT)
    text = log.read_text(errors="replace")
    return Result(
        name,
        "ok" if status == 0 else "FAILED",
        passed=count(text, "passed"),
        failed=count(text, "failed"),
        skipped=count(text, "skipped"),
        closing=closing_line(text, status),
    )
