#!/usr/bin/env python3
"""Instructions per call, GIL kept: ffi_hpy against nanobind and apache-tvm-ffi on CPython 3.11, counted by callgrind.

Counts are repeatable where times are not. A row is the difference of two loops of different length, without the cost
of the empty loop, so that what surrounds the calls does not count. Under valgrind malloc makes the small blocks of our
core, which takes more instructions than its pool. nanobind's functions take fixed types, ours and tvm_ffi's any.
It needs valgrind with its headers and a C++ compiler.

    python benchmarks/instructions.py [--calls N] [--wheel FILE | --tree FOLDER] [--only SIDE,...] [ROW ...]
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from calls import UPSTREAM, testing_library  # noqa: E402
from instructions_side import ROWS  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.messages import Missing, say, table  # noqa: E402
from ci.lib.process import clean_environ, output_of  # noqa: E402
from ci.provision.compilers import find_c_compiler, find_cxx_compiler  # noqa: E402
from ci.provision.envs import cached_env, install_wheel, python_of  # noqa: E402
from ci.provision.interpreters import find_interpreters  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402

NANOBIND = "nanobind==3.1.0"
SIDES = ("ffi_hpy", "nanobind", "tvm_ffi")
# What nanobind's own CMake rules say, but for the link-time optimization, which a module of one file does not need.
NANOBIND_FLAGS = ("-std=c++17", "-O3", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-shared")


def build_nanobind(env: Path, folder: Path) -> None:
    """Compile nanobind_rows.cc for the Python of the environment `env`."""
    script = "import nanobind, sysconfig; print(nanobind.__path__[0], sysconfig.get_paths()['include'], sep='\\n')"
    package, include = output_of([python_of(env), "-c", script]).split("\n")[:2]
    paths = [f"-I{package}/include", f"-I{package}/ext/robin_map/include", f"-I{include}"]
    sources = [f"{package}/src/nb_combined.cpp", HERE / "nanobind_rows.cc"]
    output_of([*find_cxx_compiler(), *NANOBIND_FLAGS, *paths, *sources, "-o", folder / "nanobind_rows.so"])


def build_marks(folder: Path) -> Path:
    library = folder / "marks.so"
    output_of([*find_c_compiler(), "-O2", "-shared", "-fPIC", HERE / "callgrind_marks.c", "-o", library])
    return library


def read_counts(folder: Path) -> dict[str, dict[int, int]]:
    """Return the counts of the dumps in a folder: by row, by number of calls."""
    counts: dict[str, dict[int, int]] = {}
    for file in folder.glob("counts.*"):
        text = file.read_text()
        label = re.search(r"^desc: Trigger: Client Request: (\d+) (.*)$", text, re.M)
        total = re.search(r"^summary: (\d+)", text, re.M)
        if label and total:
            counts.setdefault(label[2], {})[int(label[1])] = int(total[1])
    return counts


def per_call(counts: dict[str, dict[int, int]]) -> dict[str, float]:
    """Return instructions per call by row, without those of the empty loop."""
    each = {}
    for row, by_number in counts.items():
        few, many = sorted(by_number)
        each[row] = (by_number[many] - by_number[few]) / (many - few)
    empty = each.pop("")
    return {row: count - empty for row, count in each.items()}


def count_side(python: Path, words: list[str | Path], tree: Path | None, folder: Path) -> dict[str, float]:
    folder.mkdir()
    options = ["--tool=callgrind", f"--callgrind-out-file={folder}/counts", "--smc-check=none"]
    command = ["valgrind", *options, str(python), str(HERE / "instructions_side.py"), *map(str, words)]
    extra = {"PYTHONHASHSEED": "0", "TVM_FFI_RELEASE_GIL_BY_DEFAULT": "0"}
    if tree:
        extra["PYTHONPATH"] = str(tree)
    done = subprocess.run(command, env=clean_environ(extra), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"{words[0]}: callgrind ended with status {done.returncode}: {done.stderr[-2000:]}")
    return per_call(read_counts(folder))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=500, help="calls of the shorter loop")
    parser.add_argument("--wheel", type=Path, help="a wheel of ours, instead of building one")
    parser.add_argument("--tree", type=Path, help="a folder with our package, instead of a wheel")
    parser.add_argument("--only", default=",".join(SIDES), help="sides, separated by commas")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows of instructions_side.py")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        raise Missing("there is no valgrind on PATH")
    python = find_interpreters(["cp311"]).get("cp311")
    if python is None:
        raise Missing("no interpreter for cp311")
    rows = options.rows or list(ROWS)
    sides = options.only.split(",")
    envs = {
        "ffi_hpy": cached_env("bench-calls", python, ["numpy"]),
        "nanobind": cached_env("bench-nanobind", python, [NANOBIND, "numpy"]),
        "tvm_ffi": cached_env("bench-upstream", python, [UPSTREAM, "numpy", "pytest"]),
    }
    if "ffi_hpy" in sides and not options.tree:
        install_wheel(envs["ffi_hpy"], options.wheel or build_wheel())
    library = testing_library(envs["tvm_ffi"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "nanobind" in sides:
            say("compiling nanobind's rows ...")
            build_nanobind(envs["nanobind"], folder)
        marks = build_marks(folder)

        def count(side: str) -> dict[str, float]:
            where = folder if side == "nanobind" else library
            tree = options.tree if side == "ffi_hpy" else None
            words = [side, where, marks, str(options.calls), *rows]
            return count_side(python_of(envs[side]), words, tree, folder / side)

        counts = {side: count(side) for side in sides}
    print(table(lines_of(rows, counts)))
    return 0


def lines_of(rows: list[str], counts: dict[str, dict[str, float]]) -> list[tuple[object, ...]]:
    """Return the lines of the table: counts, and ours over each of the others."""
    others = [side for side in counts if side != "ffi_hpy"] if "ffi_hpy" in counts else []
    lines: list[tuple[object, ...]] = [("row, instructions", *counts, *(f"/ {side}" for side in others))]
    for row in rows:
        cells = [f"{counts[side][row]:.0f}" if row in counts[side] else "" for side in counts]
        ratios = [f"{counts['ffi_hpy'][row] / counts[side][row]:.2f}" if row in counts[side] else "" for side in others]
        lines.append((row, *cells, *ratios))
    return lines


if __name__ == "__main__":
    run_main(main, "benchmarks/instructions.py")
