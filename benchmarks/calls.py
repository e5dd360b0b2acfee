#!/usr/bin/env python3
"""The cost of calls: ffi_hpy against apache-tvm-ffi and nanobind on CPython, and against plain Python objects on PyPy.

Each side runs in a separate process. The processes time the same row in turn, so that a change of the machine's speed
affects all sides. A round times all rows, so that the measurements of a row are spread over time. The output has
medians over the rounds; a ratio is the median of the rounds' ratios. nanobind's functions take fixed types, ours and
tvm_ffi's take any type; `-` marks a missing row. scaling.py measures threads. This program sets up its environments
(the wheel of this checkout, the peers' wheels from PyPI); nanobind's module needs g++.

    python benchmarks/calls.py [ROW ...] [--rounds N] [--on NAME] [--only calls|pypy ...]
    python benchmarks/calls.py --markdown [ROW ...] [--rounds N] [--on NAME]

--markdown prints the table of docs/performance.md, with some of the rows.

Exit status: 0 if every goal is met, 1 if not or if a side could not be timed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from goals import MOST_NS, NANOBIND_GOALS, TVM_FFI_GOAL, TVM_FFI_GOALS, TVM_FFI_RELEASED_GOAL  # noqa: E402
from instructions_side import ROWS as NANOBIND_ROWS  # noqa: E402
from scaling_sides import Place, find_place, find_testing_library  # noqa: E402
from side import NATIVE_ROWS, ROWS  # noqa: E402
from sides import Side  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.matrix import BY_NAME  # noqa: E402
from ci.lib.messages import markdown_table, say, table  # noqa: E402
from ci.provision.envs import cached_env, install_wheel  # noqa: E402
from ci.provision.interpreters import provide  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402

KINDS = ("ffi_hpy", "tvm_ffi", "nanobind")
MODES = ("kept", "released")
ROUND_SECONDS = 0.02
PAGE_ROWS = (
    *("no argument", "three ints", "float", "object in", "object echoed", "Tensor", "str of 4 in", "str of 100 in"),
    *("tuple of 3 in", "list of 10 ints in", "dict of 10 ints in", "NumPy array", "method call", "callback"),
    *("field read", "py_class text field read", "field set", "Array item", "Map item", "List item set"),
    *("object made", "py_class object made", "copy", "deep copy", "error of native code raised"),
)
PYPY_MOST_NS = {("pp73", "no argument"): 80}


def our_env(name: str, python: Path, wheel: Path, *requirements: str) -> Path:
    env = cached_env(f"bench-{name}", python, list(requirements))
    install_wheel(env, wheel)
    return env


Found = dict[tuple[str, str], dict[str, list[float]]]
"""Nanoseconds of each round: by row and mode, by side."""


def time_calls(name: str, python: Path, wheel: Path, rounds: int, wanted: Sequence[str]) -> Found:
    """Time rows on a CPython, in separate processes for each mode, because methods take the mode from the
    environment."""
    places = {kind: find_place(kind, name, python, wheel, "calls") for kind in KINDS}
    sides = {mode: {kind: open_side(kind, place, mode) for kind, place in places.items()} for mode in MODES}
    found: Found = {}
    for _ in range(rounds):
        for row in wanted:
            n = max(1000, int(ROUND_SECONDS / (max(sides["kept"]["tvm_ffi"].ns(row, 2000), 5.0) * 1e-9)))
            for mode in MODES:
                times = found.setdefault((row, mode), {})
                for kind in [kind for kind in KINDS if kind != "nanobind" or has_nanobind(row, mode)]:
                    times.setdefault(kind, []).append(sides[mode][kind].ns(row, n))
    for of_mode in sides.values():
        for side in of_mode.values():
            side.close()
    return found


def lines_of(name: str, found: Found) -> list[list[object]]:
    """Return the table of calls on a CPython: every row, with its goals."""
    heading = ["row", f"{name}, GIL", *(f"{kind} ns" for kind in KINDS), *(f"/ {kind}" for kind in KINDS[1:])]
    return [[*heading, "goals", ""], *(line_of(row, mode, times) for (row, mode), times in found.items())]


def publish(name: str, python: Path, wheel: Path, rounds: int, wanted: Sequence[str]) -> int:
    """Print the table of docs/performance.md: nanoseconds of each side, with the GIL kept and released."""
    rows = wanted or PAGE_ROWS
    found = time_calls(name, python, wheel, rounds, rows)
    of_modes = [(mode, kind) for mode in MODES for kind in KINDS if (mode, kind) != ("released", "nanobind")]
    lines: list[list[object]] = [["ns", *(f"{kind}, {mode}" for mode, kind in of_modes)]]
    for row in rows:
        times = (found[row, mode].get(kind) for mode, kind in of_modes)
        lines.append([row, *("-" if ns is None else f"{statistics.median(ns):.0f}" for ns in times)])
    print(markdown_table(lines))
    return 0


def open_side(kind: str, place: Place, mode: str) -> Side:
    script = "nanobind_side.py" if kind == "nanobind" else "side.py"
    return Side(place.env, script, kind, place.file, {"TVM_FFI_RELEASE_GIL_BY_DEFAULT": str(int(mode == "released"))})


def has_nanobind(row: str, mode: str) -> bool:
    """Return whether nanobind has the row: its functions keep the GIL."""
    return mode == "kept" and NANOBIND_ROWS.get(row) is not None


def line_of(row: str, mode: str, found: dict[str, list[float]]) -> list[object]:
    """Return a line of the table: medians of the times and of the rounds' ratios, the goals, and the verdict."""
    ns = {kind: statistics.median(times) for kind, times in found.items()}
    ratios = {kind: statistics.median(a / b for a, b in zip(found["ffi_hpy"], found[kind])) for kind in found}
    is_kept = mode == "kept"
    bound = TVM_FFI_GOALS.get(row, TVM_FFI_GOAL) if is_kept else TVM_FFI_RELEASED_GOAL
    goals = [(ratios["tvm_ffi"], bound, f"{bound:.2f} of tvm_ffi")]
    if is_kept and row in NANOBIND_GOALS and "nanobind" in ratios:
        goals.append((ratios["nanobind"], NANOBIND_GOALS[row], f"{NANOBIND_GOALS[row]:.2f} of nanobind"))
    if is_kept and row in MOST_NS:
        goals.append((ns["ffi_hpy"], MOST_NS[row], f"{MOST_NS[row]:.0f} ns"))
    missed = [text for value, goal, text in goals if value > goal]
    cells = [f"{ns[kind]:.1f}" if kind in ns else "-" for kind in KINDS]
    cells += [f"{ratios[kind]:.2f}" if kind in ratios else "-" for kind in KINDS[1:]]
    return [row, mode, *cells, ", ".join(text for *_, text in goals), f"above {', '.join(missed)}" if missed else "met"]


