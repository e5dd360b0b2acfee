"""What ci/test can run: C tests, checks of headers and exports, and pytest on an interpreter. Each gives a Result."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from envs import (
    ROOT,
    Missing,
    cached_env,
    clean_environ,
    find_c_compiler,
    find_cxx_compiler,
    install_wheel,
    last_line,
    locked,
    python_of,
)
from exports import RULES, check_exports
from matrix import MATRIX, Interpreter, say

LOGS = ROOT / "build" / "test-logs"
JOB_SECONDS = 1500
TEST_SECONDS = 300


@dataclass(frozen=True)
class Result:
    """One line of the table. Counts are None where there are none to give."""

    name: str
    outcome: str  # ok, FAILED, missing, or missing (allowed)
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    gil: str = "-"
    seconds: float = 0.0
    closing: str = ""  # the runner's last words

    @property
    def is_good(self) -> bool:
        return self.outcome in ("ok", "missing (allowed)")


# --- processes ------------------------------------------------------------------------------------------------------

_running: set[subprocess.Popen[bytes]] = set()
_is_stopping = threading.Event()


@contextlib.contextmanager
def workers(n: int) -> Iterator[ThreadPoolExecutor]:
    """Threads for jobs. What goes wrong here, Ctrl-C too, ends at once what they run, and they begin nothing more."""
    with ThreadPoolExecutor(n) as pool:
        try:
            yield pool
        except BaseException:
            stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def check_going_on() -> None:
    """For jobs that run many short commands, before each. Raises Missing if everything is being stopped."""
    if _is_stopping.is_set():
        raise Missing("stopped")


def run_logged(
    command: list[str], log: Path, environ: dict[str, str], cwd: Path, seconds: float | None = JOB_SECONDS
) -> int:
    """Run `command` with its output in `log` and return its exit status; what takes longer than `seconds` is killed.

    Raises Missing if everything is being stopped.
    """
    check_going_on()
    with log.open("wb") as stream:
        child = subprocess.Popen(
            command,
            cwd=cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        _running.add(child)
        if _is_stopping.is_set():  # it has begun meanwhile
            kill(child)
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            kill(child)
            stream.write(f"\nkilled after {seconds:g} s\n".encode())
            return child.wait()
        except BaseException:
            kill(child)
            raise
        finally:
            _running.discard(child)


def kill(child: subprocess.Popen[bytes]) -> None:
    """Kill a child that runs in a session of its own, with its children."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stop() -> None:
    """Kill whatever run_logged has running, and let it begin nothing more."""
    _is_stopping.set()
    for child in list(_running):
        kill(child)


# --- the C tests ----------------------------------------------------------------------------------------------------


CORE_MODES = ("plain", "pending", "asan", "ubsan", "tsan", "arm64", "oom", "fuzz")


def run_core(mode: str, wheel: Path, log: Path) -> Result:
    """Run the C tests in one of ci/core's modes."""
    find_c_compiler()
    status = run_logged([sys.executable, str(ROOT / "ci" / "core"), mode], log, clean_environ(), ROOT)
    text = log.read_text(errors="replace")
    return Result(
        f"core-{mode}",
        "ok" if status == 0 else "FAILED",
        passed=count(text, "passed"),
        failed=count(text, "failed"),
        skipped=count(text, "skipped"),
        closing=closing_line(text, status),
    )


def count(text: str, word: str) -> int | None:
    """Return the number in the last `NUMBER word` of a runner's output, if it says one."""
    found = re.findall(rf"(\d+) {word}\b", text)
    return int(found[-1]) if found else None


def closing_line(text: str, status: int) -> str:
    """Return a runner's last line, and how it ended where that is not in the line."""
    words = last_line(text).strip("= ")
    if status < 0:
        fatal = re.search(r"^.*Fatal Python error: .*$", text, re.MULTILINE)  # after the name of the test
        words = fatal[0] if fatal else words
        return f"{words} [killed by {signal.Signals(-status).name}]"
    return words


# --- scripts that take the wheel ------------------------------------------------------------------------------------


def run_cpp(wheel: Path, log: Path) -> Result:
    """Run the tests of the C++ headers."""
    return run_script("cpp", [str(wheel)], log)


def run_packaging(wheel: Path, log: Path) -> Result:
    """Build the packaging examples and run their tests."""
    return run_script("packaging", ["--wheel", str(wheel)], log)


SOAKED = ("cp311", "cp313t")


def run_soak(wheel: Path, log: Path) -> Result:
    """Repeat each operation of the soak for a moment. It builds no wheel: this one is up to date."""
    return run_script("soak", [*SOAKED, "--minutes", "0.25"], log)


def run_script(name: str, arguments: list[str], log: Path) -> Result:
    """Run a ci script that needs a compiler and says in its last line how many tests passed and failed."""
    find_cxx_compiler()
    status = run_logged([sys.executable, str(ROOT / "ci" / name), *arguments], log, clean_environ(), ROOT)
    text = log.read_text(errors="replace")
    outcome = "ok" if status == 0 else "FAILED"
    return Result(name, outcome, count(text, "passed"), count(text, "failed"), closing=closing_line(text, status))


# --- the libraries' exports ------------------------------------------------------------------------------------------


