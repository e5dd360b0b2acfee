"""A side of lifetimes.py: prints the results of the programs as JSON; with `seconds`, of collections instead.

Usage: lifetimes_side.py KIND FILE [seconds]
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
import threading
import time
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any

N = 1000
CLASSES = ("Button", "Window", "Subject", "Gate", "Node", "Shape", "Canvas")


def load(kind: str, file: str) -> Any:
    """Return the classes of the side, and its function alive()."""
    if kind in ("bound", "nanobind", "pybind11"):
        name = Path(file).stem
        spec = spec_from_file_location(name, file, loader=ExtensionFileLoader(name, file))
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    ffi = importlib.import_module(kind)
    ffi.load_module(file)
    found = {name: ffi.register_object(f"lifetimes.{name}")(type(name, (ffi.Object,), {})) for name in CLASSES}
    py_class = importlib.import_module(f"{kind}.dataclasses").py_class

    @py_class("lifetimes.Closure")
    class Closure(ffi.Object):  # type: ignore[misc,name-defined]
        shape: Any = None
        own: Any = None

    return SimpleNamespace(**found, Closure=Closure, alive=ffi.get_global_func("lifetimes.alive"))


def count(m: Any, make: Any, n: int = N) -> list[int]:
    """Return the number of objects that n calls leave alive, before and after garbage collections."""
    gc.collect()
    gc.disable()
    start = m.alive()
    for _ in range(n):
        make()
    before = m.alive() - start
    gc.enable()
    for _ in range(3):
        gc.collect()
        start = start if m.alive() else 0  # a call of native code, after which PyPy frees further objects
    return [before, m.alive() - start]


def view_class(m: Any) -> Any:
    """Return a class of windows, each with a button whose callback is a method of the window."""

    class View(m.Window):  # type: ignore[misc,name-defined]
        __slots__ = ("__dict__",)  # ffi_hpy and tvm_ffi give subclasses no attributes unless they ask

        def __init__(self) -> None:
            super().__init__()
            button = m.Button()
            button.on_click = self.clicked
            self.button = button

        def clicked(self) -> None:
            pass

    return View


def windows(m: Any) -> list[int]:
    """Make such windows."""
    return count(m, view_class(m))


def observers(m: Any, in_map: bool = False) -> list[int]:
    """Make subjects, each with a list (or map) of observers that refer to the subject."""

    class Observer:
        def __init__(self, subject: Any) -> None:
            self.subject = subject
            subject.name(str(id(self)), self.notify) if in_map else subject.add(self.notify)

        def notify(self) -> None:
            pass

    def make() -> None:
        subject = m.Subject()
        Observer(subject)
        Observer(subject)

    return count(m, make)


def closures(m: Any) -> list[int]:
    """Make objects of a class of Python, each with a closure over itself: a py_class where the package has it."""

    class Derived(m.Shape):  # type: ignore[misc,name-defined]
        __slots__ = ("__dict__",)

    def make() -> None:
        if hasattr(m, "Closure"):
            made = m.Closure()
            made.shape = m.Shape()
        else:
            made = Derived()
        made.own = lambda: made

    return count(m, make)


def typed_functions(m: Any) -> list[int]:
    """Make objects with a field that is a function of one signature, which refers to the object."""

    def make() -> None:
        gate = m.Gate()
        gate.check = lambda number: number if gate else 0

    return count(m, make)


def ring(m: Any) -> list[int]:
    """Make a ring of 10,000 nodes."""

    def make() -> None:
        first = last = m.Node()
        for _ in range(9_999):
            node = m.Node()
            last.next = node
            last = node
        last.next = first

    return count(m, make, 1)


def threads(m: Any) -> list[int]:
    """Make pairs of windows in two threads; the button of each has a callback that refers to the other window."""

    def make() -> None:
        made: list[Any] = []
        for _ in range(2):
            thread = threading.Thread(target=lambda: made.append(m.Window()))
            thread.start()
            thread.join()
        one, other = made
        for window, peer in ((one, other), (other, one)):
            window.button = m.Button()
            window.button.on_click = lambda peer=peer: None

    return count(m, make, 100)


def came_back(m: Any) -> list[Any]:
    """Return whether objects of a Python subclass that only C++ holds come back as the same object: its class, an
    attribute, its id; and the number of them that are alive after C++ has let go."""

    class Square(m.Shape):  # type: ignore[misc,name-defined]
        __slots__ = ("__dict__",)

        def __init__(self, side: int) -> None:
            super().__init__()
            self.side = side

    canvas = m.Canvas()
    square = Square(3)
    number = id(square)
    canvas.add(square)
    del square
    gc.collect()
    fillers = [object() for _ in range(1000)]  # take the memory of a freed object
    found = canvas.last()
    same = [type(found) is Square, getattr(found, "side", None) == 3, id(found) == number]
    del canvas, found, fillers
    for _ in range(3):
        gc.collect()
        m.alive()
    return [*same, m.alive()]


def seconds(m: Any) -> dict[str, float]:
    """Return the seconds of gc.collect() while objects are alive, outside of cycles or in them, and after they died."""

    def measure() -> float:
        start = time.perf_counter()
        gc.collect()
        return time.perf_counter() - start

    View = view_class(m)
    gc.collect()
    gc.disable()
    kept = [m.Shape() for _ in range(100_000)]
    found = {"100,000 objects without cycles": min(measure() for _ in range(5))}
    kept = [View() for _ in range(5_000)]
    measure()
    found["5,000 windows that are alive"] = min(measure() for _ in range(5))
    kept.clear()
    for _ in range(3):
        measure()
    for _ in range(5_000):
        View()
    found["5,000 windows that are garbage"] = measure()
    return found


def main() -> None:
    m = load(*sys.argv[1:3])
    if sys.argv[3:] == ["seconds"]:
        print(json.dumps(seconds(m)))
        return
    back = came_back(m)
    counts = {
        "windows": windows(m),
        "observers in a list": observers(m),
        "observers in a map": observers(m, in_map=True),
        "a closure over itself": closures(m),
        "a typed function": typed_functions(m),
        "a ring of 10,000 nodes": ring(m),
        "pairs of two threads": threads(m),
    }
    print(json.dumps({"counts": counts, "back": back}))


if __name__ == "__main__":
    main()