def bench_pypy(name: str, env: Path, library: Path, rounds: int) -> list[list[object]]:
    """Return ns per call on a PyPy (its compiler needs long runs), next to the times of plain Python objects."""
    sides = (Side(env, "side.py", "ffi_hpy", library), Side(env, "side.py", "plain", library))
    lines: list[list[object]] = [["row", f"{name}: ffi_hpy ns", "plain Python ns", "goal", ""]]
    for row in [row for row in ROWS if row not in NATIVE_ROWS]:
        n = max(200, min(100_000, int(5 * ROUND_SECONDS / (max(sides[0].ns(row, 200), 5.0) * 1e-9))))
        mine, plain = (statistics.median(side.ns(row, n) for _ in range(rounds)) for side in sides)
        goal = PYPY_MOST_NS.get((name, row))
        verdict = ["", ""] if goal is None else [f"{goal:.0f} ns", "met" if mine < goal else "not met"]
        lines.append([row, f"{mine:.1f}", f"{plain:.1f}", *verdict])
    for side in sides:
        side.close()
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows of side.py, of CPython's table alone; none: all")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--on", default="cp311", metavar="NAME", help="the CPython of the first table (cp311)")
    parser.add_argument("--only", nargs="+", choices=("calls", "pypy"))
    parser.add_argument("--markdown", action="store_true", help="the table of docs/performance.md")
    options = parser.parse_args()
    if options.markdown:
        return publish(options.on, provide(BY_NAME[options.on]), build_wheel(), options.rounds, options.rows)
    wanted = options.only or ["calls"] if options.rows else options.only or ["calls", "pypy"]
    wheel = build_wheel()
    within = []
    if "calls" in wanted:
        python = provide(BY_NAME[options.on])
        lines = lines_of(options.on, time_calls(options.on, python, wheel, options.rounds, options.rows or list(ROWS)))
        within.append(all(line[-1] == "met" for line in lines[1:]))
        print(table(lines), end="\n\n", flush=True)
    if "pypy" in wanted:
        library = find_testing_library()
        for name in ("pp73", "pp80"):
            env = our_env(name, provide(BY_NAME[name]), wheel)
            lines = bench_pypy(name, env, library, 5)
            within.append(all(line[-1] != "not met" for line in lines))
            print(table(lines), end="\n\n", flush=True)
    say("every goal met" if all(within) else "some goals not met: see the tables")
    return 0 if all(within) else 1


if __name__ == "__main__":
    run_main(main, "benchmarks/calls.py")
