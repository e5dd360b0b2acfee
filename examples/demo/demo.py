"""Calls a native library with every kind of value, uses its objects, passes a callback to it, and catches its errors.

    python demo.py PATH/TO/demo_native.so

Prints each step, and one line of JSON at the end. If a result is not as expected, prints the difference and exits with
1.
"""

from __future__ import annotations

import json
import platform
import sys
import time
import traceback
from typing import Any

import ffi_hpy

try:
    import numpy
except ImportError:
    numpy = None


class Mismatch(Exception):
    """A result was not the expected one."""


def check(what: str, got: Any, expected: Any) -> None:
    """Print one step; raise Mismatch unless value and type are the expected ones."""
    if got != expected or not isinstance(got, type(expected)):
        raise Mismatch(f"{what}: got {got!r} ({type(got).__name__}), expected {expected!r} ({type(expected).__name__})")
    print(f"  {what} -> {got!r}")


def call_with_plain_values(lib: ffi_hpy.Module) -> None:
    """Pass int, float, bool, None, str and bytes."""
    check("add(40, 2)", lib.add(40, 2), 42)
    check("add(2**63 - 1, 0)", lib.add(2**63 - 1, 0), 2**63 - 1)
    check("halve(5.0)", lib.halve(5.0), 2.5)
    check("halve(5)", lib.halve(5), 2.5)
    check("negate(True)", lib.negate(True), False)
    check("is_none(None)", lib.is_none(None), True)
    check("is_none(0)", lib.is_none(0), False)
    check("greet('wörld')", lib.greet("wörld"), "hello, wörld")
    check("greet('')", lib.greet(""), "hello, ")
    check("reverse(b'stressed')", lib.reverse(b"stressed"), b"desserts")
    check("reverse(b'\\0\\x01')", lib.reverse(b"\0\x01"), b"\x01\0")
    check("nop()", lib.nop() is None, True)


def call_with_arrays(lib: ffi_hpy.Module) -> None:
    """Pass a sequence, a tensor made by the library, and NumPy arrays if NumPy is installed."""
    check("total([1, 2.5, True])", lib.total([1, 2.5, True]), 4.5)
    check("total(Array)", lib.total(ffi_hpy.Array(range(10))), 45.0)
    ramp = lib.ramp(5)
    check("ramp(5).shape", tuple(ramp.shape), (5,))
    check("ramp(5).dtype", str(ramp.dtype), "float64")
    check("str(ramp(5).device)", str(ramp.device), "cpu:0")
    check("total(ramp(5))", lib.total(ramp), 10.0)
    check("total(from_dlpack(ramp(5)))", lib.total(ffi_hpy.from_dlpack(ramp)), 10.0)
    if numpy is None:
        print("  (no NumPy here)")
        return
    check("total(numpy array)", lib.total(numpy.array([1.5, 2.5])), 4.0)
    check("total(every other element)", lib.total(numpy.arange(6.0)[::2]), 6.0)
    view = numpy.from_dlpack(ramp)
    check("numpy.from_dlpack(ramp(5))", view.tolist(), [0.0, 1.0, 2.0, 3.0, 4.0])
    check("it shares memory", view.ctypes.data, ramp.data_ptr())


def use_objects() -> type:
    """Define a class for the library's type, and use its fields, methods, constructor and identity."""

    @ffi_hpy.register_object("demo.Point")
    class Point(ffi_hpy.Object):
        """A point in the plane."""

        x: float
        y: float
        id: int

        def __repr__(self) -> str:
            return f"Point({self.x}, {self.y})"

    point = Point(3, 4)
    check("Point(3, 4).x", point.x, 3.0)
    check("Point(3, 4).norm()", point.norm(), 5.0)
    point.x = 0.0
    point.y = -2
    check("after x = 0.0, y = -2", (point.x, point.y, point.norm()), (0.0, -2.0, 2.0))
    origin = Point.origin()
    check("Point.origin()", isinstance(origin, Point), True)
    check("ids count up", origin.id, point.id + 1)
    check("equality is identity", (point == point, point == origin), (True, False))
    try:
        point.id = 7
    except AttributeError as error:
        print(f"  point.id = 7 -> AttributeError: {error}")
    else:
        raise Mismatch("a read-only field was written")
    return Point


