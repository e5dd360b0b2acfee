#!/usr/bin/env python3
"""Instructions per call, GIL kept: ffi_hpy against nanobind and apache-tvm-ffi on CPython, counted by callgrind.

Counts are repeatable, unlike times. A row is the difference of two loops of different length, minus the cost of the
empty loop, so that code around the calls does not count. nanobind's functions take fixed types, ours and tvm_ffi's
take any type. This program needs valgrind with its headers and a C++ compiler. The program prints one table for each
interpreter; the goals are ratios to nanobind's counts. --markdown prints the table of docs/performance.md, with the
rows that nanobind has.

    python benchmarks/instructions.py [ROW ...] [--on NAME ...] [--calls N] [--wheel FILE | --tree FOLDER]
                                      [--only SIDE,...] [--markdown]

Exit status: 0 if every goal is met, 1 if not or if a count failed.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from goals import NANOBIND_GOALS  # noqa: E402
from instructions_side import NOT_NAMED, ROWS  # noqa: E402
from scaling_sides import Place, compile_shared, find_place  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.matrix import BY_NAME  # noqa: E402
from ci.lib.messages import Missing, markdown_table, say, table  # noqa: E402
from ci.lib.process import clean_environ, output_of  # noqa: E402
from ci.provision.compilers import find_c_compiler  # noqa: E402
from ci.provision.envs import python_of  # noqa: E402
from ci.provision.interpreters import provide  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402

SIDES = ("ffi_hpy", "nanobind", "tvm_ffi")
INTERPRETERS = ("cp311", "cp312", "cp313", "cp314", "cp315")
FREE_THREADED = ("cp313t", "cp314t")  # by name only: the goals assume a kept GIL

Counts = dict[str, dict[str, float]]
"""Instructions per call, by side, by row."""


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
    """Return the instructions per call by row, minus the instructions of the empty loop."""
    each = {}
    for row, by_number in counts.items():
        few, many = sorted(by_number)
        each[row] = (by_number[many] - by_number[few]) / (many - few)
    empty = each.pop("")
    return {row: count - empty for row, count in each.items()}


def count_side(
    python: Path, words: list[str | Path], tree: Path | None, folder: Path, script: str = "instructions_side.py"
) -> dict[str, float]:
    folder.mkdir(parents=True)
    options = ["--tool=callgrind", f"--callgrind-out-file={folder}/counts", "--smc-check=none"]
    command = ["valgrind", *options, str(python), str(HERE / script), *map(str, words)]
    extra = {"PYTHONHASHSEED": "0", "TVM_FFI_RELEASE_GIL_BY_DEFAULT": "0"}
    if tree:
        extra["PYTHONPATH"] = str(tree)
    done = subprocess.run(command, env=clean_environ(extra), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"{words[0]}: callgrind ended with status {done.returncode}: {done.stderr[-2000:]}")
    return per_call(read_counts(folder))


def count_on(name: str, sides: list[str], rows: list[str], options: argparse.Namespace, wheel: Path) -> Counts:
    """Return the counts of each side on an interpreter; report the reason if a peer cannot be counted. Raises Missing
    for ours."""
    python = provide(BY_NAME[name])
    counts = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        marks = build_marks(folder)
        for kind in sides:
            say(f"{name}: {kind} ...")
            tree = options.tree if kind == "ffi_hpy" else None
            try:
                place = find_place("plain" if tree else kind, name, python, wheel, "calls")
                named = compile_named(place, tree) if kind == "ffi_hpy" else NOT_NAMED
                words = side_words(kind, place, marks, options.calls, rows, named)
                counts[kind] = count_in(place, words, tree, folder)
            except Missing as reason:
                if kind == "ffi_hpy":
                    raise
                say(f"{name}: {kind} is left out: {reason}")
    return counts


def side_words(
    kind: str, place: Place, marks: Path, n: int, rows: Iterable[str], named: Path | str = NOT_NAMED
) -> list[str | Path]:
    """Return the arguments of instructions_side.py."""
    return [kind, place.file, named, marks, str(n), *rows]


def compile_named(place: Place, tree: Path | None) -> Path:
    """Return the library of calls_named.cc, compiled with our headers."""
    command = [python_of(place.env), "-P", "-m", "ffi_hpy.config", "--cxxflags", "--ldflags", "--libs"]
    flags = output_of(command, {"PYTHONPATH": str(tree)} if tree else None).split()
    return compile_shared([HERE / "calls_named.cc"], flags)


def count_in(place: Place, words: list[str | Path], tree: Path | None, folder: Path) -> dict[str, float]:
    return count_side(python_of(place.env), words, tree, folder / str(words[0]))


def judge(row: str, counts: Counts) -> tuple[str, str]:
    """Return the goal (the largest ratio to nanobind's instructions) and whether ours meets it."""
    goal = NANOBIND_GOALS.get(row)
    if goal is None or any(row not in counts.get(kind, {}) for kind in ("ffi_hpy", "nanobind")):
        return "", ""
    is_met = counts["ffi_hpy"][row] <= goal * counts["nanobind"][row]
    return f"{goal:.2f}", "met" if is_met else "not met"


def lines_of(name: str, rows: list[str], counts: Counts) -> list[list[object]]:
    """Return the lines of the table: counts, the ratio of ours to each peer, the goal for nanobind, the verdict."""
    others = [side for side in counts if side != "ffi_hpy"] if "ffi_hpy" in counts else []
    ratios = [f"/ {side}" for side in others]
    lines: list[list[object]] = [[f"{name}: instructions", *counts, *ratios, *(["goal", ""] if others else [])]]
    for row in rows:
        cells = [f"{counts[side][row]:.0f}" if row in counts[side] else "" for side in counts]
        cells += [f"{counts['ffi_hpy'][row] / counts[side][row]:.2f}" if row in counts[side] else "" for side in others]
        lines.append([row, *cells, *(judge(row, counts) if others else ())])
    return lines


def page_lines(rows: list[str], found: dict[str, Counts]) -> list[list[object]]:
    """Return the table of docs/performance.md: for each interpreter the counts of all sides."""
    lines: list[list[object]] = [["", *found]]
    for row in [row for row in rows if any(row in counts.get("nanobind", {}) for counts in found.values())]:
        each = ([f"{of_side[row]:.0f}" for of_side in counts.values() if row in of_side] for counts in found.values())
        lines.append([row, *(", ".join(counted) for counted in each)])
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--on",
        nargs="+",
        choices=(*INTERPRETERS, *FREE_THREADED),
        default=list(INTERPRETERS),
        help="which CPythons (all that have a GIL)",
    )
    parser.add_argument("--calls", type=int, default=500, help="calls of the shorter loop")
    parser.add_argument("--wheel", type=Path, help="a wheel of ours, instead of building one")
    parser.add_argument("--tree", type=Path, help="a folder with our package, instead of a wheel")
    parser.add_argument("--only", default=",".join(SIDES), help="sides, separated by commas")
    parser.add_argument("--markdown", action="store_true", help="the table of docs/performance.md")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows of instructions_side.py; none: all")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        raise Missing("valgrind is not on PATH")
    rows, sides = options.rows or list(ROWS), options.only.split(",")
    wheel = Path()
    if "ffi_hpy" in sides and not options.tree:
        wheel = options.wheel or build_wheel()
    found = {}
    is_good = True
    for name in options.on:
        found[name] = count_on(name, sides, rows, options, wheel)
        lines = lines_of(name, rows, found[name])
        is_good = is_good and all(line[-1] != "not met" for line in lines)
        if not options.markdown:
            print(table(lines), end="\n\n", flush=True)
    if options.markdown:
        print(markdown_table(page_lines(rows, found)))
    if len(sides) > 1:
        say("every goal met" if is_good else "some goals not met: see the tables")
    return 0 if is_good else 1


if __name__ == "__main__":
    run_main(main, "benchmarks/instructions.py")
