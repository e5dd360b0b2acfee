"""One side of a benchmark: a process that times calls of ffi_hpy, tvm_ffi or plain Python, on request.

Reads lines `ROW N` and answers each with the ns per call of N calls, minus the cost of the empty loop. The environment
determines whether calls release the GIL. Usage: side.py ffi_hpy|tvm_ffi|plain LIBRARY
"""

from __future__ import annotations

import copy
import ctypes
import importlib
import itertools
import sys
import time
from typing import Any, Callable, Union

from plain import caught, raise_at_depth

# The timed statements. `nop` takes anything and returns None, `echo` returns its argument.
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
    "field set": "base.v_i64 = 7",
    "field of an object read": "derived.v_array",
    "object made": "Pair(1, 2)",
    "py_class object made": "Point(1, 2.5)",
    "py_class object made by keywords": "Point(x=1, y=2.5)",
    "py_class object of defaults made": "Record(1, 'hello')",
    "py_class field read": "point.x",
    "py_class text field read": "record.name",
    "py_class object field read": "record.point",
    "py_class field set": "point.x = 7",
    "py_class text field set": "record.name = 'hello'",
    "py_class object field set": "record.point = point",
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
    "Dict item set": "int_dict[5] = 6",
    "in a Dict": "5 in int_dict",
    "Array of 10 made": "Array(ten_list)",
    "List of 10 made": "List(ten_list)",
    "Dict of 10 made": "Dict(ten_dict)",
    "callback": "callback()",
    "raise through a callback": "caught(raiser)",
    "raise through a callback and native code": "caught(apply, raiser)",
    "raise through a callback, 10 frames deep": "caught(deep_raiser)",
    "error of native code raised": "caught(raise_error, 'ValueError', 'no')",
    "schema: int": "int_schema.convert(7)",
    "schema: str": "str_schema.convert('hello')",
    "schema: list[int] of 10": "list_schema.convert(ten_list)",
    "schema: dict[int, int] of 10": "dict_schema.convert(ten_dict)",
    "schema: Array[int] of 10": "array_schema.convert(ten)",
    "schema: Map[str, int] of 100": "map_schema.convert(text_map)",
    "schema: int | str | list[int]": "union_schema.convert('hello')",
    "schema: made of an annotation": "schema_of(list[int])",
    "c_class made": "Simple(1, 2)",
    "c_class made by name": "Simple(x=1, y=2)",
    "repr": "repr(obj)",
    "repr, nested": "repr(nested)",
    "fields compared": "four == other_four",
    "fields hashed": "hash(four)",
    "copy": "copy.copy(four)",
    "deep copy": "copy.deepcopy(four)",
    "deep copy, nested": "copy.deepcopy(nested)",
    "replace": "replace(four, v_f64=1.0)",
}

ARRAY_ROWS = ("Tensor", "NumPy array")  # rows that need NumPy
NATIVE_ROWS = (*ARRAY_ROWS, *(row for row in ROWS if row.startswith("schema")))  # plain Python has no equivalent

VALUES = {
    "text": "x" * 100,
    "data": b"y" * 20,
    "numbers": list(range(10)),
    "table": {f"key {i}": i for i in range(10)},
    "pair": (1, "two", 3.0),
}


def names_of(package: str, library: str) -> dict[str, Any]:
    """Return all names that the statements use. Loading `library` registers the testing.* functions and types."""
    ffi = importlib.import_module(package)
    if package == "plain":
        return {**ffi.names(), **container_names(ffi, ffi.Pair), **VALUES}
    if package == "ffi_hpy":
        ctypes.CDLL(library)  # so that both sides use this library: ffi_hpy.testing uses the loaded one
    testing = importlib.import_module(f"{package}.testing")
    TestIntPair, TestObjectBase, TestObjectDerived = (
        getattr(testing, name) for name in ("TestIntPair", "TestObjectBase", "TestObjectDerived")
    )
    names = {
        "nop": ffi.get_global_func("testing.nop"),
        "echo": ffi.get_global_func("testing.echo"),
        "callback": ffi.convert(lambda: None),
        "caught": caught,
        "raiser": ffi.convert(raise_at_depth),
        "deep_raiser": ffi.convert(lambda: raise_at_depth(10)),
        "apply": ffi.get_global_func("testing.apply"),
        "raise_error": ffi.get_global_func("testing.test_raise_error"),
        "obj": TestIntPair(1, 2),
        "Pair": TestIntPair,
        "base": TestObjectBase(v_i64=1),
        "derived": TestObjectDerived({}, [1, 2]),
        **container_names(ffi, TestIntPair),
        **schema_names(ffi),
        **py_class_names(ffi),
        **dataclass_names(ffi, testing),
        **VALUES,
    }
    try:
        import numpy as np
    except ImportError:
        return names
    names["array"] = np.zeros(4, dtype="float32")
    names["tensor"] = ffi.from_dlpack(names["array"])
    return names


