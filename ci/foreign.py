"""What ci/conformance and ci/hpy-suite share: running a foreign test suite, and what it is forgiven."""

from __future__ import annotations

import fnmatch
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from envs import CI, clean_environ
from jobs import closing_line, run_logged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# --- what is forgiven -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Allowance:
    """Tests that may fail, or skip themselves, on some interpreters."""

    interpreter: str  # a pattern for the names of rows
    test: str  # a pattern for the end of its name, or a file
    reason: str

    @property
    def is_for_threads(self) -> bool:
        """Whether it only says that a test does not run in several threads at once, where tests do."""
        return self.interpreter.endswith("-threads")

    def fits(self, test: str) -> bool:
        """Whether this is about that test. In the pattern only * and ? mean something: names of tests have brackets."""
        return fnmatch.fnmatchcase(test, "*" + self.test.replace("[", "[[]"))


def read_allowances(path: Path, row: str) -> list[Allowance]:
    """Return what the file lists for a row of the table: INTERPRETER-PATTERN TEST REASON, a line each; # begins a
    comment."""
    lines = (line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#"))
    allowances = [Allowance(*line.split(maxsplit=2)) for line in lines]
    return [allowance for allowance in allowances if fnmatch.fnmatchcase(row, allowance.interpreter)]


# --- running it -----------------------------------------------------------------------------------------------------


class Record(TypedDict):
    """What ci/foreign_suite/outcomes.py notes of a run that came to its end."""

    outcomes: dict[str, str]  # passed, failed or skipped, by test
    gil: str  # on or off, at the end
    notes: dict[str, int]  # of the suite's own plugin


@dataclass(frozen=True)
class Run:
    """One run of pytest: its record, or what ended it."""

    status: int
    record: Record | None
    fault: str = ""


def run_suite(command: Sequence[str], log: Path, folders: Sequence[Path], environ: Mapping[str, str], cwd: Path) -> Run:
    """Run pytest with the plugins in `folders` within reach, its output in `log`."""
    with tempfile.TemporaryDirectory() as scratch:
        summary = Path(scratch, "summary.json")
        path = ":".join(map(str, [CI / "foreign_suite", *folders]))
        full = clean_environ({**environ, "PYTHONPATH": path, "FOREIGN_SUMMARY": str(summary)})
        status = run_logged([*command, f"--basetemp={scratch}/tests"], log, full, cwd)
        if summary.exists():
            return Run(status, json.loads(summary.read_text()))
        running = summary.with_suffix(".running")
        last = f" in {running.read_text()}" if running.exists() else ""
        return Run(status, None, f"ended{last}: {closing_line(log.read_text(errors='replace'), status)}")
