#!/usr/bin/env python3
"""What goes by structure costs in C++: equality, hash, visits and mutations of reflected objects, of objects with hooks
and of containers.

One program (structural_rows.cc) is compiled with our headers and linked to our libtvm_ffi.so, and compiled with those
of apache-tvm-ffi's wheel and linked to its; both are told in turn to time the same row, as in core.py. Times are per
node of the value.
It sets up what it needs (the wheel of this checkout, the PyPI wheel of apache-tvm-ffi, a C++ compiler).

    python benchmarks/structural.py [--rounds N] [--compiler gcc|clang] [ROW ...]

Exit status: 0 all goals met, 1 some not, or something could not be measured.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from core import ROWS_IN_CXX, Row, Side, line_of, measure

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

import envs  # noqa: E402 - core has made ci importable
from matrix import say  # noqa: E402
from programs import find_compiler, unpack_wheel  # noqa: E402

LABELS = ("ours", "upstream")
NEVER_SLOWER = 1.05  # what of it is noise
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
    command = [*compiler, *ROWS_IN_CXX, f"-I{package / 'include'}", HERE / "structural_rows.cc", "-o", program]
    envs.output_of([*command, f"-L{library}", f"-Wl,-rpath,{library}", "-ltvm_ffi"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--compiler", choices=("gcc", "clang"), default="gcc")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"{' '.join(DONE)}, each with / and {' '.join(VALUES)}")
    options = parser.parse_args()
    compiler = find_compiler(options.compiler).command
    upstream = Path(envs.output_of([sys.executable, ROOT / "ci" / "upstream"]).strip())
    packages = [unpack_wheel(envs.build_wheel()), upstream / "tvm_ffi"]
    lines: list[list[object]] = [["row", *LABELS, "ratio", "goal", ""]]
    with tempfile.TemporaryDirectory() as temporary:
        programs = [Path(temporary, label) for label in LABELS]
        for program, package in zip(programs, packages):
            build(compiler, package, program)
        sides = [Side(program, Path(label)) for program, label in zip(programs, LABELS)]
        for row in ROWS:
            if options.rows and row.name not in options.rows:
                continue
            say(row.label)
            pairs = measure(row, sides, [], options.rounds)
            assert not isinstance(pairs, str)  # both have every row
            line, _ = line_of(row, pairs)
            lines.append([*line[:5], line[-1]])
        for side in sides:
            side.close()
    print(envs.table(lines))
    is_good = not any(line[-1] == "missed" for line in lines)
    say("every goal met" if is_good else "some goals not met: see the table")
    return 0 if is_good else 1


if __name__ == "__main__":
    envs.run_main(main, "benchmarks/structural.py")
