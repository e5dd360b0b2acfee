#!/usr/bin/env python3
"""Fuzz the Python API of the ffi_hpy that this interpreter imports, and a library that is bound with ffi_hpy/bind.h.

    run.py [--seconds N | --calls N] [--seed S] [--jobs N] [--threads N] [--first] [--report FILE]

The program starts and watches processes of 20,000 calls each, one after another, each with its own seed derived from S.
The program prints each finding with the command that repeats it, and reduces the first finding of a run to fewer and
fewer calls. A finding is: death by a signal or a nonzero exit status, a call that uses 60 s of processor time or is
idle for 60 s, SystemError, MemoryError without a large number, an exception that is not an Exception, and an error that
a successful call leaves pending.

Prints one closing line. Exit status: 0 without a finding, 1 if there is one.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from journal import Reader, journal_path  # noqa: E402
from library import library  # noqa: E402
from reduce import fewest  # noqa: E402
from watch import watch  # noqa: E402

CALLS_PER_WORKER = 20_000
HANG_SECONDS = 60.0
REDUCE_SECONDS = 60.0
LEAST_SECONDS = 5.0  # the least time that is worth starting another worker
STDERR_LINES = 40
BYTECODE = tempfile.TemporaryDirectory(prefix="fuzz-bytecode-")  # compiled by the first worker for all workers


@dataclass
class Outcome:
    """The result of a worker."""

    calls: int = 0
    faults: list[dict[str, object]] = field(default_factory=list)


@dataclass
class Plan:
    """The task of a worker."""

    seed: int
    calls: str
    threads: int = 1
    plant: str = ""

    def words(self) -> list[str]:
        words = ["--seed", str(self.seed), "--calls", self.calls]
        words += ["--threads", str(self.threads)] if self.threads > 1 else []
        return words + (["--plant", self.plant] if self.plant else [])


def run_worker(plan: Plan, seconds: float = 1e9, hang_seconds: float = HANG_SECONDS) -> Outcome:
    """Run a worker and return the faults of its end."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        journal, report, errors = folder / "journal", folder / "report", folder / "stderr"
        command = [sys.executable, "-X", "faulthandler", str(HERE / "worker.py"), *plan.words()]
        command += ["--journal", str(journal), "--report", str(report), "--seconds", f"{seconds:.1f}"]
        environ = {"PYTHONPYCACHEPREFIX": str(BYTECODE.name), **os.environ, "PYTHONHASHSEED": "0"}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        readers = [Reader(journal_path(journal, number)) for number in range(plan.threads)]
        with errors.open("wb") as stream:
            worker = subprocess.Popen(
                command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stream
            )
            hung = watch(worker, readers, hang_seconds)
        return judge(worker.returncode, hung, readers, report, errors)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def judge(status: int, hung: bool, readers: list[Reader], report: Path, errors: Path) -> Outcome:
    if status == 0 and report.exists():
        found = json.loads(report.read_text())
        return Outcome(found["calls"], found["findings"])
    text = errors.read_text(errors="replace").splitlines()
    ended = "hang" if hung else signal.Signals(-status).name if status < 0 else f"exit status {status}"
    trace = "\n".join([*text[:STDERR_LINES], "..."] if len(text) > STDERR_LINES else text)
    where = next((line.strip() for line in text if "File" in line and "fuzz_python" not in line), "")
    lines = [line for reader in readers for line in reader.lines()[-8:]]
    fault = {"call": readers[0].call(), "kind": ended, "text": where, "lines": lines, "trace": trace}
    return Outcome(sum(reader.call() + 1 for reader in readers), [fault])


def reduced(plan: Plan, fault: dict[str, object], hang_seconds: float) -> Plan | None:
    """Return the plan with the fewest calls that show the fault; None if it does not reappear, or if threads took
    part."""
    last = int(fault["call"])  # type: ignore[call-overload]

    def shows(calls: list[int]) -> bool:
        text = ",".join(map(str, calls))
        found = run_worker(Plan(plan.seed, text, plan.threads, plan.plant), hang_seconds=hang_seconds).faults
        return any(other["kind"] == fault["kind"] for other in found)

    calls = fewest(last, shows, REDUCE_SECONDS) if plan.threads == 1 else []
    return Plan(plan.seed, ",".join(map(str, calls)), 1, plan.plant) if calls else None


