"""The side of gil.py: times calls with the GIL kept and released, and bare pairs of releasing and acquiring the GIL.

Reads lines `ROW MODE N` as side.py does; ROW "pair" calls the library of gil_pair.c, which GIL_PAIR names.
Usage: gil_side.py ffi_hpy LIBRARY
"""

from __future__ import annotations

import ctypes
import os
import sys

from side import ROWS, make_loop, names_of, seconds, serve


def main() -> None:
    names = names_of(sys.argv[1], sys.argv[2])
    pairs = ctypes.PyDLL(os.environ["GIL_PAIR"]).pairs
    pairs.argtypes, pairs.restype = [ctypes.c_long], None
    loops = {row: make_loop(ROWS[row], names) for row in ("no argument", "three ints", "int echoed", "callback")}
    empty = make_loop("pass", names)

    def time_row(row: str, mode: str, count: str) -> float:
        n = int(count)
        if row == "pair":
            return seconds(pairs, n) / n * 1e9
        for function in ("nop", "echo", "callback"):
            names[function].release_gil = mode == "released"
        return (seconds(loops[row], n) - seconds(empty, n)) / n * 1e9

    serve(time_row)


if __name__ == "__main__":
    main()
