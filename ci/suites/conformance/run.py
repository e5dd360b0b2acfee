"""apache-tvm-ffi's own Python tests: selects the files, runs them, and compares the results with the exceptions."""

from __future__ import annotations

import argparse
import fnmatch
import time
from dataclasses import dataclass
from pathlib import Path

from ci.lib.command import parse_with_rest
from ci.lib.folders import LOGS, REQUIREMENTS, locked
from ci.lib.matrix import BY_NAME, MATRIX, names
from ci.lib.messages import Missing, say, table
from ci.lib.process import workers
from ci.provision.crates import cargo_environ, prebuild
from ci.provision.envs import cached_env, install_wheel, python_of
from ci.provision.interpreters import find_interpreters
from ci.provision.sdist import TVM_FFI, fetch_sdist
from ci.provision.wheel import build_wheel
from ci.suites.foreign import (
    COLUMNS,
    Allowance,
    Outcome,
    Record,
    counts_of,
    problems_of,
    read_allowances,
    run_suite,
    sum_reasons,
)

HERE = Path(__file__).resolve().parent
TORCH_ON = "cp311"
N_THREADS = 4
BUILDS_CRATES = "test_rust_static_init.py"
COMPILING_WORDS = ("load_inline", "build_inline", "cpp.build", "torch_c_dlpack", "nvrtc", "cargo")
"""A test file that contains one of these words compiles something."""


@dataclass(frozen=True)
class Row:
    """One interpreter, and how the tests run on it."""

    interpreter: str
    in_threads: bool
    is_short: bool = False

    @property
    def name(self) -> str:
        return self.interpreter + "-short" * self.is_short + "-threads" * self.in_threads

    @property
    def requirements(self) -> list[str | Path]:
        extra = ["torch.txt"] if self.interpreter == TORCH_ON and not self.is_short else []
        extra += ["threads.txt"] if self.in_threads else []
        return [REQUIREMENTS / name for name in ("conformance.txt", *extra)]

    @property
    def gil(self) -> str:
        return "off" if BY_NAME[self.interpreter].free_threaded else "on"


@dataclass
class FileOutcome(Outcome):
    """The result of one file on one interpreter."""

    gil: str = "-"


def compiles(path: Path) -> bool:
    """Return whether a test file compiles something."""
    return any(word in path.read_text() for word in COMPILING_WORDS)


def rust_environ(workspace: Path, env: Path) -> dict[str, str]:
    """Return the variables for tests that build upstream's crates; without network and Debian such tests skip
    themselves."""
    try:
        environ = cargo_environ(workspace, env)
    except Missing as reason:
        say(f"{BUILDS_CRATES}: {reason}")
        return {}
    prebuild(workspace, environ, "--package", "tvm-ffi", "--example", "static_init")  # a test may not take this long
    return environ


def run_file(row: Row, env: Path, tests: Path, file: str, allowances: list[Allowance], extra: list[str]) -> FileOutcome:
    """Run one file on one interpreter."""
    started = time.monotonic()
    command = [str(python_of(env)), "-m", "ffi_hpy.dropin", "-m", "pytest", "-v", "-p", "outcomes"]
    command += ["-p", "conformance_plugin", "-c", "/dev/null", f"--rootdir={tests}", "-p", "no:cacheprovider"]
    command += ["--timeout=300", "--timeout-method=signal"]
    command += [f"--parallel-threads={N_THREADS}"] if row.in_threads else []
    environ = {"CONFORMANCE_IN_ONE_THREAD": "\n".join(a.test for a in allowances if a.is_for_threads)}
    if file == BUILDS_CRATES:
        environ |= rust_environ(tests.parents[1] / "rust", env)
    log = LOGS / f"conformance-{row.name}-{Path(file).stem}.log"
    done = run_suite([*command, file, *extra], log, [HERE / "plugin"], environ, tests)
    outcome = FileOutcome(file, problem=done.problem, seconds=time.monotonic() - started)
    return outcome if done.record is None else judge(outcome, done.record, allowances, row.gil)


