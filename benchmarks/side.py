"""One side of a benchmark: a process that times calls, through ffi_hpy or tvm_ffi or of plain Python, when told to.

Reads lines `ROW MODE N` and answers each with the ns per call of N calls, the cost of the empty loop taken off.
`ROW?` with N 0 asks whether this side knows the row. Usage: side.py ffi_hpy|tvm_ffi|plain LIBRARY
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
    "object in": "nop(obj)",
    "object echoed": "echo(obj)",
    "Tensor": "nop(tensor)",
    "NumPy array": "nop(array)",
    "field read": "obj.a",
    "field set": "base.v_i64 = 7",
    "field of an object read": "derived.v_array",
    "object made": "Pair(1, 2)",
    "method call": "obj.sum()",
    "Array item": "ints[500]",
    "Array item, an object": "objects[500]",
    "Array of 1000 iterated": "for _ in ints: pass",
    "Array of 1000 objects iterated": "for _ in objects: pass",
    "Array slice of 10": "ints[100:110]",
    "len of an Array": "len(ints)",
    "in an Array of 10": "7 in ten",
    "List item": "items[500]",
    "List item set": "items[500] = 7",
    "List append and pop": "items.append(7); items.pop()",
    "Map item": "text_map['k5']",
    "Map of 100 iterated": "for _ in text_map.items(): pass",
    "Dict item set": "numbers[5] = 6",
    "in a Dict": "5 in numbers",
    "Array of 10 made": "Array(ten_list)",
    "List of 10 made": "List(ten_list)",
    "Dict of 10 made": "Dict(ten_dict)",
    "callback": "callback()",
}

ARRAY_ROWS = ("Tensor", "NumPy array")  # where there is NumPy


def names_of(package: str, library: str) -> dict[str, Any]:
    """Everything the statements use. `library` registers the testing.* functions and types when it is loaded."""
    ffi = importlib.import_module(package)
    if package == "plain":
        return {**ffi.names(), **container_names(ffi, ffi.Pair)}
    if package == "ffi_hpy":
        ctypes.CDLL(library)

        @ffi.register_object("testing.TestIntPair")
        class TestIntPair(ffi.Object):  # type: ignore[misc, name-defined]
            pass

        @ffi.register_object("testing.TestObjectBase")
        class TestObjectBase(ffi.Object):  # type: ignore[misc, name-defined]
            pass

        @ffi.register_object("testing.TestObjectDerived")
        class TestObjectDerived(TestObjectBase):
            pass
    else:
        testing = importlib.import_module("tvm_ffi.testing")
        TestIntPair, TestObjectDerived = testing.TestIntPair, testing.TestObjectDerived
        TestObjectBase = testing.TestObjectBase
    names = {
        "nop": ffi.get_global_func("testing.nop"),
        "echo": ffi.get_global_func("testing.echo"),
        "callback": ffi.convert(lambda: None),
        "obj": TestIntPair(1, 2),
        "Pair": TestIntPair,
        "base": TestObjectBase(v_i64=1),
        "derived": TestObjectDerived({}, [1, 2]),
        **container_names(ffi, TestIntPair),
    }
    try:
        import numpy as np
    except ImportError:
        return names
    names["array"] = np.zeros(4, dtype="float32")
    names["tensor"] = ffi.from_dlpack(names["array"])
    return names


def container_names(ffi: Any, cls: Any) -> dict[str, Any]:
    ten = list(range(10))
    return {
        "Array": ffi.Array,
        "List": ffi.List,
        "Dict": ffi.Dict,
        "ten": ffi.Array(ten),
        "ten_list": ten,
        "ten_dict": {i: i for i in ten},
        "ints": ffi.Array(range(1000)),
        "objects": ffi.Array([cls(i, i) for i in range(1000)]),
        "items": ffi.List(range(1000)),
        "text_map": ffi.Map({f"k{i}": i for i in range(100)}),
        "numbers": ffi.Dict({i: i for i in range(100)}),
    }


def make_loop(statement: str, names: dict[str, Any]) -> Any:
    """A function that runs the statement n times with the names as locals, as fast as the interpreter can."""
    source = f"def loop(n, {', '.join(f'{name}={name}' for name in names)}):\n for _ in range(n):\n  {statement}\n"
    space = dict(names)
    exec(source, space)
    return space["loop"]


def seconds(loop: Any, n: int) -> float:
    start = time.perf_counter()
    loop(n)
    return time.perf_counter() - start


def main() -> None:
    names = names_of(sys.argv[1], sys.argv[2])
    rows = {row: statement for row, statement in ROWS.items() if sys.argv[1] != "plain" or row not in ARRAY_ROWS}
    loops = {row: make_loop(statement, names) for row, statement in rows.items()}
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
