"""The jobs of ci/test that run pytest: the interpreters, the options and the folders; and one run."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ci.jobs.elsewhere import left_out
from ci.jobs.result import Result
from ci.lib.folders import REQUIREMENTS, ROOT, locked
from ci.lib.matrix import BY_NAME, FOREIGN, MATRIX, Interpreter
from ci.lib.messages import Missing, say
from ci.lib.process import LONGEST_SECONDS, clean_environ, closing_line, run_logged
from ci.provision.cross import environ_for
from ci.provision.envs import bytecode_of, cached_env, install_wheel, python_of
from ci.provision.everywhere import everywhere_to_test
from ci.provision.wheel import hpy_include, wheel_for
from ci.provision.wheel_runs import note_run

RUNNER = Path(__file__).resolve().with_name("run_pytest.py")
TEST_SECONDS = 300


@dataclass(frozen=True)
class PytestRun:
    """One run of pytest: its interpreter, options and folders."""

    name: str
    interpreter: str
    gil: str = "on"  # the GIL's state at the end, as for run_pytest.py
    requirements: str = "test.txt"
    arguments: tuple[str, ...] = ()
    environ: dict[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ("tests/python", "tests/hpy", "tests/hpy_runtime")
    is_default: bool = True  # False: runs only by name
    test_seconds: int = TEST_SECONDS
    seconds: float = LONGEST_SECONDS
    is_everywhere: bool = False  # whether it uses the wheel for every system
    in_parts: bool = False  # whether each area of the tests has a separate process


ONE_OF_EACH = ("cp311", "cp314t", "pp80")
"""An interpreter of each kind: with the GIL, free-threaded, PyPy."""
MARKS = {"once": ("cp311",), "one_of_each": ONE_OF_EACH, "same_everywhere": ("cp39", *ONE_OF_EACH)}
"""The interpreters that run the tests with a mark; tests/README.md explains the marks."""


def without(*marks: str) -> tuple[str, ...]:
    """Return the options that deselect the tests with these marks; pytest's last line has the number of these tests."""
    return ("-m", " and ".join(f"not {mark}" for mark in marks)) if marks else ()


FUZZ_SECONDS, SHORT_FUZZ_SECONDS = 15, 6
"""The fuzzing time of the Python API on ONE_OF_EACH, and on the others."""

FORKS, FEWER_FORKS = 400, 100
"""The forks while threads are busy, on ONE_OF_EACH and on the others."""

EVERYWHERE_IN_DOCS = tuple(f"tests/docs/test_python_{what}.py" for what in ("docstrings", "pages"))
"""The tests of the documentation for users of Python."""


def plain_run(interpreter: Interpreter) -> PytestRun:
    """Return the run of all tests for an interpreter."""
    gil = "off" if interpreter.free_threaded else "on"
    is_longer = interpreter.name in ONE_OF_EACH
    fuzz_seconds, forks = (FUZZ_SECONDS, FORKS) if is_longer else (SHORT_FUZZ_SECONDS, FEWER_FORKS)
    return PytestRun(
        interpreter.name,
        interpreter.name,
        gil,
        arguments=without(*(mark for mark, names in MARKS.items() if interpreter.name not in names)),
        environ={"FFI_HPY_FORKS": str(forks), "FFI_HPY_FUZZ_SECONDS": str(fuzz_seconds)},
        folders=(*PytestRun.folders, "tests/fuzz_python", *EVERYWHERE_IN_DOCS),
        in_parts=interpreter.implementation == "pypy",  # its collections take longer the larger the process is
    )


OF_THE_BINDING = tuple(
    f"tests/python/{area}"
    for area in (
        "bind",
        "calls",
        "classes",
        "containers",
        "errors",
        "modules",
        "objects",
        "package",
        "process",
        "tensors",
    )
)
"""The tests that call the binding, for the debug modes: all of tests/python except the tests of the tools that
build."""