def judge(outcome: FileOutcome, record: Record, allowances: list[Allowance], gil: str) -> FileOutcome:
    """Count the results of a file whose run completed."""
    outcome.judge(record["outcomes"], allowances)
    outcome.gil = record["gil"]
    if outcome.gil != gil:
        outcome.problem = f"the GIL is {outcome.gil} at the end"
    return outcome


def run(row: Row, python: Path, wheel: Path, tests: Path, files: list[str], extra: list[str]) -> list[FileOutcome]:
    """Run the files on one interpreter, two at a time. Raises Missing."""
    env = cached_env(f"conformance-{row.name}", python, row.requirements)
    allowances = read_allowances(HERE / "exceptions.txt", row.name)
    with locked(env.with_name(f".{env.name}.use.lock")), workers(2) as pool:
        install_wheel(env, wheel)
        left_out = {file: a for file in files for a in allowances if a.test == file}
        outcomes = [FileOutcome(file) for file in left_out]
        for outcome in outcomes:
            outcome.leave_out(left_out[outcome.file])
        wanted = [file for file in files if file not in left_out]
        outcomes += pool.map(lambda file: run_file(row, env, tests, file, allowances, extra), wanted)
    return sorted(outcomes, key=lambda outcome: outcome.file)


def report(name: str, outcomes: list[FileOutcome]) -> bool:
    """Print the table of one interpreter and the failures; return whether all results are as expected."""
    rows: list[list[object]] = [[name, *COLUMNS, "GIL", "time"]]
    rows += [[o.file, *counts_of([o]), o.gil, f"{o.seconds:.0f} s"] for o in outcomes]
    print(table([*rows, ["all", *counts_of(outcomes), "", ""]]))
    print("".join(f"{name}: {line}\n" for line in problems_of(outcomes)), flush=True)
    return not any(o.failed or o.problem for o in outcomes) and any(o.counts["passed"] for o in outcomes)


def summarise(results: dict[str, list[FileOutcome]]) -> None:
    """Print the table of all interpreters; and for each reason the number of excepted tests and of interpreters."""
    rows: list[list[object]] = [["NAME", *COLUMNS, "problems", "GIL", "time"]]
    for name, outcomes in results.items():
        gils = ", ".join(sorted({o.gil for o in outcomes} - {"-"}))
        problems, seconds = sum(bool(o.problem) for o in outcomes), sum(o.seconds for o in outcomes)
        rows.append([name, *counts_of(outcomes), problems, gils, f"{seconds:.0f} s"])
    print(table(rows))
    print("".join(f"{line}\n" for line in sum_reasons(results)), end="")
    counts = counts_of([o for outcomes in results.values() for o in outcomes])
    print(f"ci/conformance: {', '.join(f'{n} {column}' for n, column in zip(counts, COLUMNS))}")


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--file", default="*", metavar="PATTERN")
    arguments, extra = parse_with_rest(parser)
    default = [i.name for i in MATRIX if i.free_threaded and i.joined] if arguments.threads else []
    rows = [Row(name, arguments.threads, arguments.short) for name in names(arguments.names or default)]
    wheel, tests = build_wheel(), fetch_sdist(TVM_FFI, "conformance") / "tests" / "python"
    files = [str(path.relative_to(tests)) for path in sorted(tests.rglob("test_*.py"))]
    files = [file for file in files if fnmatch.fnmatch(file, arguments.file)]
    if arguments.short:
        files = [file for file in files if not compiles(tests / file)]
    pythons = find_interpreters([row.interpreter for row in rows])
    LOGS.mkdir(parents=True, exist_ok=True)
    results: dict[str, list[FileOutcome]] = {}
    is_good = True
    for row in rows:
        if row.interpreter not in pythons:
            print(f"{row.name}: PROBLEM: ci/interpreters cannot provide it, see above")
            is_good = False
            continue
        results[row.name] = run(row, pythons[row.interpreter], wheel, tests, files, extra)
        is_good = report(row.name, results[row.name]) and is_good
    summarise(results)
    return 0 if is_good else 1
