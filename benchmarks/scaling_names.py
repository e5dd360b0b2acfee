"""The names in the statements of scaling_rows.py, on each side: ffi_hpy, tvm_ffi, nanobind, pybind11, plain Python.

A side provides functions and classes, which all threads share, and makers of objects that a thread may have for itself.
A side lacks each row with a name that the side does not provide.
"""

from __future__ import annotations

import copy
import ctypes
import importlib
import importlib.machinery
import importlib.util
import itertools
import threading
from typing import Any, Callable, NamedTuple

import numpy
from plain import Pair, Point, caught, raise_error

N = 100  # items in a container


class Names(NamedTuple):
    values: dict[str, Any]  # one for all threads
    makers: dict[str, Callable[[], Any]]  # make objects for one thread, or for all together
    make_class: Callable[[], Any] | None  # makes a class with two fields


COMMON = {"caught": caught, "deepcopy": copy.deepcopy, "numpy_from_dlpack": numpy.from_dlpack}


def small_array() -> Any:
    return numpy.zeros(4, dtype="float32")


def filled(made: Any, items: dict[Any, int]) -> Any:
    for key, value in items.items():
        made[key] = value
    return made


def nothing() -> None:
    """A module-level function, for callbacks."""


def ffi_names(package: str, library: str, more: str, keeps_gil: bool) -> Names:
    """Return the names of ffi_hpy or tvm_ffi. Loading `library` registers the testing.* functions and types; loading
    `more` registers the functions of scaling_ffi.cc."""
    ffi = importlib.import_module(package)
    if package == "ffi_hpy":
        ctypes.CDLL(library)  # so that both sides use this library: ffi_hpy.testing uses the loaded one
    testing = importlib.import_module(f"{package}.testing")
    dataclasses = importlib.import_module(f"{package}.dataclasses")
    numbers, taking = itertools.count(), threading.Lock()

    ffi.load_module(more)

    def function(name: str, library: str = "testing") -> Any:
        found = ffi.get_global_func(f"{library}.{name}")
        if keeps_gil:
            found.release_gil = False
        return found

    def make_class(annotations: dict[str, Any]) -> Any:
        with taking:
            name = f"Class{next(numbers)}"
        made = type(ffi.Object)(name, (ffi.Object,), {"__annotations__": annotations})
        return dataclasses.py_class(f"scaling.{name}")(made)

    raise_native = function("test_raise_error")
    FfiPair, FfiPoint = testing.TestIntPair, make_class({"x": int, "y": float})
    PointerPair = dataclasses.c_class("scaling.Pair")(type(ffi.Object)("PointerPair", (ffi.Object,), {}))
    FfiRecord = make_class({"point": FfiPoint, "name": str})
    values = {
        "nop": function("nop"),
        "three": function("nop"),
        "take": function("nop"),
        "take_array": function("nop"),
        "echo_int": function("echo"),
        "echo": function("echo"),
        "look_up": ffi.get_global_func,
        "apply": function("apply"),
        "call": function("apply", "scaling"),
        "fail": lambda: raise_native("ValueError", "no"),
        "Pair": FfiPair,
        "Point": FfiPoint,
        "from_dlpack": ffi.from_dlpack,
        **COMMON,
    }
    makers: dict[str, Callable[[], Any]] = {
        "own_nop": lambda: function("nop"),
        "obj": lambda: PointerPair(1, 2),
        "counted": lambda: FfiPair(1, 2),
        "point": lambda: FfiPoint(1, 2.5),
        "lone": lambda: make_class({"x": int, "y": float})(1, 2.5),
        "record": lambda: FfiRecord(FfiPoint(1, 2.5), "a name of some length"),
        "ints": lambda: ffi.Array(range(N)),
        "objects": lambda: ffi.Array([FfiPair(i, i) for i in range(N)]),
        "items": lambda: ffi.List(range(N)),
        "text_map": lambda: ffi.Map({f"k{i}": i for i in range(N)}),
        "int_dict": lambda: ffi.Dict({i: i for i in range(N)}),
        "array": small_array,
        "tensor": lambda: ffi.from_dlpack(small_array()),
        "callback": lambda: ffi.convert(lambda: None),
        "module_callback": lambda: ffi.convert(nothing),
    }
    return Names(values, makers, lambda: make_class({"x": int, "y": float}))


