"""Shared code of the benchmarks of the C++ headers: one program, compiled with either project's headers, row by row."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from core import ROOT, Row, Side, line_of, measure

# isort: split
from ci.lib.messages import say, table  # core has made ci importable
from ci.lib.process import output_of
from ci.provision.wheel import build_wheel
from ci.suites.cpp.programs import unpack_wheel

if TYPE_CHECKING:
    from collections.abc import Iterable

LABELS = ("ours", "upstream")
HEADING: list[object] = ["row", *LABELS, "ratio", "goal", ""]
NEVER_SLOWER = 1.05  # 5 % are noise
FLAGS = ("-std=c++17", "-O3", "-falign-functions=64", "-falign-loops=64")
"""Compiler flags of both sides. Without alignment the start of a short loop is random, which may double its time."""


def parse_options(about: str | None, rounds: int, rows: str) -> argparse.Namespace:
    """Read the command line. `rounds` is a default, `rows` lists the names of rows."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--compiler", choices=("gcc", "clang"), default="gcc")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=rows)
    return parser.parse_args()


def find_packages() -> tuple[Path, Path]:
    """Return the folders of the package of this checkout and of apache-tvm-ffi's wheel. Raises Missing."""
    upstream = Path(output_of([sys.executable, ROOT / "ci" / "upstream"]).strip())
    return unpack_wheel(build_wheel()), upstream / "tvm_ffi"


def build_program(compiler: tuple[str, ...], source: Path, headers: Path, linked: Path, program: Path) -> None:
    """Compile a program with the headers of a package, and link it to the libraries of a package."""
    library = linked / "lib"
    names = [name for name in ("tvm_ffi", "tvm_ffi_cxx") if (library / f"lib{name}.so").exists()]
    command = [*compiler, *FLAGS, f"-I{headers / 'include'}", source, "-o", program]
    output_of([*command, f"-L{library}", f"-Wl,-rpath,{library}", *(f"-l{name}" for name in names)])


def run_rows(rows: Iterable[Row], programs: list[Path], wanted: list[str], rounds: int) -> list[list[object]]:
    """Return the lines of the wanted rows, or of all rows."""
    sides = [Side(program, Path(label)) for program, label in zip(programs, LABELS)]
    lines = []
    for row in rows:
        if wanted and row.name not in wanted:
            continue
        say(row.label)
        pairs = measure(row, sides, [], rounds)
        assert not isinstance(pairs, str)  # both have every row
        line, _ = line_of(row, pairs)
        lines.append([*line[:5], line[-1]])
    for side in sides:
        side.close()
    return lines


def report(lines: list[list[object]]) -> int:
    """Print the table and return the exit status."""
    print(table([HEADING, *lines]))
    is_good = not any(line[-1] == "missed" for line in lines)
    say("every goal met" if is_good else "some goals not met: see the table")
    return 0 if is_good else 1
