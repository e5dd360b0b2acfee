"""A side of lifetimes.py: prints the results of the programs as JSON. Usage: lifetimes_side.py KIND FILE"""

from __future__ import annotations

import gc
import importlib
import json
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

N = 1000
CLASSES = ("Button", "Window", "Subject", "Shape", "Canvas")


def load(kind: str, file: str) -> Any:
    """Return the classes of the side, and its function alive()."""
    if kind in ("nanobind", "pybind11"):
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
    return SimpleNamespace(**found, alive=ffi.get_global_func("lifetimes.alive"))


def count(m: Any, make: Any) -> list[int]:
    """Return the number of objects that N calls leave alive, before and after garbage collections."""
    gc.collect()
    gc.disable()
    start = m.alive()
    for _ in range(N):
        make()
    before = m.alive() - start
    gc.enable()
    for _ in range(3):
        gc.collect()
        start = start if m.alive() else 0  # a call of native code, after which PyPy frees further objects
    return [before, m.alive() - start]


def windows(m: Any) -> list[int]:
    """Make windows, each with a button whose callback is a method of the window."""

    class View(m.Window):  # type: ignore[misc,name-defined]
        __slots__ = ("__dict__",)  # ffi_hpy and tvm_ffi give subclasses no attributes unless they ask

        def __init__(self) -> None:
            super().__init__()
            button = m.Button()
            button.on_click = self.clicked
            self.button = button

        def clicked(self) -> None:
            pass

    return count(m, View)


def observers(m: Any) -> list[int]:
    """Make subjects, each with a list of observers that refer to the subject."""

    class Observer:
        def __init__(self, subject: Any) -> None:
            self.subject = subject
            subject.add(self.notify)

        def notify(self) -> None:
            pass

    def make() -> None:
        subject = m.Subject()
        Observer(subject)
        Observer(subject)

    return count(m, make)


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


def main() -> None:
    m = load(*sys.argv[1:])
    back = came_back(m)
    print(json.dumps({"windows": windows(m), "observers": observers(m), "back": back}))


if __name__ == "__main__":
    main()
