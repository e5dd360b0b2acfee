"""One side of collector.py: a process under callgrind that collects garbage among many objects and labels the counts.

Usage: collector_side.py ffi_hpy|tvm_ffi|nanobind|plain MODULE MARKS N ROW..., where MODULE is that of
calls_nanobind.cc, for nanobind alone; MARKS is the library of callgrind_marks.c.
"""

from __future__ import annotations

import array
import ctypes
import gc
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROWS = (
    "no fields",
    "int fields",
    "a field without an object",
    "a field with an object",
    "attributes",
    "Functions of Python callables",
    "empty Lists",
    "Lists of an object",
    "items of a List",
)

YOUNG, YOUNG_ALONE = "objects of Python", "objects of Python alone"
"""The rows about collections of young objects, beside N objects with int fields, and without those."""
N_YOUNG = 100_000

Makers = dict[str, Callable[[], Any]]


def makers_of(package: str) -> Makers:
    """Return a function for each row, which makes one object."""
    ffi = importlib.import_module(package)
    py_class = importlib.import_module(f"{package}.dataclasses").py_class
    pair = importlib.import_module(f"{package}.testing").TestIntPair

    @py_class("bench.Empty")
    class Empty(ffi.Object):  # type: ignore[misc,name-defined]
        pass

    @py_class("bench.Holder")
    class Holder(ffi.Object):  # type: ignore[misc,name-defined]
        value: Any = None

    class Named(pair):  # type: ignore[misc,valid-type]
        __slots__ = ("__dict__",)

    one, shelf = pair(1, 2), ffi.List()

    def put() -> Any:
        made = pair(1, 2)
        shelf.append(made)
        return made

    def f() -> None:
        pass

    return dict(
        zip(
            ROWS,
            (
                Empty,
                lambda: pair(1, 2),
                Holder,
                lambda: Holder(one),
                lambda: Named(1, 2),
                lambda: ffi.convert(f),
                ffi.List,
                lambda: ffi.List([one]),
                put,
            ),
        )
    )


def makers(kind: str, module: str) -> Makers:
    if kind == "plain":
        # array.array is a type of C that the collector tracks, and visits its type only
        return dict.fromkeys(ROWS, lambda: array.array("b"))
    if kind == "nanobind":
        sys.path.insert(0, str(Path(module).parent))
        pair = importlib.import_module("calls_nanobind").Pair
        return {"int fields": lambda: pair(1, 2)}
    return makers_of(kind)


def label(mark: Callable[[bytes], None], row: str, work: Callable[[], object]) -> None:
    """Label the counts of one and of three runs of a function."""
    for n in (1, 3):
        mark(b"")
        for _ in range(n):
            work()
        mark(f"{n} {row}".encode())


def make_young() -> None:
    """Make objects that the automatic collections look at."""
    gc.enable()
    kept: list[Any] = [[] for _ in range(N_YOUNG)]
    gc.disable()
    kept.clear()


def settle() -> None:
    for _ in range(3):
        gc.collect()


def main() -> None:
    kind, module, marks, count, *rows = sys.argv[1:]
    mark = ctypes.CDLL(marks).mark
    mark.argtypes = [ctypes.c_char_p]
    found = makers(kind, module)
    gc.disable()
    settle()
    label(mark, "", gc.collect)
    for row in rows:
        if row in found:
            make = found[row]
            made = [make() for _ in range(int(count))]
            settle()
            label(mark, row, gc.collect)
            del made
    if YOUNG in rows:
        make = found["int fields"]
        for row, n in ((YOUNG_ALONE, 0), (YOUNG, int(count))):
            made = [make() for _ in range(n)]
            settle()
            label(mark, row, make_young)
            del made


if __name__ == "__main__":
    main()
