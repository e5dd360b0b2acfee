#!/usr/bin/env python3
"""The benefit of the core's pool of small blocks: the core against a build that takes every block from malloc.

The sources of src/core are compiled twice, with the same compiler and flags, the second time with FH_NO_POOL. The rows
are those of core.py, timed in the same way, and rows of threads that make objects and drop their own objects or a
neighbour's. A ratio below 1 is in favour of the pool. With --against aligned_alloc the other side also has a pool, but
aligned_pages.c replaces pages.c and takes chunks from aligned_alloc. A ratio below 1 is in favour of pages.c. With
--instructions callgrind (valgrind) counts instructions instead: those of the smaller rows, and of rows of calls.py that
make objects, on CPython 3.11 with each library.

    python benchmarks/pool.py [--against malloc|aligned_alloc] [--rounds N] [--instructions] [ROW ...]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from instructions import build_marks, count_side, side_words
from scaling_sides import find_place

from ci.lib.command import run_main
from ci.lib.messages import say, table
from ci.lib.process import output_of
from ci.provision.compilers import find_c_compiler
from ci.provision.envs import python_of
from ci.provision.interpreters import find_interpreters
from ci.provision.wheel import build_wheel
from core import LIBRARY, ROOT, ROWS, Row, Side, build, measure, shown

HERE = Path(__file__).resolve().parent
POOL = "pool"
OTHERS = {"malloc": ("-DFH_NO_POOL",), "aligned_alloc": ()}  # the flags of each build
STAND_INS = {"aligned_alloc": ("pages.c", HERE / "aligned_pages.c")}  # the replaced source and its replacement
FLAGS = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}")
THREAD_ROWS = (
    Row("1000 objects made, then dropped", "objects", 1, 500),
    Row("by 2 threads", "objects", 2, 500),
    Row("by 16 threads", "objects", 16, 50),
    Row("dropped by the other of 2 threads", "objects_of_others", 2, 500),
    Row("dropped by another of 16 threads", "objects_of_others", 16, 50),
)
PYTHON_ROWS = (
    "no argument",
    "str of 100 in",
    "list of 10 ints in",
    "dict of 10 ints in",
    "object made",
    "py_class object made",
    "py_class object of defaults made",
    "Array of 10 made",
    "List of 10 made",
    "Dict of 10 made",
    "callback",
    "repr",
    "copy",
    "deep copy",
    "deep copy, nested",
)
COUNTED_SIZE = 100_000  # larger rows take too long under callgrind
COUNTED_CALLS = 300


def build_library(folder: Path, side: str, flags: tuple[str, ...]) -> Path:
    """Compile the core of one of the sides."""
    folder.mkdir()
    library = folder / LIBRARY
    sources = sorted((ROOT / "src" / "core").rglob("*.c"))
    if side in STAND_INS:
        replaced, stand_in = STAND_INS[side]
        sources = [stand_in, *(source for source in sources if source.name != replaced)]
    command = [*find_c_compiler(), *FLAGS, *flags, *sources, "-o", library, "-lpthread", "-ldl"]
    output_of([*command, f"-Wl,-soname,{LIBRARY}"])
    return library


def time_core(program: Path, libraries: dict[str, Path], wanted: list[str], rounds: int) -> None:
    fresh = [(program, library) for library in libraries.values()]
    sides = [Side(*words) for words in fresh]
    lines: list[list[object]] = [["row", *libraries, "ratio", *libraries]]
    for row in [*ROWS, *THREAD_ROWS]:
        if wanted and row.name not in wanted:
            continue
        say(row.label)
        pairs = measure(row, sides, fresh, rounds)
        assert not isinstance(pairs, str)  # both have every row
        times = [shown(statistics.median(pair[side][0] for pair in pairs)) for side in (0, 1)]
        ratio = statistics.median(mine[0] / theirs[0] for mine, theirs in pairs)
        memory = ["", ""]
        if row.with_memory:
            memory = [f"{statistics.median(pair[side][1] for pair in pairs):.0f} MB" for side in (0, 1)]
        lines.append([row.label, *times, f"{ratio:.2f}", *memory])
    for side in sides:
        side.close()
    print(table(lines), end="\n\n")


def instructions_of(program: Path, library: Path, row: Row, n: int) -> int:
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), str(library)]
    run = subprocess.run(command, input=f"{row.name} {row.size} {n}\n", capture_output=True, text=True, check=True)
    return int(run.stderr.rpartition("Collected :")[2].split()[0])


def count_core(program: Path, libraries: dict[str, Path], wanted: list[str]) -> None:
    """Print the instructions per iteration of a row: the difference of two runs of different length."""
    lines: list[list[object]] = [["row, instructions", *libraries, "ratio"]]
    for row in ROWS:
        if row.size > COUNTED_SIZE or row.with_memory or (wanted and row.name not in wanted):
            continue
        say(row.label)
        n = max(1, row.n // 100)
        counts = [
            (instructions_of(program, library, row, 2 * n) - instructions_of(program, library, row, n)) / n
            for library in libraries.values()
        ]
        lines.append([row.label, *(f"{count:.0f}" for count in counts), f"{counts[0] / counts[1]:.2f}"])
    print(table(lines), end="\n\n")


def count_python(folder: Path, libraries: dict[str, Path]) -> None:
    """Print the instructions of the Python rows: the package twice, the second time with another core library."""
    wheel, name = build_wheel(), "cp311"
    place = find_place("plain", name, find_interpreters([name])[name], wheel, "calls")
    words = side_words("ffi_hpy", place, build_marks(folder), COUNTED_CALLS, PYTHON_ROWS)
    counts = []
    for side, core in libraries.items():
        tree = folder / f"package-{side}"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tree)
        shutil.copy(core, tree / "ffi_hpy" / "lib" / LIBRARY)
        counts.append(count_side(python_of(place.env), words, tree, folder / f"counts-{side}"))
    lines: list[list[object]] = [[f"{name}, instructions", *libraries, "ratio"]]
    for row in PYTHON_ROWS:
        mine, theirs = (count[row] for count in counts)
        lines.append([row, f"{mine:.0f}", f"{theirs:.0f}", f"{mine / theirs:.2f}"])
    print(table(lines))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", choices=OTHERS, default="malloc", help="the other side's allocator")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="names of core.py, and objects, objects_of_others")
    options = parser.parse_args()
    always = ("-DFH_POOL_ALWAYS",) if options.instructions else ()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        flags = {POOL: (), options.against: OTHERS[options.against]}
        libraries = {side: build_library(folder / side, side, (*flags[side], *always)) for side in flags}
        if options.instructions:
            count_core(build(folder), libraries, options.rows)
            count_python(folder, libraries)
        else:
            time_core(build(folder), libraries, options.rows, options.rounds)
    return 0


if __name__ == "__main__":
    run_main(main, "benchmarks/pool.py")