def own_debug_run(interpreter: str, gil: str, is_default: bool = True) -> PytestRun:
    """Return the run of the binding's tests in our runtime's debug mode: a handle that stays open fails its test."""
    return PytestRun(
        f"{interpreter}-handles",
        interpreter,
        gil,
        arguments=without(*MARKS),
        environ={"FFI_HPY_DEBUG": "1"},
        folders=OF_THE_BINDING,
        is_default=is_default,
    )


STARTS_PROGRAMS = ("-o", "thread_unsafe_functions=subprocess.*")
"""Makes pytest-run-parallel skip tests that start programs. The plugin finds such tests by the calls in a test and in
its helpers."""


def threads_run(interpreter: str, folders: tuple[str, ...] = PytestRun.folders, is_default: bool = True) -> PytestRun:
    """Return the run of all tests, or of the tests in some folders, in four threads each.

    Tests that need one thread, and tests that start programs, are skipped: the interpreter's own run has them.
    """
    is_short = folders != PytestRun.folders
    return PytestRun(
        f"{interpreter}-threads-short" if is_short else f"{interpreter}-threads",
        interpreter,
        gil="off",
        requirements="threads.txt",
        arguments=("--parallel-threads=4", "--skip-thread-unsafe=1", *STARTS_PROGRAMS, *without(*MARKS)),
        folders=folders,
        is_default=is_default,
    )


MOST_SHARED = ("tests/hpy_runtime", *(f"tests/python/{area}" for area in ("calls", "containers", "errors", "objects")))
"""The tests of the state that threads share most: calls, objects and the runtime's handles."""

ELSEWHERE_SHORT = (
    *(f"tests/python/{tests}.py" for tests in ("calls/test_function", "calls/test_convert", "errors/test_error")),
    *(f"tests/python/{tests}.py" for tests in ("containers/test_container", "process/test_threads")),
    "tests/hpy_runtime/test_hpy_runtime.py",
)
"""The tests of features that every program uses, and of code that depends on the processor or the C library."""
TOO_LONG_FOR_SHORT = (
    "tests/hpy_runtime/test_hpy_runtime.py::test_stress_with_a_collection_at_every_allocation",
    "tests/python/containers/test_container.py::test_containers_work_with_another_core",
    "tests/python/containers/test_container.py::test_numbers_are_printed_alike_in_every_locale",
    "tests/python/containers/test_container.py::test_threads_that_change_one_dict_lose_nothing",
    "tests/python/process/test_threads.py::test_an_error_of_a_locked_list_ends_the_one_before_it_outside_of_the_lock",
)
"""Tests that a short run skips: they take a third of its time where PyPy is emulated."""
CONTAINERS = "tests/python/containers/test_container.py"
"""A short run of an emulated PyPy leaves it out, too: core-arm64 and the emulated CPythons test these containers."""
NO_WHEELS = ("riscv64-cp313",)
"""Interpreters for which NumPy has no wheels."""


def foreign_run(interpreter: Interpreter, is_short: bool = False) -> PytestRun:
    """Return the run of all tests, or of a short part, on a foreign machine or with a foreign C library.

    An emulated machine takes ten times as long as this one, or more.
    """
    too_long = TOO_LONG_FOR_SHORT if is_short else ()
    if is_short and interpreter.implementation == "pypy":
        too_long += (CONTAINERS,)
    return PytestRun(
        f"{interpreter.name}-short" if is_short else interpreter.name,
        interpreter.name,
        requirements="pure.txt" if is_short or interpreter.name in NO_WHEELS else "test.txt",
        arguments=(
            *without("once", "one_of_each"),
            *left_out(interpreter.name),
            *map("--deselect={}".format, too_long),
        ),
        environ={"FFI_HPY_FORKS": "20"},
        folders=ELSEWHERE_SHORT if is_short else PytestRun.folders,
        is_default=is_short,
        test_seconds=1800,
        seconds=4 * 3600,
    )


def docs_run(name: str, interpreter: str, is_default: bool = True) -> PytestRun:
    """Return the run of the code in all pages; the pages mark the differences between interpreters.

    Compilers take most of the time, the same on each interpreter.
    """
    gil = "off" if BY_NAME[interpreter].free_threaded else "on"
    return PytestRun(name, interpreter, gil, "docs.txt", folders=("tests/docs",), is_default=is_default)


