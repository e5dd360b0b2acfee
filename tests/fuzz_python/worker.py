#!/usr/bin/env python3
"""One process of the fuzzer: makes calls, and reports those that ended as none should.

    worker.py --seed S --calls FROM:TO[,CALL...] [--journal FILE] [--report FILE] [--threads N] [--seconds N] [--verbose]

run.py starts it. By hand it repeats what was found: --verbose prints each call before it is made.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import json
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
MOST_ADDRESSES = 6 << 30  # bytes
MOST_RESIDENT = 700 << 10  # KiB; a process that has grown so far ends its work early
MOST_FINDINGS = 40


def limit_memory() -> None:
    if not os.environ.get("FUZZ_NO_LIMIT"):  # sanitizers reserve terabytes
        resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Findings:
    """What was found, each kind once."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], dict[str, object]] = {}

    def add(self, call: int, kind: str, error: BaseException, lines: list[str]) -> None:
        """Add one, unless there is one like it."""
        text = f"{type(error).__name__}: {safe_text(error)}"
        key = (kind, text[:60])
        if key not in self.found and len(self.found) < MOST_FINDINGS:
            try:
                trace = "".join(traceback.format_tb(error.__traceback__)[-6:])
            except Exception:  # a hostile object stands in it
                trace = ""
            self.found[key] = {"call": call, "kind": kind, "text": text, "lines": lines, "trace": trace}


def safe_text(error: BaseException) -> str:
    try:
        return str(error)[:300]
    except Exception:
        return "?"


def pending_check() -> object:
    """A function that raises the exception that a call has left behind, which said that it went well."""
    if sys.implementation.name != "cpython":
        return lambda: None
    import ctypes

    function = ctypes.pythonapi.PyErr_Occurred
    function.restype = ctypes.c_void_p
    return function


class Thread:
    """Makes calls in one thread."""

    def __init__(self, options, pool, targets, findings, number):
        from actions import Actions
        from journal import Journal
        from world import World

        path = options.journal if number == 0 else options.journal.with_name(f"{options.journal.name}.{number}")
        self.journal = Talker(Journal(path), options.verbose)
        self.world = World(options.seed * 64 + number, self.journal, pool)
        self.actions = Actions(self.world, targets)
        self.findings = findings
        self.check = pending_check()
        self.n_calls = 0

    def run(self, calls, until):
        from world import Planned, set_world

        world, pool, anything, check = self.world, self.world.pool, self.actions.anything, self.check
        set_world(world)
        for call in calls:
            world.begin(call)
            try:
                result = anything()
                check()
                pool[call % len(pool)] = result
            except Planned as error:
                self.judge_planned(call, error)
            except SystemError as error:
                self.note(call, "SystemError", error)
            except MemoryError as error:
                if not world.is_big:
                    self.note(call, "MemoryError", error)
            except Exception as error:
                if call & 15 == 0:
                    pool[call % len(pool)] = error.with_traceback(None)
            except BaseException as error:
                if not world.is_planned:
                    self.note(call, "no Exception", error)
            result = None
            if call & 1023 == 0 and (time.monotonic() > until or self.is_too_large()):
                break
        self.n_calls = call + 1

    def judge_planned(self, call, error):
        if not self.world.is_planned:
            self.note(call, "raised by an earlier call", error)

    def note(self, call, kind, error):
        self.findings.add(call, kind, error, self.journal.lines())

    def is_too_large(self):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MOST_RESIDENT


class Talker:
    """A journal that keeps the lines of the call that runs, and prints them if asked."""

    def __init__(self, journal, is_verbose):
        self._journal = journal
        self._is_verbose = is_verbose
        self._lines = []

    def begin(self, call):
        self._lines.clear()
        self._journal.begin(call)

    def write(self, text):
        self._lines.append(text)
        self._journal.write(text)
        if self._is_verbose:
            print(f"{self._journal.call}: {text}", file=sys.stderr, flush=True)

    def lines(self):
        return self._lines[-8:]


def fill_pool(seed):
    """The values that the first calls find in the pool."""
    from values import Values
    from world import N_SLOTS, Silent, World, set_world

    pool = [None] * N_SLOTS
    world = World(seed * 64 + 63, Silent(), pool)
    set_world(world)
    values = Values(world)
    for slot in range(N_SLOTS):
        world.begin(slot)
        world.mischiefs_left = 0
        try:
            pool[slot] = values.any()
        except Exception:
            pass
    return pool


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--calls", required=True)
    parser.add_argument("--journal", type=Path)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--plant", help="something that goes wrong, for the tests of the fuzzer")
    options = parser.parse_args()
    if options.journal is None:
        options.journal = Path(tempfile.mkdtemp()) / "journal"
    return options


def calls_of(text):
    """The numbers of `0:100,105`."""
    chosen = []
    for part in text.split(","):
        first, _, end = part.partition(":")
        chosen.append(range(int(first), int(end) if end else int(first) + 1))
    return [n for part in chosen for n in part] if len(chosen) > 1 else chosen[0]


def main():
    options = parse()
    faulthandler.enable()
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGUSR1, all_threads=True)
    limit_memory()
    warnings.simplefilter("ignore")
    random.seed(options.seed)
    sys.path.insert(0, str(HERE))
    findings = Findings()
    os.chdir(tempfile.mkdtemp() if options.journal is None else options.journal.parent)
    from surface import find_targets

    targets = find_targets()
    if options.plant:
        from plant import planted

        targets += [planted(options.plant)] * (len(targets) // 10)
    pool = fill_pool(options.seed)

    def on_unraisable(what):
        if isinstance(what.exc_value, SystemError):
            findings.add(threads[0].journal._journal.call, "SystemError that nobody saw", what.exc_value, [])

    threads = [Thread(options, pool, targets, findings, number) for number in range(options.threads)]
    sys.unraisablehook = on_unraisable
    until = time.monotonic() + options.seconds
    calls = calls_of(options.calls)
    gc.collect()
    others = [threading.Thread(target=thread.run, args=(calls, until)) for thread in threads[1:]]
    for other in others:
        other.start()
    threads[0].run(calls, until)
    for other in others:
        other.join()
    if options.report:
        options.report.write_text(
            json.dumps({"calls": sum(thread.n_calls for thread in threads), "findings": list(findings.found.values())})
        )
    for found in findings.found.values():
        if options.verbose or not options.report:
            print(f"{found['kind']}: {found['text']}\n{found['trace']}", file=sys.stderr)


if __name__ == "__main__":
    main()
