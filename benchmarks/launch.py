#!/usr/bin/env python3
"""The cost of launching an empty CUDA kernel with 0 to 19 PyTorch tensors as arguments.

The output has the caller's busy time per launch in microseconds: for ffi_hpy, apache-tvm-ffi (one source for both, by
load_inline), a PyTorch extension, Triton and CuPy (with its own arrays over the same memory). Each side is a separate
process; the sides launch the same kernel in turn, and the times are medians over the rounds. An unavailable side
reports the reason.

This program downloads nothing: it runs in the current environment, which must have PyTorch for CUDA; ci/gpu starts it.
docs/performance.md has the figures of one GPU.

    python benchmarks/launch.py [--upstream FOLDER] [--rounds N] [--arguments N ...]

--upstream is a folder with apache-tvm-ffi in it. Exit status: 0 if all sides were measured, 1 if one was missing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from sides import Side, ask  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.messages import Missing, table  # noqa: E402

KINDS = ("ffi_hpy", "tvm_ffi", "torch", "triton", "cupy")
LAUNCHES = 500  # fewer than a GPU queues, so that no launch waits for the GPU


def path_for(kind: str, upstream: Path | None) -> str:
    """Return a PYTHONPATH for a side: the current value, and the folder for this side only."""
    paths = [os.environ.get("PYTHONPATH", "")]
    if kind == "tvm_ffi" and upstream:
        paths.insert(0, str(upstream))
    return ":".join(path for path in paths if path)


def open_sides(upstream: Path | None) -> tuple[dict[str, Side], dict[str, str]]:
    """Start the sides; return the sides that are ready, and the reasons for the others."""
    sides, lacking = {}, {}
    for kind in KINDS:
        try:
            extra = {"PYTHONPATH": path_for(kind, upstream)}
            sides[kind] = Side(Path(sys.prefix), "launch_side.py", kind, Path(), extra)
        except Missing as reason:
            lacking[kind] = str(reason)
    return sides, lacking


def microseconds(times: tuple[float, ...]) -> str:
    """Return the median of a side's rounds; `-` if the side died in one of them."""
    return "-" if -1 in times else f"{statistics.median(times) / 1e3:.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--arguments", type=int, nargs="+", default=list(range(20)))
    options = parser.parse_args()
    sides, lacking = open_sides(options.upstream)
    kinds = list(sides)
    lines: list[list[object]] = [["arguments", *(f"{kind} us" for kind in kinds)]]
    for n in options.arguments if sides else ():
        rounds = [[ask(sides, kind, "launch", n, LAUNCHES) for kind in kinds] for _ in range(options.rounds)]
        lines.append([n, *map(microseconds, zip(*rounds))])
    for kind in kinds:
        if kind not in sides or sides[kind].n_deaths:
            lacking[kind] = f"{kind} died, and lacks the lines with -"
    for side in sides.values():
        side.close()
    if sides:
        print(table(lines))
    for reason in lacking.values():
        print(reason)
    return 1 if lacking else 0


if __name__ == "__main__":
    run_main(main, "benchmarks/launch.py")
