"""nanobind's own tests: compiles their libraries with our headers, runs them, and compares the results with the
exceptions."""

from __future__ import annotations

import argparse
import functools
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.command import parse_with_rest
from ci.lib.folders import LOGS, REQUIREMENTS
from ci.lib.matrix import BY_NAME, names
from ci.lib.messages import Missing, say, table
from ci.provision.envs import cached_env, python_of
from ci.provision.interpreters import find_interpreters
from ci.provision.sdist import fetch_sdist
from ci.provision.wheel import TARGET_OF_MACHINE, tested_wheel
from ci.suites.cpp.programs import unpack_wheel
from ci.suites.foreign import (
    COLUMNS,
    Allowance,
    Outcome,
    counts_of,
    problems_of,
    read_allowances,
    run_suite,
    sum_reasons,
)
from ci.suites.nanobind.libraries import FOLDER, Builder

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).resolve().parent
RELEASE = "nanobind==3.1.0"
DEFAULT = ["cp311"]
TORCH, MLX = "torch==2.13.0+cpu", "mlx[cpu]==0.32.4"
SUITE = (
    *("abi", "accessor", "callbacks", "chrono", "classes", "eigen", "eigen_tensor", "enum", "eval", "exception"),
    *("foreign", "functions", "holders", "inter_module", "intrusive", "issue", "make_iterator", "ndarray"),
    *("specialization", "stl", "stl_bind_map", "stl_bind_vector", "stubgen", "stubs", "thread", "typing"),
)
"""The test files, by their names without test_."""
QUICK = ("eval", "issue", "make_iterator")
"""The files of --short, which compile in seconds."""
STUBGEN = "_nanobind/stubgen.py"
"""The file in the package that nanobind's tests of its stub generator import from the folder of the tests."""
WITH_TORCH = ("cp311", "ndarray")
"""The interpreter whose environment has PyTorch, which is large, and MLX, and the test file that uses them."""


@dataclass(frozen=True)
class Row:
    """One interpreter of the table, and the package that it uses."""

    name: str
    python: Path  # of its environment
    package: Path

    @functools.cached_property
    def allowances(self) -> list[Allowance]:
        """The entries of exceptions.txt for it."""
        return read_allowances(HERE / "exceptions.txt", self.name)

    def leaves_out(self, outcome: Outcome) -> bool:
        """Count the test file of an outcome as one exception if the list has the whole file."""
        entry = next((allowance for allowance in self.allowances if allowance.test == outcome.file), None)
        if entry is not None:
            outcome.leave_out(entry)
        return entry is not None

    def run(self, outcome: Outcome, tests: Path, libraries: list[Path], extra: list[str]) -> None:
        """Run the test file of an outcome, in a folder with its libraries."""
        started = time.monotonic()
        command = [str(self.python), "-m", "pytest", "-v", "-p", "outcomes", "-p", "nanobind_plugin"]
        command += ["-p", "no:cacheprovider", "-c", "/dev/null", "--timeout=300", "--timeout-method=signal"]
        log = LOGS / f"nanobind-suite-{self.name}-{Path(outcome.file).stem}.log"
        with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
            for file in (*tests.glob("*.py"), *libraries, self.package / STUBGEN):
                shutil.copy(file, scratch)
            command += [f"--rootdir={scratch}", outcome.file, *extra]
            done = run_suite(command, log, [HERE / "plugin", self.package.parent], {}, Path(scratch))
        outcome.problem, outcome.seconds = done.problem, time.monotonic() - started
        if done.record is not None:
            outcome.judge(done.record["outcomes"], self.allowances)
            if done.record["gil"] != ("off" if BY_NAME[self.name].free_threaded else "on"):
                outcome.problem = f"the GIL is {done.record['gil']} at the end"


def find_tests(sources: Path | None) -> Path:
    """Return the folder of nanobind's tests, in a copy of its repository or in its sdist. Raises Missing."""
    tests = (sources or fetch_sdist(RELEASE, "nanobind-suite")) / "tests"
    if not tests.is_dir():
        raise Missing(f"{tests} is not there; --sources names a copy of nanobind's repository")
    return tests


