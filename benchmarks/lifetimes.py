#!/usr/bin/env python3
"""Lifetimes of objects that Python and native code share: ffi_hpy against apache-tvm-ffi, nanobind and pybind11.

    python benchmarks/lifetimes.py [--on NAME ...] [--markdown]

Three programs, which are equal for all sides (lifetimes_side.py): windows, each with a button whose callback is a
method of the window; subjects, each with a list of observers that refer to the subject; and an object of a Python
subclass that only C++ holds, and that Python gets back. The first two print the native objects that are alive before
and after gc.collect(), of 1000. The classes are bound without help for the garbage collector. The program sets up its
environments (the wheel of this checkout, the peers' wheels from PyPI) and needs g++. On PyPy only ffi_hpy is measured.
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
HEADER = ("interpreter", "side", "windows", "observers", "subclass comes back as", "left")


def row_of(name: str, kind: str, answer: str) -> list[str]:
    """Return the row of a side, from the JSON that it printed."""
    found = json.loads(answer)
    same_class, same_attribute, same_id, n_left = found["back"]
    if same_class and same_attribute and same_id:
        back = "itself"
    else:
        back = "a subclass without its attributes" if same_class else "the base class"
        back = "an equal copy" if same_class and same_attribute else back
    counts = [f"{before} -> {after}" for before, after in (found["windows"], found["observers"])]
    return [name, LABELS.get(kind, kind), *counts, back, str(n_left)]


def measure(name: str, kind: str, wheel: Path) -> list[str]:
    """Return the row of a side. Raises Missing."""
    place = find_place(kind, name, provide(BY_NAME[name]), wheel, PROGRAM)
    file = place.file if kind in ("nanobind", "pybind11") else compile_library(kind, place.env, f"{PROGRAM}_ffi")
    return row_of(name, kind, output_of([python_of(place.env), HERE / "lifetimes_side.py", kind, file]))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", nargs="+", default=["cp311"], choices=sorted(BY_NAME), metavar="NAME")
    parser.add_argument("--wheel", type=Path, help="the wheel to measure; by default it is built from this checkout")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    wheel = options.wheel or build_wheel()
    rows = []
    for name in options.on:
        for kind in ("ffi_hpy", *PEERS) if name.startswith("cp") else ("ffi_hpy",):
            try:
                rows.append(measure(name, kind, wheel))
            except Missing as reason:
                if kind == "ffi_hpy":
                    raise
                say(f"{kind} is left out on {name}: {reason}")
    print((markdown_table if options.markdown else table)([HEADER, *rows]))
    return 0


if __name__ == "__main__":
    run_main(main, "benchmarks/lifetimes.py")
