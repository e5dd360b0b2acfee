"""Classes for native types: the parameters of constructors and the types of fields."""

from __future__ import annotations

from typing import Any, assert_type

import ffi_hpy
from ffi_hpy.dataclasses import KW_ONLY, IntEnum, asdict, entry, field, fields, method, py_class, replace


@py_class("typing_cases.Point")
class Point(ffi_hpy.Object):
    x: int
    y: int = 0
    _: KW_ONLY
    label: str | None = None
    tags: ffi_hpy.List[str] = field(default_factory=ffi_hpy.List)

    @method
    def norm(self) -> int:
        return abs(self.x) + abs(self.y)


point = Point(1, label="a")
assert_type(point, Point)
assert_type(point.x, int)
assert_type(point.label, "str | None")
assert_type(point.tags, "ffi_hpy.List[str]")
assert_type(point.norm(), int)
assert_type(replace(point, x=2), Point)
assert [f.name for f in fields(Point)] == ["x", "y", "label", "tags"]
assert asdict(point)["x"] == 1
point.x = 3

wrong: list[tuple[Any, ...]] = [(), (1, 2, "positional")]
for arguments in wrong:
    try:
        Point(*arguments)
    except TypeError:
        pass
    else:
        raise AssertionError(arguments)

try:
    Point("1")  # type: ignore[arg-type]
    Point(1, 2, "a")  # type: ignore[call-arg]
except TypeError:
    pass


class Color(IntEnum, type_key="typing_cases.Color"):
    red = entry(value=1)


assert Color.red.value == 1
