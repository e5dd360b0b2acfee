#!/usr/bin/env python3
"""Libraries that are bound with ffi_hpy/bind.h, against nanobind and pybind11: calls, or with --compile the compiler.

One source (author_rows.h) is bound three times. By default the program prints nanoseconds: the processes time the same
row in turn, and the medians of the rounds count. --count prints instructions instead, which callgrind counts; they are
equal on a busy machine. --compile prints the processor seconds of the compiler, with -O0 -g and with -O2, and the size
of the stripped library, for a generated library of 400 classes and 720 functions; nanobind's own part counts for the
size. The GIL is kept. The program sets up its environments (the wheel of this checkout, the peers' wheels from PyPI),
and needs g++. On PyPy (pp73 or pp80) our library is compared with itself on CPython 3.11, without the rows of NumPy.

    python benchmarks/author.py [ROW ...] [--count] [--compile] [--on NAME] [--rounds N] [--only KIND,...]
                                [--wheel FILE | --tree FOLDER]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from author_side import ROWS  # noqa: E402
from instructions import build_marks, count_side  # noqa: E402
from scaling_sides import Place, compile_module, compile_shared, flags_of, provide_env  # noqa: E402
from sides import Side  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.matrix import BY_NAME  # noqa: E402
from ci.lib.messages import Missing, say, table  # noqa: E402
from ci.lib.process import clean_environ, output_of  # noqa: E402
from ci.provision.envs import python_of  # noqa: E402
from ci.provision.interpreters import provide  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402

KINDS = ("ffi_hpy", "nanobind", "pybind11")
ROUND_SECONDS = 0.02
PYPY_ROUND_SECONDS = 0.3  # several collections, which end the objects of the calls before
N_CLASSES, N_FUNCTIONS = 400, 720
N_OTHERS = 100_000

Found = dict[str, dict[str, float]]
"""The numbers of a row, by side."""
Way = Callable[[dict[str, Place], list[str], int, argparse.Namespace], Found]


def is_pypy(name: str) -> bool:
    return BY_NAME[name].implementation == "pypy"


def place_of(kind: str, name: str, options: argparse.Namespace) -> Place:
    """Return the environment and the library of a side. Raises Missing."""
    is_tree = kind == "ffi_hpy" and options.tree is not None
    program = "author without NumPy" if is_pypy(name) else "author"
    env = provide_env("plain" if is_tree else kind, name, provide(BY_NAME[name]), options.wheel, program)
    if kind != "ffi_hpy":
        return Place(env, compile_module(kind, env, "author"))
    flags = our_flags(env, options)
    folder = Path(next(flag[2:] for flag in flags if flag.startswith("-I")))
    sources = [HERE / "author_ffi_hpy.cc", *sorted(HERE.glob("*.h")), *sorted(folder.rglob("*.h"))]
    return Place(env, compile_shared(sources, flags))


def our_flags(env: Path, options: argparse.Namespace) -> list[str]:
    extra = {"PYTHONPATH": str(options.tree)} if options.tree else None
    return output_of([python_of(env), "-P", "-m", "ffi_hpy.config", "--cxxflags"], extra).split()


def kind_of(label: str) -> str:
    """Return the kind of a side, whose label is the kind or, beside PyPy, an interpreter."""
    return label if label in KINDS else "ffi_hpy"


def environment(kind: str, options: argparse.Namespace) -> dict[str, str]:
    is_tree = kind == "ffi_hpy" and options.tree is not None
    return {"PYTHONPATH": str(options.tree)} if is_tree else {}


def in_turn(way: Way, places: dict[str, Place], rows: list[str], options: argparse.Namespace) -> Found:
    """Return the numbers of each row. The rows with many objects have processes of their own."""
    found: Found = {}
    for n_others in (0, N_OTHERS):
        chosen = [row for row in rows if (" among " in row) == (n_others > 0)]
        if chosen:
            found.update(way(places, chosen, n_others, options))
    return found


def count(places: dict[str, Place], rows: list[str], n_others: int, options: argparse.Namespace) -> Found:
    """Return the instructions of each row."""
    found: Found = {}
    with tempfile.TemporaryDirectory() as scratch:
        marks = build_marks(Path(scratch))
        for kind, place in places.items():
            words: list[str | Path] = [kind, place.file, str(n_others), marks, "200", *rows]
            tree = options.tree if kind == "ffi_hpy" else None
            counts = count_side(python_of(place.env), words, tree, Path(scratch) / kind, "author_side.py")
            for row in rows:
                found.setdefault(row, {})[kind] = counts[row]
    return found


def measure(places: dict[str, Place], rows: list[str], n_others: int, options: argparse.Namespace) -> Found:
    """Return the nanoseconds of each row."""
    sides = {}
    for label, place in places.items():
        kind = kind_of(label)
        extra = environment(kind, options)
        sides[label] = Side(place.env, "author_side.py", kind, place.file, extra, [str(n_others)])
    times: dict[str, dict[str, list[float]]] = {row: {label: [] for label in sides} for row in rows}
    length = PYPY_ROUND_SECONDS if is_pypy(options.on) else ROUND_SECONDS
    for _ in range(options.rounds):
        for row in rows:
            for label, side in sides.items():
                n = max(100, int(length / (max(side.ns(row, 200), 5.0) * 1e-9)))
                times[row][label].append(side.ns(row, n))
    for side in sides.values():
        side.close()
    return {row: {kind: statistics.median(each) for kind, each in of_row.items()} for row, of_row in times.items()}


# --- compile time and size --------------------------------------------------------------------------------------------


def generated(kind: str) -> str:
    """Return the source of the large library."""
    head = (HERE / f"author_{kind}.cc").read_text().replace('#include "author_rows.h"', "#include <string>")
    lines = [head.replace("author_", "large_")]
    for i in range(N_CLASSES):
        lines.append(f"struct C{i} {{ int a = {i}; int add(int x) const {{ return a + x; }} }};")
    lines.append("BIND(m) {\n  using namespace nb::literals;")
    for i in range(N_CLASSES):
        lines.append(f'  nb::class_<C{i}>(m, "C{i}").def(nb::init<>()).def("add", &C{i}::add, "x"_a);')
    for i in range(N_FUNCTIONS):
        kinds = ("int x", "double x", "const std::string &x", f"const C{i % N_CLASSES} &x")
        lines.append(f'  m.def("f{i}", []({kinds[i % 4]}) {{ (void)x; return {i}; }}, "x"_a);')
    return "\n".join([*lines, "}"])


def compile_large(kind: str, place: Place, options: argparse.Namespace, folder: Path) -> dict[str, float]:
    """Return the processor seconds of both compilations, and the bytes of the stripped library."""
    source, made = folder / f"large_{kind}.cc", folder / f"large_{kind}.o"
    source.write_text(generated(kind))
    flags = our_flags(place.env, options) if kind == "ffi_hpy" else flags_of(kind, place.env)
    own = [flag for flag in flags if flag.endswith(".cpp")]  # nanobind's own source, which is not timed
    flags = ["-std=c++17", "-fPIC", "-fvisibility=hidden", *(flag for flag in flags if flag not in own)]
    command = ["g++", "-c", source, *flags, "-o", made]
    found = {}
    for label, more in (("debug, s", ["-O0", "-g"]), ("-O2, s", ["-O2", "-DNDEBUG"])):
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*command, *more], check=True, env=clean_environ())
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        found[label] = end.ru_utime - start.ru_utime + end.ru_stime - start.ru_stime
    link = ["-O2", "-DNDEBUG", *flags, "-shared", "-s", "-Wl,--gc-sections", "-o", folder / "stripped.so"]
    output_of(["g++", made, *own, *link])
    return {**found, "stripped, KiB": (folder / "stripped.so").stat().st_size / 1024}


def compilation(places: dict[str, Place], options: argparse.Namespace) -> Found:
    found: Found = {}
    with tempfile.TemporaryDirectory() as scratch:
        for kind, place in places.items():
            say(f"compiling the large library with {kind} ...")
            for label, number in compile_large(kind, place, options, Path(scratch)).items():
                found.setdefault(label, {})[kind] = number
    return found


# --- the table --------------------------------------------------------------------------------------------------------


def lines_of(title: str, found: Found, kinds: list[str]) -> list[list[str]]:
    lines = [[title, *kinds, *(f"/ {kind}" for kind in kinds[1:])]]
    for row, numbers in found.items():
        ratios = [f"{numbers[kinds[0]] / numbers[kind]:.2f}" for kind in kinds[1:]]
        lines.append([row, *(f"{numbers[kind]:.0f}" for kind in kinds), *ratios])
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows of author_side.py; none: all")
    parser.add_argument("--count", action="store_true", help="instructions instead of nanoseconds")
    parser.add_argument("--compile", action="store_true", help="compile time and size instead of calls")
    parser.add_argument("--on", default="cp311", metavar="NAME", help="the interpreter (cp311)")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default=",".join(KINDS), help="sides, separated by commas")
    parser.add_argument("--wheel", type=Path, help="a wheel of ours, instead of building one")
    parser.add_argument("--tree", type=Path, help="a folder with our package, instead of a wheel")
    options = parser.parse_args()
    if options.wheel is None and options.tree is None and "ffi_hpy" in options.only:
        options.wheel = build_wheel()
    if is_pypy(options.on) and (options.count or options.compile):
        parser.error("--count and --compile are for CPython")
    sides = [options.on, "cp311"] if is_pypy(options.on) else options.only.split(",")
    places = {}
    for label in sides:
        try:
            places[label] = place_of(kind_of(label), label if label in BY_NAME else options.on, options)
        except Missing as reason:
            if kind_of(label) == "ffi_hpy":
                raise
            say(f"{label} is left out: {reason}")
    rows = options.rows or [row for row in ROWS if "NumPy" not in row or not is_pypy(options.on)]
    if options.compile:
        title, found = "the large library", compilation(places, options)
    elif options.count:
        title, found = f"{options.on}: instructions", in_turn(count, places, rows, options)
    else:
        title, found = f"{options.on}: ns", in_turn(measure, places, rows, options)
    print(table(lines_of(title, found, list(places))))
    return 0


if __name__ == "__main__":
    run_main(main, "benchmarks/author.py")