def make_env(name: str, python: Path, tests: Sequence[str]) -> Path:
    """Return the environment of an interpreter for test files. Raises Missing."""
    needed: list[str | Path] = [REQUIREMENTS / "nanobind-suite.txt"]
    interpreter, test = WITH_TORCH
    if name == interpreter and test in tests:
        for index in ([], ["--torch-backend=cpu"]):  # PyPI has no CPU-only build; uv knows PyTorch's own index
            try:
                return cached_env(f"nanobind-suite-{name}-torch", python, [*index, *needed, TORCH, MLX])
            except Missing as reason:
                say(f"{name}: PyTorch and MLX, which some tests need, cannot be installed: {reason}")
    return cached_env(f"nanobind-suite-{name}", python, needed)


def make_envs(interpreters: Sequence[str], tests: Sequence[str]) -> dict[str, Path]:
    """Return an environment for each interpreter. Raises Missing."""
    pythons = find_interpreters(interpreters)
    lacking = [name for name in interpreters if name not in pythons]
    if lacking:
        raise Missing(f"ci/interpreters cannot provide {' '.join(lacking)}, see above")
    return {name: make_env(name, pythons[name], tests) for name in interpreters}


def run_everywhere(name: str, rows: list[Row], builder: Builder, extra: list[str]) -> dict[str, Outcome]:
    """Compile the libraries of a test file, and run it on each interpreter, unless exceptions.txt leaves it out."""
    outcomes = {row.name: Outcome(f"test_{name}.py") for row in rows}
    wanted = [row for row in rows if not row.leaves_out(outcomes[row.name])]
    libraries: list[Path] = []
    problem = ""
    try:
        libraries = builder.build_for(name, LOGS / f"nanobind-suite-{name}.compile.log") if wanted else []
    except Missing as reason:
        problem = str(reason)
    for row in wanted:
        outcome = outcomes[row.name]
        outcome.problem = problem
        if not problem:
            row.run(outcome, builder.tests, libraries, extra)
        say(f"{row.name}: {outcome.file}: {outcome.counts['passed']} passed {outcome.problem}")
    return outcomes


def report(row: str, outcomes: list[Outcome]) -> None:
    """Print the table of one interpreter and the failures."""
    rows: list[list[object]] = [[row, *COLUMNS, "time"]]
    rows += [[o.file, *counts_of([o]), f"{o.seconds:.0f} s"] for o in outcomes]
    print(table([*rows, ["all", *counts_of(outcomes), ""]]))
    print("".join(f"{row}: {line}\n" for line in problems_of(outcomes)), flush=True)


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--on", action="append", metavar="INTERPRETER")
    parser.add_argument("--sources", metavar="FOLDER", type=Path)
    parser.add_argument("--short", action="store_true")
    options, extra = parse_with_rest(parser)
    interpreters = names(options.on or DEFAULT)
    unknown = [name for name in options.names if name not in SUITE]
    if unknown:
        say(f"ci/nanobind-suite: unknown: {' '.join(unknown)}; known names: {' '.join(SUITE)}")
        return 2
    try:
        tests = find_tests(options.sources)
    except Missing as reason:
        if not options.short:
            raise
        print(f"ci/nanobind-suite: nothing is tested: {reason}")
        return 0
    LOGS.mkdir(parents=True, exist_ok=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    files = options.names or (QUICK if options.short else SUITE)
    package = unpack_wheel(tested_wheel(TARGET_OF_MACHINE["x86_64"]), FOLDER)
    rows = [Row(name, python_of(env), package) for name, env in make_envs(interpreters, files).items()]
    builder = Builder(package, tests)
    results: dict[str, list[Outcome]] = {row.name: [] for row in rows}
    for name in files:
        for row, outcome in run_everywhere(name, rows, builder, extra).items():
            results[row].append(outcome)
    for row, outcomes in results.items():
        report(row, outcomes)
    for line in sum_reasons(results):
        print(line)
    everything = [outcome for outcomes in results.values() for outcome in outcomes]
    is_good = not problems_of(everything) and any(o.counts["passed"] for o in everything)
    counts = ", ".join(f"{n} {column}" for n, column in zip(counts_of(everything), COLUMNS))
    print(f"ci/nanobind-suite: {counts}: {'all as expected' if is_good else 'NOT as expected'}")
    return 0 if is_good else 1
