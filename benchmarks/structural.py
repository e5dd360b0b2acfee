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

import argparse
import sys
import tempfile
from pathlib import Path

from core import Row

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

from cxx import FLAGS, LABELS, NEVER_SLOWER, report, run_rows  # noqa: E402

from ci.lib.command import run_main  # noqa: E402 - core has made ci importable
from ci.lib.process import output_of  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402
from ci.suites.cpp.programs import find_compiler, unpack_wheel  # noqa: E402

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


def build(compiler: tuple[str, ...], package: Path, program: Path) -> None:
    """Compile the rows with the headers and the library of a package."""
    library = package / "lib"
    command = [*compiler, *FLAGS, f"-I{package / 'include'}", HERE / "structural_rows.cc", "-o", program]
    output_of([*command, f"-L{library}", f"-Wl,-rpath,{library}", "-ltvm_ffi"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--compiler", choices=("gcc", "clang"), default="gcc")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"{' '.join(DONE)}, each with / and {' '.join(VALUES)}")
    options = parser.parse_args()
    compiler = find_compiler(options.compiler).command
    upstream = Path(output_of([sys.executable, ROOT / "ci" / "upstream"]).strip())
    packages = [unpack_wheel(build_wheel()), upstream / "tvm_ffi"]
    with tempfile.TemporaryDirectory() as temporary:
        programs = [Path(temporary, label) for label in LABELS]
        for program, package in zip(programs, packages):
            build(compiler, package, program)
        return report(run_rows(ROWS, programs, options.rows, options.rounds))


if __name__ == "__main__":
    run_main(main, "benchmarks/structural.py")
