"""The names of side.py's rows in plain Python: the cost of the same statements without native code."""

from __future__ import annotations

import copy
import dataclasses
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


def raise_at_depth(n: int = 0) -> None:
    if n == 0:
        raise ValueError("no")
    raise_at_depth(n - 1)


def caught(function: Any, *args: Any) -> None:
    try:
        function(*args)
    except ValueError:
        pass


def raise_error(kind: str, message: str) -> None:
    raise ValueError(message)


class Function:
    """A Python function that accepts GIL settings as native functions do, and ignores them."""

    release_gil = False

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)


@dataclasses.dataclass
class Point:
    x: int
    y: float


@dataclasses.dataclass
class Record:
    number: int
    name: str
    items: list[Any] = dataclasses.field(default_factory=list)
    point: Point = dataclasses.field(default_factory=lambda: Point(1, 2.5))
    last: int = 4


@dataclasses.dataclass
class Simple:
    x: int
    y: int


@dataclasses.dataclass(unsafe_hash=True)
class Four:
    v_i64: int
    v_i32: int
    v_f64: float
    v_f32: float


@dataclasses.dataclass
class Nested:
    v_map: dict[str, Pair]
    v_array: list[Pair]


def names() -> dict[str, Any]:
    pairs = [Pair(i, i) for i in range(10)]
    return {
        "nop": Function(lambda *args: None),
        "echo": Function(lambda value: value),
        "callback": Function(lambda: None),
        "caught": caught,
        "raiser": Function(raise_at_depth),
        "deep_raiser": Function(lambda: raise_at_depth(10)),
        "apply": Function(lambda function: function()),
        "raise_error": Function(raise_error),
        "obj": Pair(1, 2),
        "Pair": Pair,
        "base": Base(1),
        "derived": Base(1, (1, 2)),
        "Point": Point,
        "Record": Record,
        "point": Point(1, 2.5),
        "record": Record(1, "hello"),
        "copy": copy,
        "replace": dataclasses.replace,
        "Simple": Simple,
        "four": Four(1, 2, 3.0, 4.0),
        "other_four": Four(1, 2, 3.0, 4.0),
        "nested": Nested({f"k{i}": pair for i, pair in enumerate(pairs)}, pairs),
    }


# Replacements of the containers.
Array, List, Map, Dict = tuple, list, dict, dict
