"""The pytest plugin of ci/conformance, loaded in each interpreter: it notes what becomes of each test.

CONFORMANCE_SUMMARY names the file for the outcomes. The test that runs is noted beside it, for the case that it ends
the process.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_summary = Path(os.environ["CONFORMANCE_SUMMARY"])
_outcomes: dict[str, str] = {}

# Names of upstream's internals that files import beside what they test of the interface: they can be imported, and a
# test that uses one fails.
INTERNALS = {
    "ffi_hpy.utils.unpack_dataclass": ("_extract_dataclass_to_tuple_schema", "_validate_dataclass_to_tuple_schema"),
}


def pytest_configure() -> None:
    importlib.import_module("ffi_hpy.testing")  # upstream's binding is linked to its library of that name
    for module, names in INTERNALS.items():
        for name in names:
            setattr(importlib.import_module(module), name, _internal(name))


def _internal(name: str) -> Any:
    def stand_in(*_: Any, **__: Any) -> None:
        raise NotImplementedError(f"{name} is an internal of tvm_ffi")

    return stand_in


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
