#!/usr/bin/env python3
"""One process of the fuzzer: makes calls, and reports the calls with forbidden results.

    worker.py --seed S --calls FROM:TO[,CALL...] [--threads N] [--verbose]

run.py starts this program. Started by hand, it repeats a finding: --verbose prints each call before making it.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from actions import Actions
from findings import Findings, LeftBehind, pending_check
from journal import Journal, journal_path
from surface import Target, find_targets
from values import Values
from world import N_SLOTS, Planned, Silent, World, set_world

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

MOST_ADDRESSES = 6 << 30  # bytes
MOST_RESIDENT = 700 << 20  # bytes; a process that has grown this far ends early
N_SEEDS = 64  # derived from the seed of a process: one for each thread, the last one for the pool
LOOK_EVERY = 256  # calls between two checks of the clock and the memory


class Talker:
    """A journal that keeps the lines of the current call, and prints them on request."""

    def __init__(self, journal: Journal, is_verbose: bool) -> None:
        self._journal = journal
        self._is_verbose = is_verbose
        self.lines: list[str] = []

    @property
    def call(self) -> int:
        return self._journal.call

    def begin(self, call: int) -> None:
        self.lines.clear()
        self._journal.begin(call)

    def write(self, text: str) -> None:
        self.lines.append(text)
        self._journal.write(text)
        if self._is_verbose:
            print(f"{self.call}: {text}", file=sys.stderr, flush=True)


class Caller:
    """Makes the calls of one thread."""

    def __init__(self, options: argparse.Namespace, number: int, pool: list[Any], targets: list[Target]) -> None:
        self.journal = Talker(Journal(journal_path(options.journal, number)), options.verbose)
        self.world = World(options.seed * N_SEEDS + number, self.journal, pool)
        self.actions = Actions(self.world, targets)
        self.n_calls = 0
        self._is_alone = options.threads == 1  # otherwise calls of other threads may use up the memory

    def run(self, calls: Sequence[int], until: float, findings: Findings) -> None:
        world, pool, anything, check = self.world, self.world.pool, self.actions.anything, pending_check()
        set_world(world)
        for call in calls:
            world.begin(call)
            self.n_calls += 1
            try:
                result = anything()
                check()
                pool[call % N_SLOTS] = result
                result = None
            except BaseException as error:
                kind = self.find_fault(error)
                if kind:
                    findings.add(call, kind, error, self.journal.lines[-8:])
                elif call % 16 == 0:
                    pool[call % N_SLOTS] = error.with_traceback(None)
            if self.n_calls % LOOK_EVERY == 0 and (time.monotonic() > until or is_too_large()):
                break

    def find_fault(self, error: BaseException) -> str:
        """Return the kind of finding for the end of a call, "" for none."""
        if isinstance(error, SystemError):
            return "SystemError"
        if isinstance(error, MemoryError):
            return "MemoryError" if self._is_alone and not self.world.is_big else ""
        if isinstance(error, LeftBehind):
            return "left behind"
        if isinstance(error, Exception) or "__tvm_ffi_error__" in error.__dict__:
            return ""  # the kind of a native error may be any built-in name, also BaseException
        return "" if isinstance(error, Planned) and self.world.is_planned else "no Exception"


def is_too_large() -> bool:
    # Not ru_maxrss of getrusage: a child process inherits that value from a larger parent.
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() > MOST_RESIDENT


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def make_pool(seed: int) -> list[Any]:
    """Return the initial pool of values."""
    pool: list[Any] = [None] * N_SLOTS
    world = World(seed * N_SEEDS + N_SEEDS - 1, Silent(), pool)
    set_world(world)
    values = Values(world)
    for slot in range(N_SLOTS):
        world.begin(slot)
        world.mischiefs_left = 0  # hostile objects are harmless at first
        try:
            pool[slot] = values.any()
        except Exception:
            pool[slot] = None
    return pool


def calls_of(text: str) -> Sequence[int]:
    """Return the numbers in a text like `0:100,105`."""
    parts = []
    for part in text.split(","):
        first, colon, end = part.partition(":")
        parts.append(range(int(first), int(end) if colon else int(first) + 1))
    return parts[0] if len(parts) == 1 else [number for part in parts for number in part]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--calls", type=calls_of, required=True)
    parser.add_argument("--threads", type=int, default=1, help="with the same values")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--seconds", type=float, default=1e9, help=argparse.SUPPRESS)
    parser.add_argument("--journal", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--plant", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.journal is None:
        options.journal = Path(tempfile.mkdtemp(prefix="fuzz-"), "journal")
    return options


def main() -> None:
    options = parse()
    faulthandler.enable()
    if hasattr(faulthandler, "register"):  # PyPy has no such function
        faulthandler.register(signal.SIGUSR1, all_threads=True)
    limit_memory()
    warnings.simplefilter("ignore")
    random.seed(options.seed)
    os.chdir(options.journal.parent)
    targets = find_targets()
    if options.plant:
        from plant import planted

        targets += [planted(options.plant)] * len(targets)
    findings = Findings()
    pool = make_pool(options.seed)
    callers = [Caller(options, number, pool, targets) for number in range(options.threads)]

    def note_unseen(unseen: Any) -> None:
        if isinstance(unseen.exc_value, SystemError):
            findings.add(callers[0].journal.call, "SystemError that is not reported", unseen.exc_value, [])

    sys.unraisablehook = note_unseen
    work = (options.calls, time.monotonic() + options.seconds, findings)
    others = [threading.Thread(target=caller.run, args=work) for caller in callers[1:]]
    for other in others:
        other.start()
    callers[0].run(*work)
    for other in others:
        other.join()
    if options.report:
        record = {"calls": sum(caller.n_calls for caller in callers), "findings": findings.all()}
        options.report.write_text(json.dumps(record))
    else:
        for found in findings.all():
            print(f"{found['kind']}: {found['text']}\n{found['trace']}", file=sys.stderr)


if __name__ == "__main__":
    main()