def compiled_names(module_file: str) -> Names:
    """Return the names of a module that is compiled from C++ for this side alone, given its file."""
    name = module_file.rsplit("/", 1)[-1].split(".")[0]
    loader = importlib.machinery.ExtensionFileLoader(name, module_file)
    spec = importlib.util.spec_from_file_location(name, module_file, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    shared = ("nop", "three", "echo_int", "take", "take_array", "echo", "call", "fail", "Pair", "Point", "from_dlpack")
    values = {name: getattr(module, name) for name in shared if hasattr(module, name)}
    makers: dict[str, Callable[[], Any]] = {
        "obj": lambda: module.Pair(1, 2),
        "point": lambda: module.Point(1, 2.5),
        "record": lambda: module.Record(1, 2, "a name of some length"),
        "ints": lambda: module.Ints(range(N)),
        "objects": lambda: module.Objects([module.Pair(i, i) for i in range(N)]),
        "items": lambda: module.Ints(range(N)),
        "text_map": lambda: filled(module.TextMap(), {f"k{i}": i for i in range(N)}),
        "int_dict": lambda: filled(module.IntDict(), {i: i for i in range(N)}),
        "array": small_array,
        "callback": lambda: lambda: None,
        "module_callback": lambda: nothing,
    }
    if hasattr(module, "from_dlpack"):  # nanobind
        makers["tensor"] = lambda: module.from_dlpack(small_array())
    return Names({**values, **COMMON}, makers, None)


class Record:
    __slots__ = ("name", "point")

    def __init__(self, point: Point, name: str) -> None:
        self.point, self.name = point, name


def plain_names() -> Names:
    """Return the names of plain Python objects: the interpreter's own cost."""

    def make_class() -> Any:
        made = type("Class", (), {})
        for name in "abcde":
            setattr(made, name, 1)
        return made

    def make_lone() -> Any:
        return type("Lone", (Point,), {})(1, 2.5)

    functions: dict[str, Callable[..., Any]] = {"testing.nop": lambda: None}
    values = {
        "nop": lambda: None,
        "three": lambda a, b, c: None,
        "echo_int": lambda x: x,
        "take": lambda x: None,
        "take_array": lambda x: None,
        "echo": lambda x: x,
        "look_up": functions.get,
        "call": lambda f: f(),
        "fail": lambda: raise_error("ValueError", "no"),
        "Pair": Pair,
        "Point": Point,
        "from_dlpack": numpy.from_dlpack,
        **COMMON,
    }
    makers: dict[str, Callable[[], Any]] = {
        "own_nop": lambda: lambda: None,
        "obj": lambda: Pair(1, 2),
        "point": lambda: Point(1, 2.5),
        "lone": make_lone,
        "record": lambda: Record(Point(1, 2.5), "a name of some length"),
        "ints": lambda: tuple(range(N)),
        "objects": lambda: tuple(Pair(i, i) for i in range(N)),
        "items": lambda: list(range(N)),
        "text_map": lambda: {f"k{i}": i for i in range(N)},
        "int_dict": lambda: {i: i for i in range(N)},
        "array": small_array,
        "tensor": small_array,
        "callback": lambda: lambda: None,
        "module_callback": lambda: nothing,
    }
    return Names(values, makers, make_class)


def names_of(kind: str, file: str, more: str | None, keeps_gil: bool) -> Names:
    if kind == "plain":
        return plain_names()
    if kind in ("bound", "nanobind", "pybind11"):
        return compiled_names(file)
    assert more is not None
    return ffi_names(kind, file, more, keeps_gil)
