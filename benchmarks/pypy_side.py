"""One side of benchmarks/pypy.py: a process that times rows on request.

Reads lines `ROW N` and answers each with the ns per call of N calls, minus the cost of the same loop without the call.
Usage: pypy_side.py cffi|binding|by_hand|released|kept LIBRARY. cffi and binding are ffi_hpy on PyPy with that backend;
released and kept are ffi_hpy on CPython with the GIL mode of the environment.
"""

from __future__ import annotations

import ctypes
import math
import sys
from types import ModuleType
from typing import Any, NamedTuple

from plain import caught, raise_at_depth
from side import seconds, serve


class Row(NamedTuple):
    """A row: ffi_hpy's statement, and the equivalent statement by hand. `i` counts; `x` is the next of eight values."""

    statement: str
    by_hand: str = ""
    over: str = ""


# Results are kept, so that no compiler removes their computation; inputs change, so that none reads them only once.
ROWS = {
    "no argument": Row("nop()", "nop_none()"),
    "int echoed": Row("echo(i)", "echo_int(i)"),
    "three ints": Row("nop(i, 2, 3)", "nop_ints(i, 2, 3)"),
    "float echoed": Row("echo(x)", "echo_float(x)", "floats"),
    "text of 4 in": Row("nop(x)", "nop_text(x)", "short_texts"),
    "text of 100 in": Row("nop(x)", "nop_text(x)", "long_texts"),
    "object in": Row("nop(x)", "nop_object(x)", "pairs"),
    "object echoed": Row("echo(x)", "echo_object(x)", "pairs"),
    "method call, two ints": Row("x.take(i, 2)", "take(x, i, 2)", "pairs"),
    "object made by its constructor": Row("Pair(i, 2)", "make_pair(i, 2)"),
    "field read, int": Row("x.a", "words_at(x + INT_FIELD)[0]", "pairs"),
    "field read, float": Row("x.v_f64", "doubles_at(x + FLOAT_FIELD)[0]", "bases"),
    "field read, object": Row("x.v_array", "field_of_object(x)", "derived"),
    "field set": Row("x.v_i64 = i", "words_at(x + INT_FIELD)[0] = i", "bases"),
    "py_class field read": Row("x.x", "words_at(x + INT_FIELD)[0]", "points"),
    "py_class field set": Row("x.x = i", "words_at(x + INT_FIELD)[0] = i", "points"),
    "py_class object made": Row("Point(i, 2.5)"),
    "Array item": Row("ints[i & 511]", "item_of_array(ints, i & 511)"),
    "Array of 1000 ints iterated": Row("total_of(ints)", "total_of(ints)"),
    "Map item by short text": Row("text_map[x]", "item_of_map(text_map, x)", "keys"),
    "callback round trip": Row("returns(i)", "round_trip(i)"),
    "list of 10 ints in": Row("nop(x)", "nop_list(x)", "lists"),
    "DataType echoed": Row("echo(x)", "echo_value(DATA_TYPE, x)", "data_types"),
    "DataType in": Row("nop(x)", "nop_value(DATA_TYPE, x)", "data_types"),
    "Device echoed": Row("echo(x)", "echo_value(DEVICE, x)", "devices"),
    "Device in": Row("nop(x)", "nop_value(DEVICE, x)", "devices"),
    "List item": Row("items[i & 511]", "item_of_list(items, i & 511)"),
    "Dict item set": Row("int_dict[i & 63] = i", "set_item(int_dict, i & 63, i)"),
    "callback called by native code": Row("apply(returns, i)", "round_trip_within(i)"),
    "exception through a callback": Row("caught(raises)"),
}

VALUES: dict[str, Any] = {
    "floats": [i + 0.5 for i in range(8)],
    "short_texts": [f"abc{i}" for i in range(8)],
    "long_texts": [f"{i}" + "x" * 99 for i in range(8)],
    "keys": [f"k{i}" for i in range(8)],
    "lists": [list(range(i, i + 10)) for i in range(8)],
}


