#!/usr/bin/env -S python3 -B
"""Run HPy's own tests of universal mode on our runtime, on every interpreter of the matrix that it serves.

    ci/hpy-suite [--debug] [NAME...] [-- PYTEST-ARGUMENT...]

With --debug they run in our debug mode, and HPy's tests of its own (the folder debug) with them.

The tests come with the sdist of hpy 0.9.0, which is fetched once into the cache (FFI_HPY_CACHE, else
XDG_CACHE_HOME/ffi_hpy, else ~/.cache/ffi_hpy). Left out are the folders trace and hpy_devel, and what tests legacy
code. Each universal module is compiled once, and the same binary is loaded by all interpreters.
ci/hpy-suite-exceptions.txt lists the tests that may fail or skip themselves, and why;
ci/hpy_suite/suite_on_pypy.py says what the tests find otherwise on PyPy. Logs are in build/test-logs.

Exit status: 0 all as expected, 1 not, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from envs import (
    CI,
    ROOT,
    Missing,
    build_wheel,
    cached_env,
    find_c_compiler,
    find_interpreters,
    install_wheel,
    locked,
    python_of,
    run_main,
    table,
)
from foreign import Record, read_allowances, run_suite
from jobs import LOGS, workers
from matrix import BY_NAME, MATRIX, UnknownName, names, say
from sdist import fetch_sdist

RELEASE = "hpy==0.9.0"
LEFT_OUT = ("trace", "hpy_devel", "test_cpy_compat.py")
# Legacy code is tested in the two other ABIs only; that it cannot be compiled for the universal one is tested here.
SELECTED = "not legacy or legacy_forbidden"
DEFAULT = [i.name for i in MATRIX if i.needs_module is None and i.joined]  # PyPy 7.3 has a runtime of its own


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
    fault: str = ""  # that is no failed test


def run(name: str, mode: str, python: Path, wheel: Path, suite: Path, modules: Path, extra: list[str]) -> Outcome:
    """Run the tests on one interpreter, in one of the two modes."""
    row = name if mode == "universal" else f"{name}-{mode}"
    log = LOGS / f"hpy-suite-{row}.log"
    started = time.monotonic()
    try:
        env = cached_env(f"hpy-suite-{name}", python, [CI / "requirements-hpy-suite.txt"])
    except Missing as reason:
        return Outcome(row, fault=str(reason))
    with locked(env.with_name(f".{env.name}.use.lock")):
        install_wheel(env, wheel)
        command = [str(python_of(env)), "-m", "pytest", "-v", "-p", "outcomes", "-p", "plugin"]
        command += ["-p", "no:cacheprovider", "--timeout=300", "--timeout-method=signal", "-k", SELECTED]
        command += [
            "test",
            *(f"--ignore=test/{left_out}" for left_out in LEFT_OUT),
            *(["--ignore=test/debug"] if mode == "universal" else []),
            *extra,
        ]
        environ = {
            "HPY_SUITE_MODE": mode,
            "HPY_SUITE_MODULES": str(modules),
            "CC": " ".join(find_c_compiler()),
        }
        done = run_suite(command, log, [CI / "hpy_suite", suite], environ, suite)
    if done.record is None:
        return Outcome(row, fault=done.fault)
    return judge(row, done.status, done.record, time.monotonic() - started)


def judge(name: str, status: int, record: Record, seconds: float) -> Outcome:
    """Return the line for a run that came to its end."""
    outcomes = record["outcomes"]
    failed, excepted = [], []
    exceptions = read_allowances(CI / "hpy-suite-exceptions.txt", name)
    for test, outcome in outcomes.items():
        in_any_mode = re.sub(r"\[(universal|debug)\]$", "", test)
        exception = next((e for e in exceptions if e.fits(test) or e.fits(in_any_mode)), None)
        if exception is not None and outcome == "passed":
            failed.append(f"{test} passes, and is listed as an exception")
        elif exception is not None:
            excepted.append((test, exception.reason))
        elif outcome != "passed":
            failed.append(test if outcome == "failed" else f"{test} is {outcome}, and is not listed as an exception")
    fault = "" if status in (0, 1) else f"pytest ended with status {status}"
    expected_gil = "off" if BY_NAME[name.partition("-")[0]].free_threaded else "on"
    if record["gil"] != expected_gil:
        fault = f"the GIL is {record['gil']} at the end"
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
        fault,
    )


def report(outcomes: list[Outcome]) -> bool:
    """Print the table, and what is behind its figures; returns whether all is as expected."""
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
        if o.fault:
            print(f"{o.name}: FAULT: {o.fault}")
    return not any(o.failed or o.fault or not o.passed for o in outcomes)


def main() -> int:
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--debug", action="store_true")
    options, extra = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]
    mode = "debug" if options.debug else "universal"
    try:
        wanted = list(names(options.names or DEFAULT))
    except UnknownName as reason:
        say(f"ci/hpy-suite: {reason}")
        return 2
    wheel, suite = build_wheel(), fetch_sdist(RELEASE, "hpy-suite")
    pythons = find_interpreters(wanted)
    LOGS.mkdir(parents=True, exist_ok=True)

    def job(name: str) -> Outcome:
        if name not in pythons:
            return Outcome(name, fault="ci/interpreters cannot provide it, see above")
        outcome = run(name, mode, pythons[name], wheel, suite, modules, extra)
        say(f"{name}: {outcome.passed} passed, {len(outcome.failed)} failed {outcome.fault}")
        return outcome

    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder, workers(2) as pool:
        modules = Path(folder)
        outcomes = list(pool.map(job, wanted))
    return 0 if report(outcomes) else 1


if __name__ == "__main__":
    run_main(main, "ci/hpy-suite")
