"""The check of the public headers: each compiles by itself, and together with their tests they cause no warning."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envs import ROOT, Missing, find_c_compiler, find_clang, find_cxx_compiler
from googletest import googletest_flags
from jobs import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
STANDARDS = {"C++17": "c++17", "C++20": "c++20", "C++23": "c++2b"}  # as compilers of before it was one call it
TESTS = ROOT / "tests" / "cpp"


@dataclass(frozen=True)
class Check:
    """Something that is to compile: a file, or text."""

    label: str
    command: list[str]
    text: str | None = None  # on stdin


def is_c_header(name: str) -> bool:
    """Return whether a public header is for C too: c_*.h and DLPack's are, all others are C++."""
    return Path(name).name.startswith("c_") or Path(name).name == "dlpack.h"


def cuda_include() -> Path | None:
    """Return the folder of CUDA's headers, if this machine has them."""
    named = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    nvcc = shutil.which("nvcc")
    beside = [Path(nvcc).resolve().parents[1]] if nvcc else []
    folders = [Path(home, "include") for home in (*named, *beside, "/usr/local/cuda")]
    return next((folder for folder in folders if (folder / "cuda_runtime.h").is_file()), None)


def alone(compiler: list[str], language: str, standard: str, header: str) -> Check:
    """Return the check that a header compiles by itself, and twice."""
    text = f"#include <{header}>\n#include <{header}>\nint not_empty;\n"
    return Check(f"{header} as {standard}", [*compiler, "-x", language, f"-std={standard}", "-"], text)


def checks(headers: list[str], clang: list[str] | None) -> Iterator[Check]:
    """Give all checks, without what is common to them."""
    for header in headers:
        if is_c_header(header):
            yield alone(find_c_compiler(), "c", "c11", header)
        yield alone(find_cxx_compiler(), "c++", "c++17", header)
    compilers = {"GCC": find_cxx_compiler(), **({"clang": [*clang, "--driver-mode=g++"]} if clang else {})}
    together = [header for header in headers if "/internal/" not in header]  # some of these stand for one another
    everything = "".join(f"#include <{header}>\n" for header in together) + "int not_empty;\n"
    for name, compiler in compilers.items():
        for standard, called in STANDARDS.items():
            command = [*compiler, f"-std={called}"]
            yield Check(f"all headers, {name} {standard}", [*command, "-x", "c++", "-"], everything)
            for test in sorted(TESTS.glob("test_*.cc")):
                yield Check(f"{test.name}, {name} {standard}", [*command, str(test)])


def run_headers(wheel: Path, log: Path) -> Result:
    """Compile the headers of the wheel: with GCC alone where no clang can be had."""
    try:
        clang = find_clang()
        without = ""
    except Missing as reason:
        clang = None
        without = f"; without clang: {reason}"
    failed: list[str] = []
    passed = 0
    with tempfile.TemporaryDirectory() as folder, log.open("w") as stream:
        zipfile.ZipFile(wheel).extractall(folder)
        include = Path(folder, "ffi_hpy", "include")
        headers = [path.relative_to(include).as_posix() for path in sorted(include.rglob("*.h"))]
        common = [*WARNINGS, "-fsyntax-only", f"-I{include}", *googletest_flags()[0]]
        cuda = cuda_include()
        if cuda is not None:
            common += ["-isystem", str(cuda)]
        else:
            headers = [header for header in headers if "/cuda/" not in header]
            without += "; without those for CUDA, which is not here"
        for check in checks(headers, clang):
            done = subprocess.run(
                [*check.command, *common],
                input=check.text,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            stream.write(f"{check.label}: exit status {done.returncode}\n{done.stdout}")
            stream.flush()
            if done.returncode == 0:
                passed += 1
            else:
                failed.append(check.label)
    closing = f"{passed} passed{without}" + (f", failed: {', '.join(failed)}" if failed else "")
    return Result("headers", "FAILED" if failed or not passed else "ok", passed, len(failed), 0, closing=closing)
