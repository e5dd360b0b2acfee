#!/usr/bin/env python3
"""The cost of releasing the GIL in a call: each call with the GIL kept and released, next to a bare pair of releasing
and acquiring the GIL, on CPython 3.11.

A released call should cost a kept call plus one pair. A callback releases the GIL on the way to native code and
acquires it afterwards, and acquires and releases it for the Python code: two pairs. All rows of a round run one after
another. The output has medians over all rounds; `beyond` is the median of the rest of each round. A new process starts
every few rounds, because the addresses of the libraries change the predictions of the processor, worth several
nanoseconds per call.

    python benchmarks/gil.py [--processes N] [--rounds N] [--tree FOLDER]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from scaling_sides import find_testing_library  # noqa: E402
from sides import Side  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.messages import Missing, table  # noqa: E402
from ci.lib.process import output_of  # noqa: E402
from ci.provision.compilers import find_c_compiler  # noqa: E402
from ci.provision.envs import cached_env, install_wheel  # noqa: E402
from ci.provision.interpreters import find_interpreters  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402

PAIRS = {"no argument": 1, "three ints": 1, "int echoed": 1, "callback": 2}
"""The rows, each with the number of pairs that a released call adds to a kept call."""

N = 200_000
MOST_BEYOND = 5.0
"""The most nanoseconds that a released call may cost beyond the kept call and its pairs."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=5, help="in each process")
    parser.add_argument("--tree", type=Path, help="a folder with our package, instead of a wheel that is built")
    options = parser.parse_args()
    python = find_interpreters(["cp311"]).get("cp311")
    if python is None:
        raise Missing("no interpreter for cp311")
    ours = cached_env("bench-calls", python, ["numpy"])
    if options.tree is None:
        install_wheel(ours, build_wheel())
    library = find_testing_library()
    with tempfile.TemporaryDirectory() as folder:
        pair = Path(folder, "pair.so")
        output_of([*find_c_compiler(), "-O2", "-shared", "-fPIC", HERE / "gil_pair.c", "-o", pair])
        extra = {"GIL_PAIR": str(pair), **({"PYTHONPATH": str(options.tree)} if options.tree else {})}
        rounds = []
        for _ in range(options.processes):
            side = Side(ours, "gil_side.py", "ffi_hpy", library, extra)
            rounds += [measure(side) for _ in range(options.rounds)]
            side.close()
    lines: list[tuple[object, ...]] = [("row", "kept ns", "released ns", "pairs ns", "beyond ns", "goal", "")]
    within = True
    for row, n_pairs in PAIRS.items():
        kept, released = (statistics.median(times[row, mode] for times in rounds) for mode in ("kept", "released"))
        pairs = n_pairs * statistics.median(times["pair", ""] for times in rounds)
        beyond = statistics.median(
            times[row, "released"] - times[row, "kept"] - n_pairs * times["pair", ""] for times in rounds
        )
        within &= beyond <= MOST_BEYOND
        verdict = "ok" if beyond <= MOST_BEYOND else "over"
        lines.append((row, *(f"{ns:.1f}" for ns in (kept, released, pairs, beyond)), f"{MOST_BEYOND:.0f}", verdict))
    print(table(lines))
    return 0 if within else 1


def measure(side: Side) -> dict[tuple[str, str], float]:
    """Return the nanoseconds of one round, by row and mode."""
    times = {("pair", ""): side.ns("pair", "", N)}
    for row in PAIRS:
        for mode in ("kept", "released"):
            times[row, mode] = side.ns(row, mode, N)
    return times


if __name__ == "__main__":
    run_main(main, "benchmarks/gil.py")
