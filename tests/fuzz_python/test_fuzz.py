"""The fuzzer of the Python API: that it finds nothing, and that it would find something."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).with_name("run.py")
SEED = 12
SECONDS = 20


def fuzz(tmp_path, *words):
    """Exit status, output and counts of a run."""
    report = tmp_path / "report"
    command = [sys.executable, str(RUN), "--seed", str(SEED), "--report", str(report), *map(str, words)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=280)
    return done.returncode, done.stdout + done.stderr, json.loads(report.read_text())


def test_the_fuzzer_finds_nothing(tmp_path):
    threads = 1 if getattr(sys, "_is_gil_enabled", lambda: True)() else 3
    status, output, counts = fuzz(tmp_path, "--seconds", SECONDS, "--threads", threads)
    print(output)
    assert status == 0, output
    assert counts["calls"] > 100


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("crash", "SIGSEGV"),
        ("hang", "hang"),
        ("leave", "exit status 7"),
        ("system_error", "SystemError: SystemError: planted"),
        ("no_exception", "no Exception: KeyboardInterrupt: planted"),
    ],
)
def test_a_fault_is_found(tmp_path, fault, kind):
    status, output, counts = fuzz(tmp_path, "--calls", 40, "--plant", fault, "--hang-seconds", 5, "--no-reduce")
    assert status == 1
    assert counts["findings"] >= 1
    assert f"--- {kind}" in output
    assert f"planted {fault}(" in output


def test_one_call_is_left_of_a_fault(tmp_path):
    _, output, _ = fuzz(tmp_path, "--calls", 40, "--plant", "crash")
    assert re.search(r"--calls \d+ --plant crash", output), output


def test_a_seed_makes_the_same_calls_again(tmp_path):
    def calls():
        command = [sys.executable, str(RUN.with_name("worker.py")), "--seed", "7", "--calls", "0:300", "--verbose"]
        environ = {**os.environ, "PYTHONHASHSEED": "0"}
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=200, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stderr

    assert calls() == calls()
