"""The pytest plugin of every other project's test suite, loaded in each interpreter: it records the result of each
test.

FOREIGN_SUMMARY names the file for the outcomes (the Record of ci/suites/foreign.py). The plugin writes the name of the
current test next to it, in case that test ends the process.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

notes: dict[str, int] = {}
"""Additional counts of the suite's own plugin."""

_summary = Path(os.environ["FOREIGN_SUMMARY"])
_outcomes: dict[str, str] = {}
_gil: list[str] = []


def note_gil() -> None:
    """Record now whether there is a GIL, instead of at the end: later tests may turn it on."""
    if not _gil:
        is_enabled = getattr(sys, "_is_gil_enabled", lambda: True)
        _gil.append("on" if is_enabled() else "off")


def pytest_runtest_logstart(nodeid: str) -> None:
    _summary.with_suffix(".running").write_text(nodeid)


def pytest_runtest_logreport(report: Any) -> None:
    if report.when == "call" or report.outcome != "passed":
        _outcomes[report.nodeid] = report.outcome


def pytest_collectreport(report: Any) -> None:
    """Count a file that cannot be imported as one failed test."""
    if report.failed:
        _outcomes[report.nodeid or "collection"] = "failed"


def pytest_sessionfinish() -> None:
    note_gil()
    _summary.write_text(json.dumps({"outcomes": _outcomes, "gil": _gil[0], "notes": notes}))
