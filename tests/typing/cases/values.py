"""Values, functions and containers in a program's code: mypy --strict must accept it, and the program must run."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Callable, assert_type

import ffi_hpy
from ffi_hpy import Array, Dict, Function, List, Map, Shape


def double(x: int) -> int:
    return 2 * x


@ffi_hpy.register_global_func("typing_cases.double")
def registered(x: int) -> int:
    return 2 * x


assert_type(ffi_hpy.get_global_func("typing_cases.double"), Function)
assert_type(ffi_hpy.get_global_func("typing_cases.none", allow_missing=True), "Function | None")
assert_type(ffi_hpy.list_global_func_names(), "list[str]")
assert_type(ffi_hpy.get_global_func_metadata("typing_cases.double"), dict[str, typing.Any])
assert_type(registered, Function)
assert registered(3) == 6

numbers = Array([1, 2, 3])
assert_type(numbers, "Array[int]")
assert_type(numbers[0], int)
assert_type(numbers[0:2], "list[int]")
assert_type([double(item) for item in numbers], "list[int]")
assert_type(1 in numbers, bool)
items: Sequence[int] = numbers

names = List(["a"])
assert_type(names, "List[str]")
names.append("b")
names.append(1)  # type: ignore[arg-type]
assert_type(names.pop(), str)
names.clear()

table = Map({"a": 1})
assert_type(table, "Map[str, int]")
assert_type(table["a"], int)
assert_type(table.get("b"), "int | None")
assert_type(table.get("b", "nothing"), "int | str")
assert_type(list(table.items()), "list[tuple[str, int]]")

counts = Dict({"a": 1})
assert_type(counts, "Dict[str, int]")
counts["b"] = 2
assert_type(counts.pop("b"), int)
assert_type(counts.pop("b", None), "int | None")
counts[1] = 2  # type: ignore[index]

assert_type(Shape((1, 2)), Shape)
assert_type(ffi_hpy.device("cpu", 0), ffi_hpy.Device)
assert_type(ffi_hpy.dtype("float32"), ffi_hpy.dtype)
assert_type(ffi_hpy.dtype("float32").bits, int)


@ffi_hpy.register_object("ffi.reflection.AccessPath")
class Path(ffi_hpy.Object):
    """A class for a native type keeps its own type."""

    def steps(self) -> int:
        return 0


assert_type(Path, "type[Path]")


@ffi_hpy.register_error
class CaseError(RuntimeError):
    pass


assert_type(CaseError("x"), CaseError)
assert_type(ffi_hpy.register_global_func("typing_cases.other", double), Function)
assert_type(ffi_hpy.register_global_func(double, override=True), Function)
assert_type(ffi_hpy.init_ffi_api("typing_cases", __name__), None)

for name in ("typing_cases.other", "double"):
    ffi_hpy.remove_global_func(name)
ffi_hpy.remove_global_func("typing_cases.double")
callback: Callable[[int], int] = double
