#!/usr/bin/env python3
"""Lifetimes of objects that Python and native code share: ffi_hpy against apache-tvm-ffi, nanobind and pybind11.

    python benchmarks/lifetimes.py [--on NAME ...] [--seconds] [--markdown]

The programs are equal for all sides (lifetimes_side.py). Most of them make cycles, and print the native objects that
are alive before and after gc.collect(); the last one gives C++ an object of a Python subclass, and gets the object
back. The classes are bound without help for the garbage collector. The program sets up its environments (the wheel of
this checkout, the peers' wheels from PyPI) and needs g++. On PyPy only ffi_hpy is measured.

With --seconds, it prints the duration of gc.collect() with ffi_hpy instead, and its ratio to the duration without the
search for cycles (FFI_HPY_COLLECT=0).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from scaling_sides import LABELS, PEERS, compile_library, find_place  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.matrix import BY_NAME  # noqa: E402
from ci.lib.messages import Missing, markdown_table, say, table  # noqa: E402
from ci.lib.process import output_of  # noqa: E402
from ci.provision.envs import python_of  # noqa: E402
from ci.provision.interpreters import provide  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402

PROGRAM = "lifetimes"


def cells_of(answer: str) -> dict[str, str]:
    """Return the cells of a side by program, from the JSON that it printed."""
    found = json.loads(answer)
    same_class, same_attribute, same_id, n_left = found["back"]
    if same_class and same_attribute and same_id:
        back = "itself"
    else:
        back = "a subclass without its attributes" if same_class else "the base class"
        back = "an equal copy" if same_class and same_attribute else back
    cells = {program: f"{before} -> {after}" for program, (before, after) in found["counts"].items()}
    return {**cells, "a subclass comes back as": back, "objects that are left": str(n_left)}


def measure(name: str, kind: str, wheel: Path) -> dict[str, str]:
    """Return the cells of a side. Raises Missing."""
    place = find_place(kind, name, provide(BY_NAME[name]), wheel, PROGRAM)
    is_module = kind in ("bound", "nanobind", "pybind11")
    file = place.file if is_module else compile_library(kind, place.env, f"{PROGRAM}_ffi")
    return cells_of(output_of([python_of(place.env), HERE / "lifetimes_side.py", kind, file]))


def measure_seconds(name: str, wheel: Path) -> list[list[str]]:
    """Return the rows of the collections on an interpreter. Raises Missing."""
    env = find_place("ffi_hpy", name, provide(BY_NAME[name]), wheel, PROGRAM).env
    file = compile_library("ffi_hpy", env, f"{PROGRAM}_ffi")
    command = [python_of(env), HERE / "lifetimes_side.py", "ffi_hpy", file, "seconds"]
    found, without = (json.loads(output_of(command, {"FFI_HPY_COLLECT": value})) for value in ("1", "0"))
    return [[name, row, f"{1000 * found[row]:.1f} ms", f"{found[row] / without[row]:.2f}"] for row in found]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", nargs="+", default=["cp311"], choices=sorted(BY_NAME), metavar="NAME")
    parser.add_argument("--wheel", type=Path, help="the wheel to measure; by default it is built from this checkout")
    parser.add_argument("--seconds", action="store_true", help="measure the duration of collections")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    wheel = options.wheel or build_wheel()
    if options.seconds:
        lines = [line for name in options.on for line in measure_seconds(name, wheel)]
        header = ["interpreter", "objects", "gc.collect()", "ratio"]
        print((markdown_table if options.markdown else table)([header, *lines]))
        return 0
    kinds = ("ffi_hpy", "bound", *PEERS)
    rows = []
    for name in options.on:
        sides = {}
        for kind in kinds if name.startswith("cp") else kinds[:1]:
            try:
                sides[kind] = measure(name, kind, wheel)
            except Missing as reason:
                if kind == "ffi_hpy":
                    raise
                say(f"{kind} is left out on {name}: {reason}")
        rows += [[name, row, *(sides.get(kind, {}).get(row, "-") for kind in kinds)] for row in sides["ffi_hpy"]]
    header = ["interpreter", "program", *(LABELS.get(kind, kind) for kind in kinds)]
    print((markdown_table if options.markdown else table)([header, *rows]))
    return 0


if __name__ == "__main__":
    run_main(main, "benchmarks/lifetimes.py")
