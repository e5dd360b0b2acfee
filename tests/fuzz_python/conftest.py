"""Runs the programs of the fuzzer for the tests."""

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

LONGEST_SECONDS = 600  # of a run, also on a busy machine; pytest would print nothing when it gives up


@dataclass
class Run:
    """The end of a program of the fuzzer. The status is negative if the program was killed, as after a hang."""

    status: int
    output: str
    counts: dict[str, float]


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory):
    """The shared bytecode folder of all processes."""
    return tmp_path_factory.mktemp("bytecode")


@pytest.fixture
def start(tmp_path, bytecode):
    """Return a function that runs a program of the fuzzer. The function always returns the output and kills all
    processes."""

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