def run_exports(wheel: Path, log: Path) -> Result:
    """Compare what the wheel's libraries export with the lists."""
    lines, faults = check_exports(wheel)
    log.write_text("\n".join([*lines, *faults, ""]))
    n_bad = len({fault.partition(":")[0] for fault in faults})
    outcome = "FAILED" if faults else "ok"
    return Result("exports", outcome, len(RULES) - n_bad, n_bad, 0, closing="; ".join(faults or lines))


# --- pytest ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PytestRun:
    """One run of pytest: where, with what, on which folders."""

    name: str
    interpreter: str
    gil: str = "on"  # what must hold at the end, as for ci/run_pytest.py
    requirements: str = "requirements-test.txt"
    arguments: tuple[str, ...] = ()
    environ: dict[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ("tests/python", "tests/hpy", "tests/hpy_runtime")
    is_default: bool = True  # False: only when asked for by name


def plain_run(interpreter: Interpreter) -> PytestRun:
    """Return the run of all tests that concern an interpreter: our HPy runtime is for those without one."""
    gil = "off" if interpreter.free_threaded else "on"
    folders = ("tests/python", "tests/hpy") if interpreter.needs_module == "_hpy_universal" else PytestRun.folders
    return PytestRun(
        interpreter.name,
        interpreter.name,
        gil,
        environ={"FFI_HPY_FORKS": "500"},
        folders=(*folders, "tests/fuzz_python", "tests/docs/test_python_pages.py"),
    )


def own_debug_run(interpreter: str, gil: str, is_default: bool = True) -> PytestRun:
    """Return the run of the binding's tests in our runtime's debug mode: a handle that stays open fails its test."""
    return PytestRun(
        f"{interpreter}-handles",
        interpreter,
        gil,
        environ={"FFI_HPY_DEBUG": "1"},
        folders=("tests/python",),
        is_default=is_default,
    )


PYTEST_RUNS = (
    *map(plain_run, MATRIX),
    own_debug_run("cp311", gil="on"),
    own_debug_run("cp313", gil="on", is_default=False),
    own_debug_run("cp313t", gil="off"),
    PytestRun(
        "cp313t-threads",
        "cp313t",
        gil="off",
        requirements="requirements-threads.txt",
        arguments=("--parallel-threads=4",),
    ),
    PytestRun(
        "cp311-debug",
        "cp311",
        requirements="requirements-debug.txt",
        environ={"FFI_HPY_CONTEXT": "debug"},
        folders=("tests/python",),
    ),
    PytestRun(
        "cp311-torch",
        "cp311",
        requirements="requirements-torch.txt",
        arguments=("-k", "torch"),
        folders=("tests/python",),
    ),
    PytestRun("cp311-mixed", "cp311", requirements="requirements-mixed.txt", folders=("tests/mixed",)),
    PytestRun("docs", "cp311", requirements="requirements-docs.txt", folders=("tests/docs",)),
    PytestRun("cp311-typing", "cp311", requirements="requirements-typing.txt", folders=("tests/typing",)),
)


def run_pytest(plan: PytestRun, python: Path, extra: list[str], wheel: Path, log: Path) -> Result:
    """Install the wheel into the run's environment and run pytest there."""
    env = test_env(plan, python)
    with locked(env.with_name(f".{env.name}.use.lock")), tempfile.TemporaryDirectory() as folder:
        install_wheel(env, wheel)
        summary, empty = Path(folder, "summary.json"), Path(folder, "empty")
        empty.mkdir()
        command = [str(python_of(env)), str(ROOT / "ci" / "run_pytest.py"), str(summary), plan.gil]
        command += [*pytest_arguments(plan), *extra]
        path = f"{env / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        environ = clean_environ({"PATH": path, "HPY_INCLUDE": str(hpy_include()), **plan.environ})
        status = run_logged(command, log, environ, empty)
        record = json.loads(summary.read_text()) if summary.exists() else {}
    return Result(
        plan.name,
        "ok" if status == 0 else "FAILED",
        record.get("passed"),
        record.get("failed"),
        record.get("skipped"),
        record.get("gil", "-"),
        closing=closing_line(log.read_text(errors="replace"), status),
    )


def hpy_include() -> Path:
    """Return the folder of the hpy headers that the wheel was built with. Raises Missing."""
    sys.path.insert(0, str(ROOT))
    from tools.build.errors import BuildError
    from tools.build.hpy_headers import find_hpy_devel

    try:
        return find_hpy_devel(ROOT / "build") / "include"
    except BuildError as reason:
        raise Missing(str(reason)) from None


def pytest_arguments(plan: PytestRun) -> list[str]:
    folders = [str(ROOT / folder) for folder in plan.folders if (ROOT / folder).exists()]
    if not folders:
        raise Missing(f"there is no {' and no '.join(plan.folders)}")
    timeout = [f"--timeout={TEST_SECONDS}", "--timeout-method=thread"]  # a hang in C ends too
    config = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), "-p", "no:cacheprovider", "-v"]
    return [*config, *timeout, *plan.arguments, *folders]


def test_env(plan: PytestRun, python: Path) -> Path:
    """Return the run's environment, without the wheel. Raises Missing."""
    requirements = ROOT / "ci" / plan.requirements
    label = f"test-{plan.name}"
    try:
        return cached_env(label, python, [requirements])
    except Missing as reason:
        if "torch" not in plan.requirements:
            raise
        # PyPI has no build of PyTorch for the CPU alone; uv knows where there is one.
        say(f"{plan.name}: {reason}; trying PyTorch's own index ...")
        return cached_env(label, python, ["--torch-backend=cpu", requirements])
