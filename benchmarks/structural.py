#!/usr/bin/env python3
"""The cost of structural operations in C++: equality, hash, visits and mutations of reflected objects, of objects with
hooks and of containers.

One program (structural_rows.cc) is compiled and linked twice, with our headers and libtvm_ffi.so and with those of
apache-tvm-ffi's wheel; both processes time the same row in turn, as in core.py. Times are per node of the value. This
program sets up its inputs (the wheel of this checkout, the PyPI wheel of apache-tvm-ffi, a C++ compiler).

    python benchmarks/structural.py [--rounds N] [--compiler gcc|clang] [ROW ...]

Exit status: 0 if all goals are met, 1 if not or if a measurement failed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from cxx import (  # makes ci importable
    LABELS,
    NEVER_SLOWER,
    build_program,
    find_packages,
    parse_options,
    report,
    run_rows,
)

from ci.lib.command import run_main
from ci.suites.cpp.programs import find_compiler
from core import HERE, Row

N_NODES = 1024
N_ROUNDS = 100
VALUES = {"objects": "reflected objects", "hooked": "objects with hooks", "arrays": "arrays", "maps": "maps of 2"}
DONE = {
    "equal": "equality",
    "hash": "hash",
    "walk_pre": "walk, callback before",
    "walk_post": "walk, callback after",
    "visit": "visit",
    "map_same": "map, nothing changes",
    "map_leaves": "map, every leaf changes",
    "mutate_leaves": "mutation, every leaf changes",
}
ROWS = [
    Row(f"{done} of {value}", f"{row}/{make}", N_NODES, N_ROUNDS, NEVER_SLOWER)
    for make, value in VALUES.items()
    for row, done in DONE.items()
]


def main() -> int:
    options = parse_options(__doc__, 15, f"{' '.join(DONE)}, each with / and {' '.join(VALUES)}")
    compiler = find_compiler(options.compiler).command
    with tempfile.TemporaryDirectory() as temporary:
        programs = [Path(temporary, label) for label in LABELS]
        for program, package in zip(programs, find_packages()):
            build_program(compiler, HERE / "structural_rows.cc", package, package, program)
        return report(run_rows(ROWS, programs, options.rows, options.rounds))


if __name__ == "__main__":
    run_main(main, "benchmarks/structural.py")
