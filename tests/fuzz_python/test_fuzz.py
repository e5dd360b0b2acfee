"""The fuzzer of the Python API: that it finds nothing, and that it would find something."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SEED = 12
SECONDS = 20
LONGEST_SECONDS = 600  # of a run, however busy the machine is; pytest tells nothing when it gives up
HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()

pytestmark = pytest.mark.timeout(LONGEST_SECONDS + 60)


@dataclass
class Run:
    """How a program of the fuzzer ended. The status is None if it was killed because it came to no end."""

    status: int | None
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
        with output.open("wb") as stream:
            child = subprocess.Popen(
                command,
                cwd=tmp_path,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            status = None
            try:
                status = child.wait(LONGEST_SECONDS)
            except subprocess.TimeoutExpired:
                pass
            finally:
                if status is None:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()
        counts = json.loads(report.read_text()) if report.exists() else {}
        return Run(status, output.read_text(errors="replace"), counts)

    return run


def test_the_fuzzer_finds_nothing(start):
    done = start("run.py", "--seed", SEED, "--seconds", SECONDS, "--threads", 1 if HAS_GIL else 3)
    print(done.output)
    assert done.status == 0, done.output
    assert done.counts.get("calls", 0) > 100, done.output


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("crash", "SIGSEGV"),
        ("hang", "hang"),
        ("spin", "hang"),
        ("leave", "exit status 7"),
        ("system_error", "SystemError: SystemError: planted"),
        ("no_exception", "no Exception: KeyboardInterrupt: planted"),
    ],
)
def test_a_fault_is_found(start, fault, kind):
    words = ("--hang-seconds", 2) if kind == "hang" else ()
    done = start("run.py", "--seed", SEED, "--calls", 100, "--plant", fault, "--first", "--no-reduce", *words)
    assert done.status == 1, done.output
    assert done.counts.get("findings", 0) >= 1, done.output
    assert f"--- {kind}" in done.output
    assert f"planted {fault}(" in done.output


def test_one_call_is_left_of_a_fault(start):
    done = start("run.py", "--seed", SEED, "--calls", 100, "--plant", "crash", "--first")
    assert re.search(r"--calls \d+ --plant crash", done.output), done.output


def test_a_call_that_others_keep_from_the_processor_does_not_hang(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    import watch

    class Waiting:
        """A reader of a worker that is at its first call all the time."""

        def call(self):
            return 0

    used = iter(range(100))
    monkeypatch.setattr(watch, "processor_seconds", lambda pid: next(used) / 50)  # 0.02 s in 0.1 s
    worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(2.5)"])
    assert not watch.watch(worker, [Waiting()], 1.0)
    assert worker.returncode == 0


def test_a_seed_makes_the_same_calls_again(start):
    def calls():
        done = start("worker.py", "--seed", 7, "--calls", "0:300", "--verbose")
        assert done.status == 0, done.output
        return re.sub(r"0x[0-9a-f]*|\d{12,}", "ADDRESS", done.output)

    first = calls()
    assert first.count("\n") > 300
    assert calls() == first
