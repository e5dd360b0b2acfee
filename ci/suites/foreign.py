"""Shared code of the commands that run other projects' test suites: running, exceptions, and counting."""

from __future__ import annotations

import fnmatch
import json
import re
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from ci.lib.process import clean_environ, closing_line, run_logged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# --- exceptions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Allowance:
    """Tests that may fail, or be skipped, on some interpreters."""

    interpreter: str  # a pattern for the names of rows
    test: str  # a pattern for the end of its name, or a file
    reason: str

    @property
    def is_for_threads(self) -> bool:
        """Return whether this only says that a test does not run in several threads at once."""
        return self.interpreter.endswith("-threads")

    @property
    def may_pass(self) -> bool:
        """Return whether the outcome of the test depends on chance, such as the address of a new object."""
        return self.reason.startswith("by chance: ")

    def fits(self, test: str) -> bool:
        """Return whether this applies to a test. Only * and ? are special, because names of tests have brackets."""
        return fnmatch.fnmatchcase(test, "*" + self.test.replace("[", "[[]"))


def read_allowances(path: Path, row: str) -> list[Allowance]:
    """Return the file's entries for a row of the table: INTERPRETER-PATTERN TEST REASON each. An indented line
    continues the previous line, and # begins a comment."""
    text = re.sub(r"\n[ \t]+(?=\S)", " ", path.read_text())
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    allowances = [Allowance(*line.split(maxsplit=2)) for line in lines]
    return [allowance for allowance in allowances if fnmatch.fnmatchcase(row, allowance.interpreter)]


# --- counting -------------------------------------------------------------------------------------------------------

COLUMNS = ("passed", "failed", "excepted", "skipped")


@dataclass
class Outcome:
    """The result of one test file."""

    file: str
    counts: Counter[str] = field(default_factory=Counter)  # the keys are COLUMNS
    failed: list[str] = field(default_factory=list)
    excepted: list[tuple[str, str]] = field(default_factory=list)  # test, reason
    seconds: float = 0.0
    problem: str = ""  # a problem other than failed tests

    def leave_out(self, allowance: Allowance) -> None:
        """Count the whole file as one exception."""
        self.counts["excepted"] += 1
        self.excepted.append((self.file, allowance.reason))

    def judge(self, results: Mapping[str, str], allowances: Sequence[Allowance]) -> None:
        """Count the results of the file's tests; each is passed, failed or skipped."""
        for test, result in results.items():
            column = result
            allowance = next((a for a in allowances if a.fits(test)), None)
            if allowance is not None and allowance.is_for_threads:
                self.excepted.append((test, f"passed, but in one thread only: {allowance.reason}"))
                allowance = None
            if allowance is not None and result == "failed":
                self.excepted.append((test, allowance.reason))
                column = "excepted"
            elif allowance is not None and result == "passed" and not allowance.may_pass:
                self.failed.append(f"{test} passes, and is listed as an exception")
                column = "failed"
            elif result == "failed":
                self.failed.append(test)
            self.counts[column] += 1


def counts_of(outcomes: Sequence[Outcome]) -> list[int]:
    """Return the sums for COLUMNS."""
    return [sum(o.counts[column] for o in outcomes) for column in COLUMNS]


def problems_of(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a line for every unexpected result."""
    lines = []
    for o in outcomes:
        lines += [f"FAILED: {test}" for test in o.failed]
        lines += [f"PROBLEM: {o.file}: {o.problem}"] if o.problem else []
    return lines


def sum_reasons(results: Mapping[str, Sequence[Outcome]]) -> list[str]:
    """Return a line for each reason: the number of tests that it excepts, and the rows of the table."""
    reasons: dict[str, Counter[str]] = {}
    for row, outcomes in results.items():
        for _, reason in (exception for o in outcomes for exception in o.excepted):
            reasons.setdefault(reason, Counter())[row] += 1
    lines = []
    for reason, counts in sorted(reasons.items(), key=lambda item: -sum(item[1].values())):
        where = "all" if set(counts) == set(results) else ", ".join(counts)
        lines.append(f"excepted: {sum(counts.values())} on {where}: {reason}")
    return lines


# --- running a suite ------------------------------------------------------------------------------------------------


PLUGIN = Path(__file__).resolve().with_name("plugin")


class Record(TypedDict):
    """The record that ci/suites/plugin/outcomes.py writes for a run that completed."""

    outcomes: dict[str, str]  # passed, failed or skipped, by test
    gil: str  # on or off, at the end
    notes: dict[str, int]  # of the suite's own plugin


@dataclass(frozen=True)
class Run:
    """One run of pytest: its record, or the problem that ended the run."""

    status: int
    record: Record | None
    problem: str = ""


def run_suite(command: Sequence[str], log: Path, folders: Sequence[Path], environ: Mapping[str, str], cwd: Path) -> Run:
    """Run pytest with the plugins in `folders` on its path and its output in `log`."""
    with tempfile.TemporaryDirectory() as scratch:
        summary = Path(scratch, "summary.json")
        path = ":".join(map(str, [PLUGIN, *folders]))
        full = clean_environ({**environ, "PYTHONPATH": path, "FOREIGN_SUMMARY": str(summary)})
        status = run_logged([*command, f"--basetemp={scratch}/tests"], log, full, cwd)
        if summary.exists():
            return Run(status, json.loads(summary.read_text()))
        running = summary.with_suffix(".running")
        last = f" in {running.read_text()}" if running.exists() else ""
        return Run(status, None, f"ended{last}: {closing_line(log.read_text(errors='replace'), status)}")
