"""One side of a benchmark: a process that times calls through ffi_hpy or through tvm_ffi when it is told to.

Reads lines `ROW MODE N` and answers each with the ns per call of N calls, the cost of the empty loop taken off.
`ROW?` with N 0 asks whether this side knows the row. Usage: side.py ffi_hpy|tvm_ffi LIBRARY
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import time
from typing import Any

# What is timed. `nop` takes anything and returns None, `echo` returns its argument.
ROWS = {
    "no argument": "nop()",
    "int echoed": "echo(7)",
    "three ints": "nop(1, 2, 3)",
    "float": "echo(1.5)",
    "str": "echo('hello')",
    "str of 4 in": "nop('abcd')",
    "str of 100 in": "nop(text)",
    "bytes of 20 in": "nop(data)",
    "list of 10 ints in": "nop(numbers)",
    "dict of 10 ints in": "nop(table)",
    "tuple of 3 in": "nop(pair)",
    "object in": "nop(obj)",
    "object echoed": "echo(obj)",
    "Tensor": "nop(tensor)",
    "NumPy array": "nop(array)",
    "field read": "obj.a",
    "callback": "callback()",
}


def names_of(package: str, library: str) -> dict[str, Any]:
    """Everything the statements use. `library` registers the testing.* functions and types when it is loaded."""
    ffi = importlib.import_module(package)
    if package == "ffi_hpy":
        ctypes.CDLL(library)

        @ffi.register_object("testing.TestIntPair")
        class TestIntPair(ffi.Object):  # type: ignore[misc, name-defined]
            pass
    else:
        TestIntPair = importlib.import_module("tvm_ffi.testing").TestIntPair
    names = {
        "nop": ffi.get_global_func("testing.nop"),
        "echo": ffi.get_global_func("testing.echo"),
        "callback": ffi.convert(lambda: None),
        "obj": TestIntPair(1, 2),
        "text": "x" * 100,
        "data": b"y" * 20,
        "numbers": list(range(10)),
        "table": {f"key {i}": i for i in range(10)},
        "pair": (1, "two", 3.0),
    }
    try:
        import numpy as np
    except ImportError:
        return names
    names["array"] = np.zeros(4, dtype="float32")
    names["tensor"] = ffi.from_dlpack(names["array"])
    return names


def make_loop(statement: str, names: dict[str, Any]) -> Any:
    """A function that runs the statement n times with the names as locals, as fast as the interpreter can."""
    source = f"def loop(n, {', '.join(f'{name}={name}' for name in names)}):\n for _ in range(n): {statement}\n"
    space = dict(names)
    exec(source, space)
    return space["loop"]


def seconds(loop: Any, n: int) -> float:
    """CPU time: what other processes take of the cores does not count."""
    start = time.thread_time()
    loop(n)
    return time.thread_time() - start


def main() -> None:
    names = names_of(sys.argv[1], sys.argv[2])
    loops = {row: make_loop(statement, names) for row, statement in ROWS.items()}
    empty = make_loop("pass", names)
    print("ready", flush=True)
    for line in sys.stdin:
        row, mode, count = line.rstrip("\n").split("\t")
        for function in ("nop", "echo", "callback"):
            names[function].release_gil = mode == "released"
        n = int(count)
        print((seconds(loops[row], n) - seconds(empty, n)) / n * 1e9, flush=True)


if __name__ == "__main__":
    main()
