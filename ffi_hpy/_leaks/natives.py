"""Native objects that are alive, and the objects that each of them holds: in containers, fields and callbacks."""

from __future__ import annotations

import sys

from .._core import CMapping, CObject, CSequence, Function
from .._types.info import info_of_index
from .._values.function import native_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["ATOMS", "Natives", "callable_of", "key_of"]

ATOMS = frozenset((type(None), bool, int, float, complex, str, bytes, type(Ellipsis), range))
"""Classes whose instances hold no other objects."""


_POINTER_BYTES = 8
_visited = native_function("visited")


def key_of(wrapper: Any) -> str:
    """Return the type key of a wrapper's object."""
    return info_of_index(CObject.__type_index__(wrapper)).type_key


def callable_of(wrapper: Any) -> Any:
    """Return the Python callable of a callback; None for another object."""
    return wrapper._callable if Function in type(wrapper).__mro__ else None


class Natives:
    """Native objects by their pointers, each with a wrapper, which keeps it alive."""

    def __init__(self) -> None:
        self.wrappers: dict[int, Any] = {}
        self.edges: dict[int, list[tuple[str, int]]] = {}
        """The objects that an object holds, each with its place."""
        self.values: dict[int, list[Any]] = {}
        """The Python objects that an object holds."""
        self.in_python: set[int] = set()
        """The objects that had a wrapper before the report."""

    def add(self, wrapper: Any) -> int:
        """Add the object of a wrapper, and all objects that it holds. Return its pointer, 0 if it has none."""
        first = self._keep(wrapper)
        waiting = [first] if first else []
        while waiting:
            address = waiting.pop()
            if address in self.edges:
                continue
            edges, values = [], []
            for place, value in _parts_of(self.wrappers[address]):
                child = self._keep(value) if CObject in type(value).__mro__ else 0
                if child:
                    edges.append((place, child))
                    waiting.append(child)
                elif type(value) not in ATOMS:
                    values.append(value)
            values.append(callable_of(self.wrappers[address]))
            self.edges[address], self.values[address] = edges, values
        return first

    def _keep(self, wrapper: Any) -> int:
        try:
            address: int = CObject.__chandle__(wrapper)
        except Exception:  # the handle was moved away, or never set
            return 0
        if address:
            self.wrappers.setdefault(address, wrapper)
        return address

    def reach(self, address: int, reached: set[int]) -> list[Any]:
        """Add the pointers of an object, and of all that it holds, to `reached`. Return their wrappers and the Python
        objects that they hold."""
        values: list[Any] = []
        waiting = [address]
        while waiting:
            address = waiting.pop()
            if address not in reached:
                reached.add(address)
                values += self.attached(address)
                waiting += (child for _, child in self.edges[address])
        return values

    def attached(self, address: int) -> list[Any]:
        """Return the Python objects that live at least as long as an object: the objects that it holds, and its
        wrapper, which may have attributes that native code keeps alive."""
        return [*self.values[address], *([self.wrappers[address]] if address in self.in_python else ())]

    def find_holders(self) -> dict[int, list[str]]:
        """Return the holders of each object: a place, and the type that has it."""
        holders: dict[int, list[str]] = {}
        for address, edges in self.edges.items():
            for place, child in edges:
                holders.setdefault(child, []).append(f"{place} of {key_of(self.wrappers[address])}")
        return holders


def _is_alone() -> bool:
    """Whether no other thread runs Python code, which could change the members of C++ objects."""
    return getattr(sys, "_is_gil_enabled", lambda: True)() or len(sys._current_frames()) == 1


def _parts_of(wrapper: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values that an object holds, each with its place."""
    cls = type(wrapper)
    try:
        if issubclass(cls, CSequence):
            yield from (("item", value) for value in CSequence.__iter__(wrapper))
            return
        if issubclass(cls, CMapping):
            for key, value in CMapping._iter_items(wrapper):
                yield "key", key
                yield "value", value
            return
        info = info_of_index(CObject.__type_index__(wrapper))
        for index in (*info.type_ancestors, info.type_index):
            for field in info_of_index(index).fields or ():
                if field.size >= _POINTER_BYTES:  # a property of a bound class is a function, and has the size 1
                    yield f"field {field.name}", field.getter(wrapper)
        if _is_alone():
            yield from (("member", value) for value in _visited(CObject.__chandle__(wrapper)))
        if info.type_key == "ffi.OpaquePyObject":
            yield "object", wrapper.pyobject()
    except Exception:  # a getter of the program raised, or another thread changed the container
        return
