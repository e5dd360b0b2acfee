"""Runs pytest inside a test environment, and writes a summary for ci/test.

    ENV/bin/python ci/jobs/run_pytest.py SUMMARY.json GIL PYTEST-ARGUMENT...

GIL is the state that the GIL must have after the tests: `on`, `off` or `any`. The exit status is pytest's, or 1 if the
GIL has another state or ffi_hpy was imported from outside of this environment.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

# The tests run like a user's program, whose path does not contain the folder of this file.
sys.path.pop(0)
# Modules imported until the tests have been collected leave bytecode in PYTHONPYCACHEPREFIX. The programs that tests
# start read the bytecode there. The programs write none, because tests rewrite modules within the resolution of
# bytecode's times.
sys.dont_write_bytecode = False

import pytest  # noqa: E402

# pytest's outcomes, and the table columns that count them.
_COLUMN = {
    "passed": "passed",
    "failed": "failed",
    "error": "failed",
    "skipped": "skipped",
    "xfailed": "skipped",
    "xpassed": "failed",  # cannot happen with xfail_strict
}


def gil_state() -> str:
    """Return `on` or `off`."""
    is_enabled = getattr(sys, "_is_gil_enabled", None)
    return "off" if is_enabled is not None and not is_enabled() else "on"


class Summary:
    """A pytest plugin that counts outcomes, and ends the writing of bytecode."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter(passed=0, failed=0, skipped=0)

    def pytest_collection_finish(self) -> None:
        sys.dont_write_bytecode = True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for outcome, column in _COLUMN.items():
            self.counts[column] += len(terminalreporter.stats.get(outcome, []))


def find_problems(expected_gil: str) -> list[str]:
    """Return the problems of the process after the tests, independent of the tests' results."""
    problems = []
    if expected_gil not in ("any", gil_state()):
        problems.append(f"the GIL is {gil_state()} at the end, and should be {expected_gil}")
    package = sys.modules.get("ffi_hpy")
    place = getattr(package, "__file__", None) or sys.prefix
    if Path(sys.prefix).resolve() not in Path(place).resolve().parents and place != sys.prefix:
        problems.append(f"ffi_hpy was imported from {place}, not from this environment")
    return problems


def main(summary_path: str, expected_gil: str, arguments: list[str]) -> int:
    summary = Summary()
    status = int(pytest.main(arguments, plugins=[summary]))
    problems = find_problems(expected_gil)
    for problem in problems:
        print(f"PROBLEM: {problem}", flush=True)
    record = {**summary.counts, "gil": gil_state(), "problems": problems}
    Path(summary_path).write_text(json.dumps(record))
    return status or bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