def pass_objects_and_callbacks(lib: ffi_hpy.Module, point_class: Any) -> None:
    """Pass objects as arguments, also through a callback."""
    check("distance(Point(0, 0), Point(3, 4))", lib.distance(point_class(0, 0), point_class(3, 4)), 5.0)
    check("apply_twice(lambda x: x * 3, 5)", lib.apply_twice(lambda x: x * 3, 5), 45)
    check("apply_twice(lambda s: s + '!', 'oh')", lib.apply_twice(lambda s: s + "!", "oh"), "oh!!")
    point = point_class(1, 2)
    moved = lib.apply_twice(lambda p: point_class(p.x + 1, p.y), point)
    check("apply_twice(move right, Point(1, 2))", (moved.x, moved.y), (3.0, 2.0))
    check("apply_twice(same point) is the same object", lib.apply_twice(lambda p: p, point).same_as(point), True)


class OutOfStock(Exception):
    """An exception of the demo, with data in it."""

    def __init__(self, item: str, left: int) -> None:
        super().__init__(item, left)
        self.left = left


def get_errors(lib: ffi_hpy.Module) -> None:
    """Catch errors of the library, of the call itself, and of a callback."""
    try:
        lib.raise_error("no such luck")
    except ValueError as error:
        check("raise_error('no such luck')", str(error), "no such luck")
    else:
        raise Mismatch("raise_error() returned")

    def order(item: str) -> None:
        raise OutOfStock(item, left=0)

    try:
        lib.apply_twice(order, "umbrella")
    except OutOfStock as error:
        check("the callback's own exception comes back", (error.args, error.left), (("umbrella", 0), 0))
        frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        check("its traceback begins here", frames[0], "get_errors")
        check("and ends in the callback", frames[-1], "order")
        print("  the traceback:")
        for line in "".join(traceback.format_exception(type(error), error, error.__traceback__)).splitlines():
            print("    " + line)
    else:
        raise Mismatch("an exception in a callback was lost")

    for what, call, expected in (
        ("halve('x')", lambda: lib.halve("x"), TypeError),
        ("add(1)", lambda: lib.add(1), TypeError),
        ("add(2**63, 1)", lambda: lib.add(2**63, 1), TypeError),  # passed as a BigInt, which add() does not accept
        ("lib.no_such_function", lambda: lib.no_such_function, AttributeError),
    ):
        try:
            call()
        except expected as error:
            print(f"  {what} -> {type(error).__name__}: {error}")
        else:
            raise Mismatch(f"{what} did not raise {expected.__name__}")


def ns_per_call(function: Any, repeats: int = 7, seconds: float = 0.05) -> float:
    """Return the time of function() in nanoseconds, the best of several runs, including the loop around it."""

    def run(n: int) -> float:
        start = time.perf_counter()
        for _ in range(n):
            function()
        return time.perf_counter() - start

    n = 1000
    while run(n) < seconds:  # also warms up just-in-time compilers and caches
        n *= 2
    return min(run(n) for _ in range(repeats)) / n * 1e9


def main(path: str) -> None:
    """Run all steps and print the line of JSON."""
    interpreter = f"{platform.python_implementation()} {platform.python_version()}"
    if sys.implementation.name == "pypy":
        interpreter += " (PyPy {}.{}.{})".format(*sys.implementation.version[:3])
    gil = getattr(sys, "_is_gil_enabled", lambda: True)
    print(f"{interpreter}, ffi_hpy from {ffi_hpy.__path__[0]}")
    print(f"load {path}")
    lib = ffi_hpy.load_module(path)
    print("plain values")
    call_with_plain_values(lib)
    print("arrays")
    call_with_arrays(lib)
    print("objects")
    point_class = use_objects()
    print("objects and callbacks")
    pass_objects_and_callbacks(lib, point_class)
    print("errors")
    get_errors(lib)
    print("speed")
    nanoseconds = ns_per_call(lib.nop)
    print(f"  nop(): {nanoseconds:.1f} ns a call")
    outcome = {
        "ok": True,
        "interpreter": interpreter,
        "ns_per_call": round(nanoseconds, 1),
        "gil": gil(),
        "numpy": numpy is not None,
    }
    print(json.dumps(outcome))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python demo.py PATH/TO/demo_native.so")
    try:
        main(sys.argv[1])
    except Mismatch as mismatch:
        sys.exit(f"MISMATCH: {mismatch}")
