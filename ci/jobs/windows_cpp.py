"""The job that compiles the tests of the C++ headers (tests/cpp) for Windows, and runs them under Wine."""

from __future__ import annotations

import subprocess
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ci.jobs.headers import TESTS
from ci.jobs.inspection import INSPECTED
from ci.jobs.result import Result
from ci.lib.process import clean_environ, output_of
from ci.provision.googletest import googletest_sources
from ci.provision.wheel import quick_wheel
from ci.provision.wine import windows_compiler, wine_runner

NAME = "cpp-windows"
LEFT_OUT = ("KindsThatCppDerivesAnswerEverybody", "ImportsAreAskedWhereThereIsNoAnswer")
"""Tests of C++ classes of modules: the core finds such classes through libtvm_ffi_cxx, which does not exist for
Windows."""
AT_ONCE = 2


def _compile(folder: Path, include: Path) -> list[Path]:
    """Return the object files of the tests and of GoogleTest. Raises Missing if one does not compile."""
    googletest = googletest_sources()
    words = [*windows_compiler("c++"), "-std=c++17", "-O1", f"-I{include}", "-isystem", googletest / "include"]
    own = [googletest / "src" / f"gtest{part}.cc" for part in ("-all", "_main")]

    def compile_one(source: Path) -> Path:
        made = folder / f"{source.stem}.o"
        output_of([*words, *([f"-I{googletest}"] if source in own else []), "-c", source, "-o", made])
        return made

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(compile_one, [*own, *sorted(TESTS.glob("test_*.cc"))]))


def run_windows_cpp(_: Path, log: Path) -> Result:
    """Run the tests of the C++ headers on the core for Windows."""
    wine = wine_runner()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with zipfile.ZipFile(quick_wheel(INSPECTED["x86_64-windows"], folder)) as archive:
            archive.extractall(folder / "wheel")
        package = folder / "wheel" / "ffi_hpy"
        program = package / "lib" / "tests.exe"  # next to the core, because the loader looks there
        objects = _compile(folder, package / "include")
        output_of([*windows_compiler("c++"), *objects, f"-L{package / 'lib'}", "-ltvm_ffi", "-o", program])
        done = subprocess.run(
            [wine, program, "--gtest_brief=1", "--gtest_filter=-" + ":".join(f"*.{name}" for name in LEFT_OUT)],
            env=clean_environ(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=600,
        )
    said = done.stdout + done.stderr
    log.write_text(said)
    passed = next((int(line.split()[3]) for line in said.splitlines() if line.startswith("[  PASSED  ]")), 0)
    is_ok = done.returncode == 0 and passed > 0
    closing = f"{passed} passed, {len(LEFT_OUT)} left out" if is_ok else said[-2000:]
    return Result(NAME, "ok" if is_ok else "FAILED", passed, 0 if is_ok else 1, len(LEFT_OUT), closing=closing)