def py_class_names(ffi: Any) -> dict[str, Any]:
    dataclasses = importlib.import_module(f"{ffi.__name__}.dataclasses")

    @dataclasses.py_class("bench.Point")
    class Point(ffi.Object):  # type: ignore[misc, name-defined]
        x: int
        y: float

    body = {"__annotations__": {"number": int, "name": str, "items": list, "point": Point, "last": int}}
    defaults = {"items": dataclasses.field(default_factory=list), "point": Point(1, 2.5), "last": 4}
    Record = dataclasses.py_class("bench.Record")(type(ffi.Object)("Record", (ffi.Object,), {**body, **defaults}))
    return {"Point": Point, "Record": Record, "point": Point(1, 2.5), "record": Record(1, "hello")}


def schema_names(ffi: Any) -> dict[str, Any]:
    schema_of = ffi.core.TypeSchema.from_annotation
    return {
        "schema_of": schema_of,
        "int_schema": schema_of(int),
        "str_schema": schema_of(str),
        "list_schema": schema_of(list[int]),
        "dict_schema": schema_of(dict[int, int]),
        "array_schema": schema_of(ffi.Array[int]),
        "map_schema": schema_of(ffi.Map[str, int]),
        "union_schema": schema_of(Union[int, str, list[int]]),
    }


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
        "int_dict": ffi.Dict({i: i for i in range(100)}),
    }


def dataclass_names(ffi: Any, testing: Any) -> dict[str, Any]:
    dataclasses = importlib.import_module(f"{ffi.__name__}.dataclasses")
    pairs = [testing.TestIntPair(i, i) for i in range(10)]
    return {
        "copy": copy,
        "replace": dataclasses.replace,
        "Simple": testing._TestCxxAutoInitSimple,
        "four": testing._TestCxxClassDerived(1, 2, 3.0, 4.0),
        "other_four": testing._TestCxxClassDerived(1, 2, 3.0, 4.0),
        "nested": testing.TestObjectDerived({f"k{i}": pair for i, pair in enumerate(pairs)}, pairs),
    }


def make_loop(statement: str, names: dict[str, Any]) -> Any:
    """Return a function that runs the statement n times with the names as locals, as fast as the interpreter can.

    The loop counts without creating numbers, because their cost depends on the state of the small-object allocator.
    """
    space = {**names, "repeat": itertools.repeat}
    parameters = ", ".join(f"{name}={name}" for name in space)
    source = f"def loop(n, {parameters}):\n for _ in repeat(None, n):\n  {statement}\n"
    exec(source, space)
    return space["loop"]


def seconds(loop: Any, n: int) -> float:
    """Return CPU time, so that other processes on the cores do not count."""
    start = time.thread_time()
    loop(n)
    return time.thread_time() - start


def serve(answer: Callable[..., float]) -> None:
    """Answer each line of words with a number."""
    print("ready", flush=True)
    for line in sys.stdin:
        print(answer(*line.rstrip("\n").split("\t")), flush=True)


def serve_rows(statements: dict[str, str], names: dict[str, Any]) -> None:
    """Answer lines `ROW N` with the ns per call of N calls, minus the cost of the empty loop."""
    loops = {row: make_loop(statement, names) for row, statement in statements.items()}
    empty = make_loop("pass", names)

    def time_row(row: str, count: str) -> float:
        n = int(count)
        return (seconds(loops[row], n) - seconds(empty, n)) / n * 1e9

    serve(time_row)


def main() -> None:
    names = names_of(sys.argv[1], sys.argv[2])
    rows = {row: statement for row, statement in ROWS.items() if sys.argv[1] != "plain" or row not in NATIVE_ROWS}
    serve_rows(rows, names)


if __name__ == "__main__":
    main()