def total_of(items: Any) -> Any:
    """Iterate over `items`; a separate loop, as in a program."""
    total = 0
    for item in items:
        total += item
    return total


def names_of(kind: str, library: str) -> dict[str, Any]:
    """Return all names that the statements use."""
    if kind == "by_hand":
        import by_hand

        return {**vars(by_hand), **VALUES}
    import ffi_hpy

    ctypes.CDLL(library)
    nop = ffi_hpy.get_global_func("testing.nop")
    # Before the class is made: the class gets all methods that its type has at that time.
    ffi_hpy._core.method_define(ffi_hpy._core.type_key_to_index("testing.TestIntPair"), "take", nop, "{}", 0)
    from ffi_hpy import dataclasses, testing

    @dataclasses.py_class("bench.Point")
    class Point(ffi_hpy.Object):
        x: int
        y: float

    if sys.implementation.name == "pypy" and kind != ffi_hpy._core.CALLS:
        raise RuntimeError(f"calls were to go by {kind}, and go by {ffi_hpy._core.CALLS}")
    return {
        "nop": nop,
        "echo": ffi_hpy.get_global_func("testing.echo"),
        "apply": ffi_hpy.get_global_func("testing.apply"),
        "returns": ffi_hpy.convert(lambda value: value),
        "raises": ffi_hpy.convert(raise_at_depth),
        "caught": caught,
        "total_of": total_of,
        "Pair": testing.TestIntPair,
        "Point": Point,
        "points": [Point(i, 2.5) for i in range(8)],
        "pairs": [testing.TestIntPair(i, i) for i in range(8)],
        "bases": [testing.TestObjectBase(v_i64=i, v_f64=i + 0.5) for i in range(8)],
        "derived": [testing.TestObjectDerived({}, [1, 2]) for _ in range(8)],
        "ints": ffi_hpy.Array(range(1000)),
        "items": ffi_hpy.List(range(1000)),
        "text_map": ffi_hpy.Map({f"k{i}": i for i in range(100)}),
        "int_dict": ffi_hpy.Dict({i: i for i in range(100)}),
        "data_types": [ffi_hpy.dtype(name) for name in ("int32", "float32", "uint32", "int64") * 2],
        "devices": [ffi_hpy.device("cpu", i) for i in range(8)],
        **VALUES,
    }


def make_loops(row: Row, statement: str, names: dict[str, Any]) -> tuple[Any, Any]:
    """Return a function that runs the statement n times, and the same loop without the statement. The names are globals
    of a module, as in programs: just-in-time compilers treat the dict of a module specially."""
    keeps = " = i" not in statement
    body = f"kept[i & 7] = {statement}" if keeps else statement
    rest = "kept[i & 7] = i" if keeps else "pass"
    draw = f"x = {row.over}[i & 7]" if row.over else "pass"
    space = vars(ModuleType("rows"))
    space.update(names)
    for name, last_line in (("timed", body), ("empty", rest)):
        lines = [f"def {name}(n):", " kept = [None] * 8", " for i in range(n):", f"  {draw}", f"  {last_line}"]
        exec("\n".join([*lines, " return kept"]), space)
    return space["timed"], space["empty"]


def main() -> None:
    kind, library = sys.argv[1:]
    names = names_of(kind, library)
    statements = {row: ROWS[row].by_hand if kind == "by_hand" else ROWS[row].statement for row in ROWS}
    loops = {row: make_loops(ROWS[row], statement, names) for row, statement in statements.items() if statement}

    def time_row(row: str, count: str) -> float:
        if row not in loops:
            return math.nan
        timed, empty = loops[row]
        n = int(count)
        return (seconds(timed, n) - seconds(empty, n)) / n * 1e9

    serve(time_row)


if __name__ == "__main__":
    main()
