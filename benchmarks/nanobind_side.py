"""nanobind's side of calls.py: a process that times calls into the module of calls_nanobind.cc on request.

Reads lines `ROW N` and answers each as side.py does. Usage: nanobind_side.py nanobind FILE
"""

from __future__ import annotations

import sys

from instructions_side import ROWS, nanobind_names
from side import make_loop, seconds


def main() -> None:
    names = nanobind_names(sys.argv[2])
    loops = {row: make_loop(statement, names) for row, statement in ROWS.items() if statement is not None}
    empty = make_loop("pass", names)
    print("ready", flush=True)
    for line in sys.stdin:
        row, count = line.rstrip("\n").split("\t")
        n = int(count)
        print((seconds(loops[row], n) - seconds(empty, n)) / n * 1e9, flush=True)


if __name__ == "__main__":
    main()
