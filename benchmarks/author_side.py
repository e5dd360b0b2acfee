"""One side of author.py: a process that times rows of a bound library on request, or counts their instructions.

Usage: author_side.py KIND FILE N_OTHERS, or under callgrind author_side.py KIND FILE N_OTHERS MARKS N ROW...
N_OTHERS: how many objects live besides those of the rows.
"""

from __future__ import annotations

import gc
import importlib
import itertools
import sys
from pathlib import Path
from typing import Any

from instructions_side import count_rows
from plain import caught, raise_error
from side import serve_rows

ROWS = {
    "no argument": "nop()",
    "one int": "take_int(1)",
    "three ints": "take_ints(1, 2, 3)",
    "keywords": "take_named(a=1, b=2)",
    "str of 20 in": "take_text(text)",
    "str of 20 in and out": "echo_text(text)",
    "method": "pair.sum()",
    "method with an object": "pair.dot(other)",
    "method with a str of 20": "pair.name(text)",
    "operator +": "pair + other",
    "operator ==": "pair == other",
    "operator == with None": "pair == None",
    "operator !=": "pair != other",
    "property get": "pair.a",
    "property set": "pair.a = 7",
    "constructor": "Pair(1, 2)",
    "constructor and method": "Pair(1, 2).sum()",
    "constructor and property": "Pair(1, 2).a",
    "constructor by keywords": "NamedPair(a=1, b=2)",
    "constructor of a subclass": "Derived(1, 2)",
    "list of 10 ints in": "take_list(numbers)",
    "list of 10 objects in": "take_pairs(pairs)",
    "list of 10 ints out": "make_list()",
    "list of 10 ints in and out": "echo_list(numbers)",
    "dict of 10 ints in and out": "echo_dict(table)",
    "set of 10 ints in and out": "echo_set(numbers_set)",
    "tuple of 3 in and out": "echo_tuple(row)",
    "enum in and out": "echo_color(red)",
    "third overload": "overloaded(text)",
    "callback": "call(function)",
    "exception": "caught(fail)",
    "exception of a callback": "caught(call_object, failing)",
    "list of 10 ints iterated": "for _ in make_list(): pass",
    "object of 10 ints iterated": "for _ in iterable: pass",
    "override": "area_of(square)",
    "NumPy array in": "take_array(array)",
    "NumPy array in and out": "echo_array(array)",
    "10 items appended in C++": "append_each()",
    "10 items of a dict set in C++": "set_each()",
    "list of 10 read in C++": "add_each(numbers)",
    "10 attributes read in C++": "read_each(holder)",
    "10 calls of Python in C++": "call_each(function)",
    "object among 100,000": "many[next(place)] = Pair(1, 2)",
}


def names_of(file: str, n_others: int) -> dict[str, Any]:
    """Return the names in the statements."""
    sys.path.insert(0, str(Path(file).parent))
    if sys.implementation.name == "pypy":
        importlib.import_module("ffi_hpy")  # it finds files called .so, also if it is not installed
    module: Any = importlib.import_module(Path(file).stem)
    names = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    numbers = list(range(10))
    values = {"numbers": numbers, "numbers_set": set(numbers), "table": dict(zip(numbers, numbers))}
    values.update(text="a text of 20 letters", row=(1, 2.5, True), function=lambda x: x, caught=caught)
    many = [module.Pair(1, 2) for _ in range(n_others)]  # `place` leads to the oldest of these
    gc.collect()  # so that collections of young objects do not visit them
    values.update(many=many, place=itertools.cycle(range(n_others)))
    objects = {
        "pair": module.Pair(1, 2),
        "other": module.Pair(3, 4),
        "red": module.Color.red,
        "iterable": module.Numbers(),
        "pairs": [module.Pair(i, i) for i in numbers],
        "Derived": type("Derived", (module.Pair,), {}),
    }
    values.update(failing=lambda: raise_error("ValueError", "no"))
    names.update(values, **objects, square=square_of(module), array=array_of_numpy(), holder=Holder())
    return names


class Holder:
    """An object with an attribute."""

    attribute = 1


def array_of_numpy() -> Any:
    """Return an array of NumPy; None without NumPy, as on PyPy."""
    try:
        return importlib.import_module("numpy").arange(10.0)
    except ImportError:
        return None


def square_of(module: Any) -> Any:
    """Return an instance of a class of Python that overrides a virtual function."""

    class Square(module.Shape):  # type: ignore[misc]
        def area(self, scale: int) -> int:
            return scale

    return Square()


def main() -> None:
    _, file, n_others, *rest = sys.argv[1:]
    names = names_of(file, int(n_others))
    if not rest:
        serve_rows(ROWS, names)
        return
    marks, count, *rows = rest
    count_rows({row: ROWS[row] for row in rows}, names, marks, int(count))


if __name__ == "__main__":
    main()
