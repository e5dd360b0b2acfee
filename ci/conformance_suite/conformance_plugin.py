"""The pytest plugin of ci/conformance, loaded in each interpreter: it notes what becomes of each test.

CONFORMANCE_SUMMARY names the file for the outcomes. The test that runs is noted beside it, for the case that it ends
the process.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_summary = Path(os.environ["CONFORMANCE_SUMMARY"])
_outcomes: dict[str, str] = {}


def pytest_runtest_logstart(nodeid: str) -> None:
    _summary.with_suffix(".running").write_text(nodeid)


def pytest_runtest_logreport(report: Any) -> None:
    if report.when == "call" or report.outcome != "passed":
        _outcomes[report.nodeid] = report.outcome


def pytest_collectreport(report: Any) -> None:
    """A file that cannot be imported counts as one failed test."""
    if report.failed:
        _outcomes[report.nodeid or "collection"] = "failed"


def pytest_sessionfinish() -> None:
    is_enabled = getattr(sys, "_is_gil_enabled", lambda: True)
    _summary.write_text(json.dumps({"outcomes": _outcomes, "gil": "on" if is_enabled() else "off"}))
