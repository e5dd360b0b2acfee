"""HPy's own tests: selects the tests, runs them, and compares the results with the exceptions."""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from ci.lib.command import parse_with_rest
from ci.lib.folders import LOGS, REQUIREMENTS, ROOT, locked
from ci.lib.matrix import BY_NAME, MATRIX, names
from ci.lib.messages import Missing, say, table
from ci.lib.process import workers
from ci.provision.compilers import find_c_compiler
from ci.provision.envs import cached_env, install_wheel, python_of
from ci.provision.interpreters import find_interpreters
from ci.provision.sdist import fetch_sdist
from ci.provision.wheel import build_wheel
from ci.suites.foreign import Record, read_allowances, run_suite

HERE = Path(__file__).resolve().parent
RELEASE = "hpy==0.9.0"
LEFT_OUT = ("hpy_devel/test_distutils.py", "test_cpy_compat.py")
# The two other ABIs alone test legacy code; the universal ABI tests that legacy code cannot be compiled.
SELECTED = "not legacy or legacy_forbidden"
DEFAULT = [i.name for i in MATRIX if i.joined]


@dataclass(frozen=True)
class Outcome:
    """One line of the table."""

    name: str
    passed: int = 0
    skipped: int = 0
    failed: tuple[str, ...] = ()
    excepted: tuple[tuple[str, str], ...] = ()  # test, reason
    gil: str = "-"
    compiled: int = 0
    reused: int = 0
    seconds: float = 0.0
    problem: str = ""  # a problem other than failed tests


def run(name: str, mode: str, python: Path, wheel: Path, suite: Path, modules: Path, extra: list[str]) -> Outcome:
    """Run the tests on one interpreter, in one of the modes."""
    row = name if mode == "universal" else f"{name}-{mode}"
    log = LOGS / f"hpy-suite-{row}.log"
    started = time.monotonic()
    try:
        env = cached_env(f"hpy-suite-{name}", python, [REQUIREMENTS / "hpy-suite.txt"])
    except Missing as reason:
        return Outcome(row, problem=str(reason))
    with locked(env.with_name(f".{env.name}.use.lock")):
        install_wheel(env, wheel)
        command = [str(python_of(env)), "-m", "ffi_hpy.dropin", "-m", "pytest", "-v", "-p", "outcomes", "-p", "plugin"]
        command += ["-p", "no:cacheprovider", "--timeout=300", "--timeout-method=signal", "-k", SELECTED]
        command += [
            "test",
            *(f"--ignore=test/{left_out}" for left_out in LEFT_OUT),
            *(["--ignore=test/debug"] if mode != "debug" else []),
            *extra,
        ]
        environ = {
            "FFI_HPY_HPY_DIR": str(suite / "hpy" / "devel"),
            "HPY_SUITE_MODE": mode,
            "HPY_SUITE_MODULES": str(modules),
            "CC": " ".join(find_c_compiler()),
        }
        done = run_suite(command, log, [HERE / "plugin", suite], environ, suite)
    if done.record is None:
        return Outcome(row, problem=done.problem)
    return judge(row, done.status, done.record, time.monotonic() - started)


def judge(name: str, status: int, record: Record, seconds: float) -> Outcome:
    """Return the line of the table for a run that completed."""
    outcomes = record["outcomes"]
    failed, excepted = [], []
    exceptions = read_allowances(HERE / "exceptions.txt", name)
    for test, outcome in outcomes.items():
        in_any_mode = re.sub(r"\[(universal|debug|trace)\]$", "", test)
        exception = next((e for e in exceptions if e.fits(test) or e.fits(in_any_mode)), None)
        if exception is not None and outcome == "passed":
            failed.append(f"{test} passes, and is listed as an exception")
        elif exception is not None:
            excepted.append((test, exception.reason))
        elif outcome != "passed":
            failed.append(test if outcome == "failed" else f"{test} is {outcome}, and is not listed as an exception")
    problem = "" if status in (0, 1) else f"pytest ended with status {status}"
    expected_gil = "off" if BY_NAME[name.partition("-")[0]].free_threaded else "on"
    if record["gil"] != expected_gil:
        problem = f"the GIL is {record['gil']} at the end"
    return Outcome(
        name,
        sum(outcome == "passed" for outcome in outcomes.values()),
        sum(outcome == "skipped" for outcome in outcomes.values()),
        tuple(failed),
        tuple(excepted),
        record["gil"],
        record["notes"]["compiled"],
        record["notes"]["reused"],
        seconds,
        problem,
    )


def report(outcomes: list[Outcome]) -> bool:
    """Print the table and the details of its counts; return whether all results are as expected."""
    rows: list[list[object]] = [
        ["NAME", "passed", "failed", "excepted", "skipped", "GIL", "compiled", "reused", "time"]
    ]
    for o in outcomes:
        counts = [o.passed, len(o.failed), len(o.excepted), o.skipped]
        rows.append([o.name, *counts, o.gil, o.compiled, o.reused, f"{o.seconds:.0f} s"])
    print(table(rows))
    for test, reason in dict.fromkeys(found for o in outcomes for found in o.excepted):
        where = [o.name for o in outcomes if (test, reason) in o.excepted]
        print(f"excepted on {' '.join(where)}: {test}: {reason}")
    for o in outcomes:
        for test in o.failed:
            print(f"{o.name}: FAILED: {test}")
        if o.problem:
            print(f"{o.name}: PROBLEM: {o.problem}")
    return not any(o.failed or o.problem or not o.passed for o in outcomes)


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--debug", dest="mode", action="store_const", const="debug", default="universal")
    parser.add_argument("--trace", dest="mode", action="store_const", const="trace")
    options, extra = parse_with_rest(parser)
    wanted = list(names(options.names or DEFAULT))
    wheel, suite = build_wheel(), fetch_sdist(RELEASE, "hpy-suite")
    pythons = find_interpreters(wanted)
    LOGS.mkdir(parents=True, exist_ok=True)

    def job(name: str) -> Outcome:
        if name not in pythons:
            return Outcome(name, problem="ci/interpreters cannot provide it, see above")
        outcome = run(name, options.mode, pythons[name], wheel, suite, modules, extra)
        say(f"{name}: {outcome.passed} passed, {len(outcome.failed)} failed {outcome.problem}")
        return outcome

    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder, workers(2) as pool:
        modules = Path(folder)
        outcomes = list(pool.map(job, wanted))
    return 0 if report(outcomes) else 1
