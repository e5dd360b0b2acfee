"""apache-tvm-ffi's own C++ tests: compiled into one program; each file's tests run in a separate process."""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import tempfile
import time
from pathlib import Path

from ci.lib.command import parse_with_rest
from ci.lib.folders import LOGS
from ci.lib.messages import table
from ci.lib.process import clean_environ, closing_line, output_of, run_logged, workers
from ci.provision.googletest import googletest_flags
from ci.provision.sdist import TVM_FFI, fetch_sdist
from ci.provision.wheel import build_wheel
from ci.suites.cpp.examples import run_examples
from ci.suites.cpp.programs import EXCEPTIONS, FOLDER, Builder, find_compiler, unpack_wheel
from ci.suites.foreign import COLUMNS, Allowance, Outcome, counts_of, problems_of, read_allowances, sum_reasons

AT_ONCE = 2
RESULTS = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}


# --- tests ------------------------------------------------------------------------------------------------------------


def tests_of(program: Path, tests: Path) -> dict[str, list[str]]:
    """Return the names of the program's tests, by file."""
    with tempfile.TemporaryDirectory() as scratch:
        listing = Path(scratch, "tests.json")
        output_of([program, "--gtest_list_tests", f"--gtest_output=json:{listing}"])
        suites = json.loads(listing.read_text())["testsuites"]
    found: dict[str, list[str]] = {}
    for suite in suites:
        for test in suite["testsuite"]:
            file = Path(test["file"]).relative_to(tests).as_posix()
            found.setdefault(file, []).append(f"{suite['name']}.{test['name']}")
    return found


def read_results(file: str, text: str) -> tuple[dict[str, str], str]:
    """Return the results in googletest's output, by test, and the test that began and did not end."""
    results: dict[str, str] = {}
    running = ""
    for word, test in re.findall(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] (\w+\.[\w/]+)", text, re.MULTILINE):
        running = "" if word in RESULTS else f"{file}::{test}"
        if word in RESULTS:
            results[f"{file}::{test}"] = RESULTS[word]
    return results, running


def run_file(
    program: Path, tests: list[str], log: Path, outcome: Outcome, allowances: list[Allowance], extra: list[str]
) -> None:
    """Run the tests of one file in a separate process."""
    started = time.monotonic()
    command = [str(program), f"--gtest_filter={':'.join(tests)}", *extra]
    status = run_logged(command, log, clean_environ(), FOLDER)
    text = log.read_text(errors="replace")
    results, running = read_results(outcome.file, text)
    outcome.judge(results, allowances)
    if status not in (0, 1) or running:
        outcome.problem = f"ended in {running or 'no test'}: {closing_line(text, status)}"
    outcome.seconds += time.monotonic() - started


def run_tests(builder: Builder, sources: list[Path], to_link: list[str], extra: list[str]) -> list[Outcome]:
    """Compile the files, two at a time, link the object files into one program, and run the tests of each file."""
    name = builder.compiler.name
    allowances = read_allowances(EXCEPTIONS, name)
    outcomes: list[Outcome] = []
    objects: list[Path] = []

    def log_of(file: str, what: str) -> Path:
        return LOGS / f"cpp-suite-{name}-{file.replace('/', '-')}.{what}.log"

    def compile_one(source: Path) -> tuple[Outcome, Path | None]:
        started = time.monotonic()
        outcome = Outcome(source.relative_to(builder.tests).as_posix())
        left_out = next((a for a in allowances if a.test == outcome.file), None)
        if left_out is not None:
            outcome.leave_out(left_out)
            return outcome, None
        made, outcome.problem = builder.compile(source, log_of(outcome.file, "compile"))
        outcome.seconds = time.monotonic() - started
        return outcome, made

    with workers(AT_ONCE) as pool:
        for outcome, made in pool.map(compile_one, sources):
            outcomes.append(outcome)
            objects += [made] if made is not None else []
    program = builder.link(objects, to_link)
    tests = tests_of(program, builder.tests)
    for outcome in outcomes:
        if outcome.file in tests:
            run_file(program, tests[outcome.file], log_of(outcome.file, "run"), outcome, allowances, extra)
    return outcomes


# --- the command ------------------------------------------------------------------------------------------------------


def report(name: str, outcomes: list[Outcome]) -> None:
    """Print the table of one compiler, or of the examples, and the failures."""
    rows: list[list[object]] = [[name, *COLUMNS, "time"]]
    rows += [[o.file, *counts_of([o]), f"{o.seconds:.0f} s"] for o in outcomes]
    print(table([*rows, ["all", *counts_of(outcomes), ""]]))
    print("".join(f"{name}: {line}\n" for line in problems_of(outcomes)), flush=True)


def parse(parser: argparse.ArgumentParser) -> tuple[argparse.Namespace, list[str]]:
    """Return our own arguments, and those for googletest."""
    parser.add_argument("--compiler", choices=("gcc", "clang", "both"), default="both")
    parser.add_argument("--file", default="*", metavar="PATTERN", help="of tests and examples")
    parser.add_argument("--standard", default="c++17", help="c++17, c++20, c++23")
    parser.add_argument("--tests", action="store_true", help="no examples")
    parser.add_argument("--examples", action="store_true", help="no tests")
    return parse_with_rest(parser)


def main(parser: argparse.ArgumentParser) -> int:
    options, extra = parse(parser)
    started = time.monotonic()
    compilers = [find_compiler(name) for name in ("gcc", "clang") if options.compiler in (name, "both")]
    wheel, sdist = build_wheel(), fetch_sdist(TVM_FFI, "conformance")
    FOLDER.mkdir(parents=True, exist_ok=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    results: dict[str, list[Outcome]] = {}
    if not options.examples:
        tests = sdist / "tests" / "cpp"
        sources = [path for path in sorted(tests.rglob("test_*.cc")) if fnmatch.fnmatch(path.name, options.file)]
        to_compile, to_link = googletest_flags()
        flags = [f"-std={options.standard}", "-O1", *to_compile]
        package = unpack_wheel(wheel)
        for compiler in compilers:
            builder = Builder(package, tests, compiler, flags)
            results[compiler.name] = run_tests(builder, sources, to_link, extra)
            report(compiler.name, results[compiler.name])
    if not options.tests:
        results["examples"] = run_examples(wheel, sdist / "examples", options.file)
        report("examples", results["examples"])
    for line in sum_reasons(results):
        print(line)
    is_good = all(
        not problems_of(outcomes) and any(o.counts["passed"] for o in outcomes) for outcomes in results.values()
    )
    sums = counts_of([outcome for outcomes in results.values() for outcome in outcomes])
    counts = ", ".join(f"{n} {column}" for n, column in zip(sums, COLUMNS))
    verdict = "all as expected" if is_good else "NOT as expected"
    print(f"cpp-suite: {counts}: {verdict} ({time.monotonic() - started:.0f} s)", flush=True)
    return 0 if is_good else 1