EVERYWHERE = (
    *(f"tests/python/{tests}.py" for tests in ("calls/test_function", "package/test_import", "building/test_libinfo")),
    *("tests/python/building/test_cpp_inline.py", "tests/hpy/test_hpy.py", "tests/python/package/test_system.py"),
)
"""The tests of finding the binaries: imports, the command for compilers, builds at run time. An emulated machine runs
only the last file, which tests the choice itself."""


def everywhere_run(name: str, is_default: bool = False) -> PytestRun:
    """Return the run of some tests on the wheel for every system."""
    interpreter = BY_NAME[name]
    return PytestRun(
        f"{name}-everywhere",
        name,
        gil="off" if interpreter.free_threaded else "on",
        arguments=left_out(name),
        folders=EVERYWHERE[-1:] if interpreter.machine else EVERYWHERE,
        is_default=is_default,
        test_seconds=1800 if interpreter.machine else TEST_SECONDS,
        is_everywhere=True,
    )


OVER_CFFI = (
    *(f"tests/python/{area}" for area in ("bind", "calls", "classes", "containers", "errors", "modules")),
    *(f"tests/python/{area}" for area in ("objects", "process", "tensors", "package/test_calls.py")),
)
"""The tests of code that the cffi backend has, too. Builds, stubs and installations do not depend on the backend."""

PYTEST_RUNS = (
    *map(plain_run, MATRIX),
    *map(foreign_run, FOREIGN),
    *(foreign_run(interpreter, is_short=True) for interpreter in FOREIGN),
    everywhere_run("cp311", is_default=True),
    everywhere_run("arm64-cp313", is_default=True),
    *map(everywhere_run, ("cp39", "cp314t", "pp73", "pp80", "musl-cp313")),
    own_debug_run("cp311", gil="on"),
    own_debug_run("cp313", gil="on", is_default=False),
    own_debug_run("cp313t", gil="off", is_default=False),
    own_debug_run("cp314t", gil="off", is_default=False),
    threads_run("cp313t", is_default=False),
    threads_run("cp313t", MOST_SHARED),
    threads_run("cp314t"),
    PytestRun(
        "cp311-debug",
        "cp311",
        requirements="debug.txt",
        arguments=without(*MARKS),
        environ={"FFI_HPY_CONTEXT": "debug"},
        folders=OF_THE_BINDING,
    ),
    PytestRun(
        "cp311-cffi",
        "cp311",
        requirements="cffi.txt",
        environ={"FFI_HPY_CFFI": "1"},
        folders=OVER_CFFI,
        is_default=False,  # it takes several minutes, and PyPy tests the same code
    ),
    PytestRun(
        "cp311-torch",
        "cp311",
        requirements="torch.txt",
        arguments=("-k", "torch"),
        folders=("tests/python",),
    ),
    PytestRun("cp311-mixed", "cp311", requirements="mixed.txt", folders=("tests/mixed",)),
    docs_run("docs", "cp311"),
    docs_run("docs-cp313t", "cp313t", is_default=False),
    docs_run("docs-pp73", "pp73", is_default=False),
    PytestRun("cp311-typing", "cp311", requirements="typing.txt", folders=("tests/typing",)),
    PytestRun("ci", "cp39", folders=("tests/ci",)),
)


