#!/usr/bin/env python3
"""What a call costs: ffi_hpy against apache-tvm-ffi on CPython 3.11, against plain Python objects on PyPy, and
free-threaded.

Both sides run in processes of their own, which are told in turn to time the same row, so that a machine that changes
its speed changes both. Printed are medians over the rounds; a ratio is the median of the ratios round by round.
It sets up what it needs (the wheel of this checkout, the PyPI wheel of apache-tvm-ffi).

    python benchmarks/calls.py [--rounds N] [--only calls|pypy|threads ...]
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from side import NATIVE_ROWS, ROWS  # noqa: E402
from sides import Side  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.messages import Missing, say, table  # noqa: E402
from ci.lib.process import output_of  # noqa: E402
from ci.provision.envs import cached_env, install_wheel, python_of  # noqa: E402
from ci.provision.interpreters import find_interpreters  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402

UPSTREAM = "apache-tvm-ffi==0.1.15.post2"
ROUND_SECONDS = 0.02
CALL_BOUNDS = {"kept": {"no argument": 0.4, "three ints": 0.4, None: 0.6}, "released": {None: 0.85}}


def our_env(name: str, python: Path, wheel: Path, *requirements: str) -> Path:
    env = cached_env(f"bench-{name}", python, list(requirements))
    install_wheel(env, wheel)
    return env


def testing_library(upstream: Path) -> Path:
    found = list(upstream.glob("lib/python*/site-packages/tvm_ffi/lib/libtvm_ffi_testing.so"))
    if not found:
        raise Missing(f"{UPSTREAM} has no libtvm_ffi_testing.so")
    return found[0]


def bench_calls(ours: Path, upstream: Path, rounds: int) -> bool:
    """Print the table of calls; returns whether every row is within its bound."""
    library = testing_library(upstream)
    sides = (Side(ours, "side.py", "ffi_hpy", library), Side(upstream, "side.py", "tvm_ffi", library))
    within = True
    rows: list[tuple[object, ...]] = [("row", "GIL", "ffi_hpy ns", "tvm_ffi ns", "ratio", "goal", "")]
    for mode, bounds in CALL_BOUNDS.items():
        for row in ROWS:
            n = max(1000, int(ROUND_SECONDS / (max(sides[1].ns(row, mode, 2000), 5.0) * 1e-9)))
            pairs = [(sides[0].ns(row, mode, n), sides[1].ns(row, mode, n)) for _ in range(rounds)]
            ratio = statistics.median(a / b for a, b in pairs)
            bound = bounds.get(row, bounds[None])
            within = within and ratio <= bound
            mine, theirs = (statistics.median(side) for side in zip(*pairs))
            rows.append(
                (
                    row,
                    mode,
                    f"{mine:.1f}",
                    f"{theirs:.1f}",
                    f"{ratio:.2f}",
                    f"{bound:.2f}",
                    "" if ratio <= bound else "above",
                )
            )
    for side in sides:
        side.close()
    print(table(rows), end="\n\n")
    return within


def bench_pypy(name: str, env: Path, library: Path, rounds: int) -> bool:
    """Print ns per call on a PyPy, whose compiler wants long runs, next to the same done with plain Python objects."""
    sides = (Side(env, "side.py", "ffi_hpy", library), Side(env, "side.py", "plain", library))
    rows: list[tuple[object, ...]] = [("row", f"{name}: ffi_hpy ns", "plain Python ns")]
    within = True
    for row in ROWS:
        if row in NATIVE_ROWS:
            continue
        n = max(200, min(100_000, int(5 * ROUND_SECONDS / (max(sides[0].ns(row, "kept", 200), 5.0) * 1e-9))))
        mine, plain = (statistics.median(side.ns(row, "kept", n) for _ in range(rounds)) for side in sides)
        rows.append((row, f"{mine:.1f}", f"{plain:.1f}"))
        if (name, row) == ("pp73", "no argument"):
            within = mine < 80
    for side in sides:
        side.close()
    print(table(rows), end="\n\n")
    return within


def bench_threads(env: Path, library: Path) -> bool:
    output = output_of([python_of(env), HERE / "threads.py", library])
    print(output)
    return float(output.split()[-1]) >= 1.8


def main() -> int:
    parser = argparse.ArgumentParser(description="What a call costs.")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", nargs="+", choices=("calls", "pypy", "threads"))
    options = parser.parse_args()
    wanted = options.only or ["calls", "pypy", "threads"]
    needed = {"calls": ["cp311"], "pypy": ["pp73", "pp80"], "threads": ["cp313t"]}
    wheel = build_wheel()
    pythons = find_interpreters(sorted({"cp311", *(name for part in wanted for name in needed[part])}))
    missing = [part for part in wanted if any(name not in pythons for name in needed[part])]
    if missing or "cp311" not in pythons:
        raise Missing(f"no interpreter for {', '.join(missing)}")
    upstream = cached_env("bench-upstream", pythons["cp311"], [UPSTREAM, "numpy", "pytest"])
    ours = our_env("cp311", pythons["cp311"], wheel, "numpy")
    within = []
    if "calls" in wanted:
        within.append(bench_calls(ours, upstream, options.rounds))
    if "pypy" in wanted:
        for name in needed["pypy"]:
            within.append(bench_pypy(name, our_env(name, pythons[name], wheel), testing_library(upstream), 5))
    if "threads" in wanted:
        within.append(bench_threads(our_env("cp313t", pythons["cp313t"], wheel), testing_library(upstream)))
    say("every goal met" if all(within) else "some goals not met: see the tables")
    return 0


if __name__ == "__main__":
    run_main(main, "benchmarks/calls.py")
