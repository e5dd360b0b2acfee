"""The names that the rows of side.py use, made of plain Python: what the same statements cost without native code."""

from __future__ import annotations

from typing import Any


class Pair:
    __slots__ = ("a", "b")

    def __init__(self, a: int, b: int) -> None:
        self.a, self.b = a, b

    def sum(self) -> int:
        return self.a + self.b


class Base:
    __slots__ = ("v_array", "v_i64")

    def __init__(self, v_i64: int, v_array: Any = None) -> None:
        self.v_i64, self.v_array = v_i64, v_array


class Function:
    """A Python function that can be told about the GIL, as native ones can, and does not care."""

    release_gil = False

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)


def names() -> dict[str, Any]:
    return {
        "nop": Function(lambda *args: None),
        "echo": Function(lambda value: value),
        "callback": Function(lambda: None),
        "obj": Pair(1, 2),
        "Pair": Pair,
        "base": Base(1),
        "derived": Base(1, (1, 2)),
    }


# What stands for the containers.
Array, List, Map, Dict = tuple, list, dict, dict