def run_pytest(plan: PytestRun, python: Path, extra: list[str], wheel: Path, log: Path) -> Result:
    """Install the wheel (or the wheel for the interpreter's machine) into the run's environment, and run pytest
    there."""
    env, interpreter = test_env(plan, python), BY_NAME[plan.interpreter]
    with locked(env.with_name(f".{env.name}.use.lock")), tempfile.TemporaryDirectory() as folder:
        if plan.is_everywhere:
            wheel = everywhere_to_test(wheel, Path(folder, "wheel"))
        elif interpreter.machine:
            wheel = wheel_for(interpreter)
        install_wheel(env, wheel)
        empty = Path(folder, "empty")
        empty.mkdir()
        path = f"{env / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        found = environ_for(interpreter, path)
        own = {"HPY_INCLUDE": str(hpy_include()), "PYTHONPYCACHEPREFIX": str(bytecode_of(env))}
        environ = clean_environ({**found, **own, **plan.environ})
        parts = []
        for number, folders in enumerate(parts_of(plan)):
            summary, part_log = Path(folder, f"{number}.json"), log.with_suffix(f".{number}.log")
            command = [str(python_of(env)), str(RUNNER), str(summary), plan.gil]
            # pytest's own folder is shared by all processes, and cleaning it fails where another one cleans it, too
            command += [f"--basetemp={folder}/tests", *pytest_arguments(plan, folders), *extra]
            status = run_logged(command, part_log, environ, empty, plan.seconds)
            text = part_log.read_text(errors="replace")
            parts.append(Part(status, json.loads(summary.read_text()) if summary.exists() else {}, text))
            part_log.unlink()
        parts.sort(key=Part.is_bad)  # the end of the log is shown after a failure
        log.write_text("".join(part.log for part in parts))
        result = result_of(plan.name, parts)
        if not extra:  # a selection of tests does not prove the wheel
            note_run(wheel, plan.name, result.outcome == "ok")
    return result


NOTHING_SELECTED = 5
"""pytest's exit status where no test is selected."""


@dataclass(frozen=True)
class Part:
    """One process of a run."""

    status: int
    record: dict[str, Any]  # of run_pytest.py; empty if the process did not come to its end
    log: str

    def is_bad(self) -> bool:
        return self.status not in (0, NOTHING_SELECTED)


def parts_of(plan: PytestRun) -> list[list[str]]:
    """Return the folders, or test files, of each process of a run."""
    folders = [ROOT / folder for folder in plan.folders if (ROOT / folder).exists()]
    if not folders:
        raise Missing(f"missing: {', '.join(plan.folders)}")
    if not plan.in_parts:
        return [list(map(str, folders))]
    areas = [sorted({test.parent for test in folder.glob("*/test_*.py")}) for folder in folders]
    whole = [folder for folder, found in zip(folders, areas) if not found]
    return [*([str(area)] for found in areas for area in found), list(map(str, whole))]


def result_of(name: str, parts: list[Part]) -> Result:
    """Return the result of a run. A part may be without a selected test, but not each part."""
    is_good = any(part.status == 0 for part in parts) and not any(map(Part.is_bad, parts))
    closings = [closing_line(part.log, part.status) for part in parts if part.is_bad() or len(parts) == 1]
    records = [part.record for part in parts if part.record]
    counts = {
        column: sum(record[column] for record in records) if records else None
        for column in ("passed", "failed", "skipped")
    }
    if len(parts) > 1:
        words = ", ".join(f"{count} {column}" for column, count in counts.items())
        closings.insert(0, f"{words} in {len(parts)} processes")
    gil = records[0]["gil"] if records else "-"
    return Result(name, "ok" if is_good else "FAILED", **counts, gil=gil, closing="; ".join(closings))


def pytest_arguments(plan: PytestRun, folders: list[str]) -> list[str]:
    timeout = [f"--timeout={plan.test_seconds}", "--timeout-method=thread"]  # also stops a hang in C
    config = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), "-p", "no:cacheprovider"]
    return [*config, "-v", "--durations=40", *timeout, *plan.arguments, *folders]


def test_env(plan: PytestRun, python: Path) -> Path:
    """Return the run's environment, without the wheel. Raises Missing."""
    requirements = REQUIREMENTS / plan.requirements
    label = f"test-{plan.name}"
    try:
        return cached_env(label, python, [requirements])
    except Missing as reason:
        if "torch" not in plan.requirements:
            raise
        # PyPI has no CPU-only build of PyTorch; uv knows PyTorch's own index.
        say(f"{plan.name}: {reason}; trying PyTorch's own index ...")
        return cached_env(label, python, ["--torch-backend=cpu", requirements])