def tell(plan: Plan, fault: dict[str, object]) -> None:
    print(f"--- {fault['kind']}: {fault['text']}")
    print(f"seed {plan.seed}, call {fault['call']}; to repeat it:")
    print(command_of(plan))
    print("\n".join(f"  {line}" for line in fault["lines"]))  # type: ignore[attr-defined]
    print(f"{fault['trace']}\n", flush=True)


def command_of(plan: Plan) -> str:
    words = [sys.executable, str(HERE / "worker.py"), *plan.words(), "--verbose"]
    return f"    PYTHONHASHSEED=0 {shlex.join(words)}"


@dataclass
class Total:
    calls: int = 0
    workers: int = 0
    findings: int = 0
    kinds: set[tuple[str, str]] = field(default_factory=set)


def fuzz(options: argparse.Namespace) -> Total:
    """Run workers until the time is over or all calls are made."""
    total, started = Total(), time.monotonic()
    numbers = itertools.count()

    def left() -> float:
        return options.seconds - (time.monotonic() - started) if options.seconds else 1e9

    def one_after_another() -> None:
        while left() > (LEAST_SECONDS if total.workers else 0):
            if (options.calls and total.calls >= options.calls) or (options.first and total.findings):
                break
            number = next(numbers)
            threads = 1 if number % 2 else options.threads
            size = min(CALLS_PER_WORKER, max(1, options.calls - total.calls)) if options.calls else CALLS_PER_WORKER
            plan = Plan(options.seed * 1_000_000 + number, f"0:{size}", threads, options.plant)
            outcome = run_worker(plan, max(1.0, left()), options.hang_seconds)
            total.calls += outcome.calls
            total.workers += 1
            for fault in outcome.faults:
                total.findings += 1
                kind = (str(fault["kind"]), str(fault["text"])[:60])
                if fault["call"] == -1:
                    print(f"a process ended before its first call:\n{fault['trace']}", flush=True)
                    total.kinds.add(kind)
                    return
                if kind not in total.kinds:
                    is_first = not total.kinds  # reducing each of many would take too long
                    total.kinds.add(kind)
                    tell(plan, fault)
                    fewer = reduced(plan, fault, options.hang_seconds) if options.reduce and is_first else None
                    if fewer is not None:
                        print(f"calls that are enough for it:\n{command_of(fewer)}\n", flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        for job in [pool.submit(one_after_another) for _ in range(options.jobs)]:
            job.result()
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0, help="how long; default 20 without --calls")
    parser.add_argument("--calls", type=int, default=0, help="how many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="workers at once")
    parser.add_argument(
        "--threads", type=int, default=1, help="in every second worker, from the first on; a finding may not repeat"
    )
    parser.add_argument("--hang-seconds", type=float, default=HANG_SECONDS, help="the limit for a call")
    parser.add_argument("--first", action="store_true", help="end with the first finding")
    parser.add_argument("--no-reduce", dest="reduce", action="store_false", help="do not look for fewer calls")
    parser.add_argument("--report", type=Path, help="counts as JSON")
    parser.add_argument("--plant", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.seconds and not options.calls:
        options.seconds = 20
    library()  # compiling it is not part of the time
    started = time.monotonic()
    total = fuzz(options)
    seconds = time.monotonic() - started
    record = {"calls": total.calls, "workers": total.workers, "findings": total.findings, "kinds": len(total.kinds)}
    if options.report:
        options.report.write_text(json.dumps({**record, "seconds": seconds}))
    print(f"fuzz: {total.calls} calls in {total.workers} processes, {total.findings} findings, {seconds:.0f} s, "
          f"seed {options.seed}")  # fmt: skip
    return 1 if total.findings else 0


if __name__ == "__main__":
    sys.exit(main())
