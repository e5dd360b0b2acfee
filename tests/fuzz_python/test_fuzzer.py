"""The fuzzer of the Python API finds planted faults, and its findings can be repeated."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

HERE = Path(__file__).resolve().parent
SEED = 12


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
        """A reader of a worker that stays in its first call."""

        def call(self):
            return 0

    used = iter(range(100))
    monkeypatch.setattr(watch, "processor_seconds", lambda pid: next(used) / 50)  # 0.02 s in 0.1 s
    worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(2.5)"])
    assert not watch.watch(worker, [Waiting()], 1.0)
    assert worker.returncode == 0


def test_a_large_process_can_start_the_fuzzer(start):
    large = bytearray(b"x") * (800 << 20)
    done = start("worker.py", "--seed", SEED, "--calls", "0:300", "--verbose")
    assert done.status == 0, done.output
    assert "\n299: " in done.output
    del large


def test_a_seed_makes_the_same_calls_again(start):
    def calls():
        done = start("worker.py", "--seed", 7, "--calls", "0:300", "--verbose")
        assert done.status == 0, done.output
        return re.sub(r"0x[0-9a-f]*|-?\d{12,}", "ADDRESS", done.output)

    first = calls()
    assert first.count("\n") > 300
    assert calls() == first


def test_the_bound_library_is_called(start):
    done = start("worker.py", "--seed", SEED, "--calls", "0:600", "--verbose")
    assert done.status == 0, done.output
    called = set(re.findall(r"bound_fuzzed\.([\w.]+)\(", done.output))
    assert len(called) > 50, sorted(called)
    assert re.search(r"(name|view|sound|numbers|any|point|hear)_of\(<Changing>\)", done.output)
