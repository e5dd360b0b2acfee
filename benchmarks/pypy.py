#!/usr/bin/env python3
"""The cost of calls on PyPy: ffi_hpy's cffi backend, its C binding (FFI_HPY_CFFI=0), and cffi written by hand for the
same C function; on CPython 3.11 ffi_hpy with the GIL released and kept. Calls over cffi never keep the GIL.

    python benchmarks/pypy.py [--wheel FILE] [--on pp73 pp80] [--rounds N] [--only ROW...]

Without --wheel the wheel of this checkout is built. ./ci/interpreters provides the interpreters: PyPy 7.3 (pp73),
PyPy 8.0 (pp80) and CPython 3.11 (cp311), each in a cached environment.

Each side is a process that is restarted for each round, because a just-in-time compiler may be lucky once; within a
round the sides time the same row in turn. The output has medians of processor time in ns, without the loop itself. Exit
status 0 if on each PyPy every row meets its goal and is not slower than the binding in C.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from calls import our_env  # noqa: E402
from pypy_side import ROWS  # noqa: E402
from sides import Side  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.messages import Missing, say, table  # noqa: E402
from ci.provision.interpreters import find_interpreters  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402

RUN_SECONDS, RUNS = 0.05, 3
WARM_UP = 20_000  # enough for a just-in-time compiler, also for loops within calls
NEVER_SLOWER = 1.05  # 5 % are noise
GOALS = {
    "no argument": 20,
    "int echoed": 45,
    "three ints": 55,
    "float echoed": 45,
    "text of 4 in": 60,
    "text of 100 in": 150,
    "object in": 40,
    "object echoed": 150,
    "method call, two ints": 70,
    "object made by its constructor": 400,
    "field read, int": 10,
    "field read, float": 10,
    "field read, object": 60,
    "field set": 20,
    "Array item": 25,
    "Array of 1000 ints iterated": 15_000,
    "Map item by short text": 150,
    "callback round trip": 300,
    "list of 10 ints in": 400,
}


class Kind(NamedTuple):
    """The way in which the calls of a column are made."""

    interpreter: str
    way: str  # the first argument of pypy_side.py

    @property
    def heading(self) -> str:
        return f"{self.interpreter}: {HEADINGS[self.way]}"


HEADINGS = {"cffi": "ffi_hpy", "binding": "in C", "by_hand": "by hand", "released": "ffi_hpy", "kept": "GIL kept"}
ON_PYPY, ON_CPYTHON = ("cffi", "binding", "by_hand"), ("released", "kept")
ENVIRON = {"binding": {"FFI_HPY_CFFI": "0"}, "kept": {"TVM_FFI_RELEASE_GIL_BY_DEFAULT": "0"}}


def start(kind: Kind, env: Path) -> Side:
    (library,) = env.glob("lib/*/site-packages/ffi_hpy/lib/libtvm_ffi_testing.so")
    return Side(env, "pypy_side.py", kind.way, library, ENVIRON.get(kind.way))


def run_lengths(row: str, side: Side) -> int:
    """Warm a row up; return the number of calls of a run."""
    warm_up = WARM_UP // 100 if "1000" in row else WARM_UP
    side.ns(row, warm_up)
    ns = side.ns(row, warm_up)
    return 1 if math.isnan(ns) else max(warm_up, int(RUN_SECONDS / (max(ns, 5.0) * 1e-9)))


def time_rows(rows: list[str], envs: dict[Kind, Path], rounds: int) -> dict[tuple[str, Kind], float]:
    """Return the median of each row and kind, in ns; nan for a missing row."""
    measured: dict[tuple[str, Kind], list[float]] = {}
    for i in range(rounds):
        say(f"round {i + 1} of {rounds}")
        sides = {kind: start(kind, env) for kind, env in envs.items()}
        for row in rows:
            lengths = {kind: run_lengths(row, side) for kind, side in sides.items()}
            for _ in range(RUNS):
                for kind, side in sides.items():
                    measured.setdefault((row, kind), []).append(side.ns(row, lengths[kind]))
        for side in sides.values():
            side.close()
    return {key: statistics.median(values) for key, values in measured.items()}


def line_of(row: str, kinds: list[Kind], medians: dict[tuple[str, Kind], float]) -> tuple[object, ...]:
    """Return a line of the table; the last column describes the problem."""
    found = {kind: medians[row, kind] for kind in kinds}
    goal = GOALS.get(row)
    wrong = []
    for kind in kinds:
        if kind.way != "cffi":
            continue
        if goal is not None and found[kind] > goal:
            wrong.append(f"{kind.interpreter} above")
        if found[kind] > found[Kind(kind.interpreter, "binding")] * NEVER_SLOWER:
            wrong.append(f"{kind.interpreter} slower")
    numbers = ("-" if math.isnan(ns) else f"{ns:.0f}" if ns >= 100 else f"{ns:.1f}" for ns in found.values())
    return (row, goal or "", *numbers, ", ".join(wrong))


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the cost of a call on PyPy.")
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--on", nargs="+", choices=("pp73", "pp80"), default=["pp73", "pp80"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", metavar="ROW", choices=ROWS, default=list(ROWS))
    options = parser.parse_args()
    wheel = options.wheel.resolve() if options.wheel else build_wheel()
    wanted = [*options.on, "cp311"]
    pythons = find_interpreters(wanted)
    missing = [name for name in wanted if name not in pythons]
    if missing:
        raise Missing(f"no interpreter for {', '.join(missing)}")
    envs = {name: our_env(name, pythons[name], wheel) for name in options.on}
    envs["cp311"] = our_env("cp311", pythons["cp311"], wheel, "numpy")
    kinds = [Kind(name, way) for name in options.on for way in ON_PYPY]
    kinds += [Kind("cp311", way) for way in ON_CPYTHON]
    medians = time_rows(options.only, {kind: envs[kind.interpreter] for kind in kinds}, options.rounds)
    lines = [line_of(row, kinds, medians) for row in options.only]
    print(table([("row", "goal", *(kind.heading for kind in kinds), ""), *lines]))
    is_good = not any(line[-1] for line in lines)
    say("every goal met" if is_good else "some goals not met: see the table")
    return 0 if is_good else 1


if __name__ == "__main__":
    run_main(main, "benchmarks/pypy.py")
