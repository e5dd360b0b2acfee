"""How the tests run the programs of the fuzzer."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1]))
from ci.lib.process import run_logged  # noqa: E402

LONGEST_SECONDS = 600  # of a run, however busy the machine is; pytest tells nothing when it gives up


@dataclass
class Run:
    """How a program of the fuzzer ended. The status is negative if it was killed, as one is that comes to no end."""

    status: int
    output: str
    counts: dict[str, float]


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory):
    """The folder of the bytecode that all processes share."""
    return tmp_path_factory.mktemp("bytecode")


@pytest.fixture
def start(tmp_path, bytecode):
    """Runs a program of the fuzzer. What it prints is there however it ends, and nothing that it started stays."""

    def run(program: str, *words: object) -> Run:
        output, report = tmp_path / "output", tmp_path / "report"
        environ = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPYCACHEPREFIX": str(bytecode)}
        command = [sys.executable, str(HERE / program), *map(str, words)]
        command += ["--report", str(report)] if program == "run.py" else []
        status = run_logged(command, output, environ, tmp_path, LONGEST_SECONDS)
        counts = json.loads(report.read_text()) if report.exists() else {}
        return Run(status, output.read_text(errors="replace"), counts)

    return run


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(LONGEST_SECONDS + 60))
