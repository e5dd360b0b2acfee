#!/usr/bin/env python3
"""The benefit of the core's pool of small blocks: the core against a build that takes every block from malloc.

The sources of src/core are compiled twice, with the same compiler and flags, the second time with FH_NO_POOL. The rows
are those of core.py, timed in the same way, and rows of threads that make objects and drop their own objects or a
neighbour's. The Python rows of calls.py that make objects follow, each side with one of the two libraries. A ratio
below 1 is in favour of the pool. With --against aligned_alloc the other side also has a pool, but aligned_pages.c
replaces pages.c and takes chunks from aligned_alloc. A ratio below 1 is in favour of pages.c. With --instructions
callgrind (valgrind) counts the instructions of the smaller rows.

    python benchmarks/pool.py [--against malloc|aligned_alloc] [--rounds N] [--instructions] [--only core|python]
                              [ROW ...]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scaling_sides import find_testing_library
from sides import Side as PythonSide

from ci.lib.command import run_main
from ci.lib.messages import say, table
from ci.lib.process import output_of
from ci.provision.compilers import find_c_compiler
from ci.provision.envs import cached_env, install_wheel
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
    "Array of 1000 objects iterated",
    "Array of 10 made",
    "Dict of 10 made",
    "callback",
    "deep copy, nested",
)
COUNTED_SIZE = 100_000  # larger rows take too long under callgrind


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


def time_python(libraries: dict[str, Path], rounds: int) -> None:
    """Print the Python rows: two environments with the same wheel, the second with another core library."""
    python = find_interpreters(["cp311"])["cp311"]
    library = find_testing_library()
    sides = []
    for name, core in libraries.items():
        env = cached_env(f"bench-{name}", python, ["numpy"])
        install_wheel(env, build_wheel())
        installed = next(env.glob(f"lib/python*/site-packages/ffi_hpy/lib/{LIBRARY}"))
        installed.unlink()  # the file may be a hard link that others share
        shutil.copy(core, installed)
        sides.append(PythonSide(env, "side.py", "ffi_hpy", library))
    lines: list[list[object]] = [["row", *libraries, "ratio"]]
    for row in PYTHON_ROWS:
        say(row)
        n = max(1000, int(0.02 / (max(sides[1].ns(row, 2000), 5.0) * 1e-9)))
        pairs = [tuple(side.ns(row, n) for side in sides) for _ in range(rounds)]
        ratio = statistics.median(a / b for a, b in pairs)
        times = [f"{statistics.median(pair[side] for pair in pairs):.1f} ns" for side in (0, 1)]
        lines.append([row, *times, f"{ratio:.2f}"])
    for side in sides:
        side.close()
    print(table(lines))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", choices=OTHERS, default="malloc", help="what the other side takes memory from")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--only", choices=("core", "python"))
    parser.add_argument("rows", nargs="*", metavar="ROW", help="names of core.py, and objects, objects_of_others")
    options = parser.parse_args()
    always = ("-DFH_POOL_ALWAYS",) if options.instructions else ()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        flags = {POOL: (), options.against: OTHERS[options.against]}
        libraries = {side: build_library(folder / side, side, (*flags[side], *always)) for side in flags}
        if options.instructions:
            count_core(build(folder), libraries, options.rows)
            return 0
        if options.only != "python":
            time_core(build(folder), libraries, options.rows, options.rounds)
        if options.only != "core":
            time_python(libraries, options.rounds)
    return 0


if __name__ == "__main__":
    run_main(main, "benchmarks/pool.py")
