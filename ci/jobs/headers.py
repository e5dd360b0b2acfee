"""The check of the public headers: each compiles by itself, and all together with their tests cause no warning."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ci.jobs.precompiled import precompile
from ci.jobs.result import Result
from ci.lib.folders import ROOT
from ci.lib.process import check_going_on
from ci.provision.clang import find_clang
from ci.provision.compilers import find_c_compiler, find_cxx_compiler, find_nvcc
from ci.provision.googletest import googletest_flags

if TYPE_CHECKING:
    from collections.abc import Iterator

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
STANDARDS = {"C++17": "c++17", "C++20": "c++20", "C++23": "c++2b"}  # as older compilers spell the standards
TESTED = (("clang", "C++20"), ("GCC", "C++23"))
"""Compiler/standard pairs for the tests; the job cpp compiles them by GCC as C++17, with these warnings. The check of
all headers together runs every pair."""
TESTS = ROOT / "tests" / "cpp"
GOOGLETEST = "#include <gtest/gtest.h>\n"


@dataclass(frozen=True)
class Check:
    """A file or a text that must compile."""

    label: str
    command: list[str]
    text: str | None = None  # on stdin


def is_c_header(name: str) -> bool:
    """Return whether a public header is also for C: c_*.h and DLPack's are, all others are C++ only."""
    return Path(name).name.startswith("c_") or Path(name).name == "dlpack.h"


def cuda_includes(nvcc: str) -> list[str]:
    """Return the options for CUDA's own headers. nvcc itself must be asked for their path: it may be a script."""
    done = subprocess.run([nvcc, "--dryrun", "-x", "cu", os.devnull], capture_output=True, text=True)
    return [f"-isystem{path}" for path in re.findall(r'^#\$ INCLUDES="-I([^"]*)"', done.stderr, re.MULTILINE)]


def alone(compiler: list[str], language: str, standard: str, header: str) -> Check:
    """Return the check that a header compiles by itself, and twice."""
    text = f"#include <{header}>\n#include <{header}>\nint not_empty;\n"
    return Check(f"{header} as {standard}", [*compiler, "-x", language, f"-std={standard}", "-"], text)


def checks(headers: list[str], flags: list[str], folder: Path, is_whole: bool) -> Iterator[Check]:
    """Yield all checks of compilers other than CUDA's, with these flags; files go to `folder`. Raises Missing."""
    for check in (*checks_alone(headers), *checks_together(headers, flags, folder, is_whole)):
        yield replace(check, command=[*check.command, *flags, "-fsyntax-only"])


def checks_alone(headers: list[str]) -> Iterator[Check]:
    for header in headers:
        if is_c_header(header):
            yield alone(find_c_compiler(), "c", "c11", header)
        yield alone(find_cxx_compiler(), "c++", "c++17", header)


def including(headers: list[str]) -> str:
    """Return a source that includes all headers that can be combined."""
    either = ("driver_api.h", "runtime_api.h")  # unified_api.h includes this one
    other_form = ("py_object.h", "py_api.h", "py_buffer.h", "type_slots.h")  # the others have another form behind these
    left_out = (*either, *other_form)
    return "".join(f"#include <{h}>\n" for h in headers if Path(h).name not in left_out) + "int not_empty;\n"


def checks_together(headers: list[str], flags: list[str], folder: Path, is_whole: bool) -> Iterator[Check]:
    compilers = {"GCC": find_cxx_compiler(), "clang": [*find_clang(), "--driver-mode=g++"]}
    everything = including(headers)
    for name, compiler in compilers.items():
        for standard, called in STANDARDS.items():
            command = [*compiler, f"-std={called}"]
            yield Check(f"all headers, {name} {standard}", [*command, "-x", "c++", "-"], everything)
            if not is_whole and (name, standard) not in TESTED:
                continue
            googletest = precompile([*command, *flags], GOOGLETEST, folder / f"{name}-{called}")
            for test in sorted(TESTS.glob("test_*.cc")):
                yield Check(f"{test.name}, {name} {standard}", [*command, *googletest, str(test)])


def check_of_cuda(headers: list[str], nvcc: str, include: Path) -> Check:
    """Return the check that all headers compile as CUDA."""
    source = including([header for header in headers if not is_c_header(header)])
    command = [nvcc, "-x", "cu", "-std=c++17", "-c", "-o", os.devnull, f"-I{include}"]
    return Check("all headers, CUDA", [*command, "-"], source)


def run_headers(wheel: Path, log: Path, is_whole: bool = False) -> Result:
    """Compile the headers of the wheel; without nvcc, skip the check as CUDA. Raises Missing.

    With `is_whole`, each compiler compiles the tests with each standard.
    """
    nvcc, without = find_nvcc(), ""
    failed: list[str] = []
    passed = 0
    with tempfile.TemporaryDirectory() as scratch, log.open("w") as stream:
        folder = Path(scratch)
        zipfile.ZipFile(wheel).extractall(folder)
        include = Path(folder, "ffi_hpy", "include")
        headers = [path.relative_to(include).as_posix() for path in sorted(include.rglob("*.h"))]
        headers = [header for header in headers if "/eigen/" not in header]  # ci/nanobind-suite has Eigen
        flags = [*WARNINGS, f"-I{include}", *googletest_flags()[0]]
        if nvcc is None:
            without = ", without those for CUDA: nvcc is missing"
            headers = [header for header in headers if "/cuda/" not in header]
            todo = [*checks(headers, flags, folder, is_whole)]
        else:
            flags += cuda_includes(nvcc)
            todo = [*checks(headers, flags, folder, is_whole), check_of_cuda(headers, nvcc, include)]
        for check in todo:
            check_going_on()
            done = subprocess.run(
                check.command, input=check.text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            stream.write(f"{check.label}: exit status {done.returncode}\n{done.stdout}")
            stream.flush()
            if done.returncode == 0:
                passed += 1
            else:
                failed.append(check.label)
    closing = f"{passed} passed{without}" + (f", failed: {', '.join(failed)}" if failed else "")
    name = "headers-whole" if is_whole else "headers"
    return Result(name, "FAILED" if failed or not passed else "ok", passed, len(failed), 0, closing=closing)
