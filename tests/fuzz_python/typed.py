"""Values for the annotations of bound functions, such as `collections.abc.Mapping[str, int] | None`."""

from __future__ import annotations

import ast
import collections
import datetime
import functools
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from values import Values

INSTANCES: dict[str, Callable[[Values, int], Any]] = {}
"""The makers of instances of bound classes, by full name."""
_KINDS = {
    **{name: name for name in ("int", "float", "bool", "bytes", "list", "dict", "tuple", "slice")},
    "str": "text",
    "None": "nothing",
    "type": "cls",
    "ndarray": "foreign_array",
    "os.PathLike": "path",
    "pathlib.Path": "path",
    "collections.abc.Callable": "callback",
    "collections.abc.Iterable": "list",
    "collections.abc.Iterator": "iterator",
    "set": "group",
    "bytearray": "bytes",
}
_WRONG_ITEM = 25  # one item in so many is of any type
_TIMES = (
    *(datetime.timedelta(1, 2, 3), datetime.timedelta.max, datetime.timedelta.min, datetime.date(1970, 1, 1)),
    *(datetime.datetime(1969, 12, 31), datetime.datetime.max, datetime.datetime.min, datetime.time(1, 2, 3, 4)),
    datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc),
)


def overloads_of(function: Any) -> list[tuple[str, ...]]:
    """Return the annotations of the parameters of each overload, as the function's documentation has them."""
    found = []
    for line in (getattr(function, "__doc__", None) or "").splitlines():
        text = re.sub(r"ndarray\[(?:[^\[\]]|\[[^\]]*\])*\]", "ndarray", line)
        if not re.match(r"\w+\(.*\) -> ", text):
            break
        try:
            (defined,) = ast.parse(f"def {text}: ...").body
        except SyntaxError:  # `raise` is a keyword
            try:
                (defined,) = ast.parse(f"def _{text}: ...").body
            except SyntaxError:
                continue
        params = defined.args  # type: ignore[attr-defined]
        each = [*params.posonlyargs, *params.args]
        found.append(tuple("object" if p.annotation is None else _text_of(p.annotation) for p in each))
    return found


def value_of(values: Values, annotation: str, depth: int = 0) -> Any:
    """Return a value that mostly fits an annotation; any value for an unknown one."""
    return _value(values, _parsed(annotation), depth)


@functools.cache
def _parsed(annotation: str) -> ast.expr:
    try:
        return ast.parse(annotation, mode="eval").body
    except SyntaxError:
        return ast.Constant("?")


def _text_of(node: ast.expr) -> str:
    """Return the text of an annotation; ast.unparse exists from Python 3.9 on."""
    return ast.unparse(node)


def _value(values: Values, node: ast.expr, depth: int) -> Any:
    world = values.world
    if depth and world.one_in(_WRONG_ITEM):
        return values.any(depth)
    if isinstance(node, ast.BinOp):
        return _value(values, node.left if world.one_in(2) else node.right, depth)
    if isinstance(node, ast.Subscript):
        return _container(values, _text_of(node.value), _parts(node), depth)
    name = _text_of(node)
    if name in INSTANCES:
        return INSTANCES[name](values, depth)
    if name == "complex":
        return world.pick((1j, complex("nan"), values.float(), values.int()))
    if name.startswith("datetime."):
        return world.pick(_TIMES) if world.one_in(2) else values.float()
    if name == "int" and world.one_in(2):
        return world.below(4)  # it fits all types of C++
    kind = _KINDS.get(name)
    return values.any(depth) if kind is None else getattr(values, kind)(depth + 1)


def _parts(node: ast.Subscript) -> list[ast.expr]:
    inner: Any = node.slice
    return list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]


def _container(values: Values, name: str, parts: list[ast.expr], depth: int) -> Any:
    world = values.world

    def items(node: ast.expr) -> list[Any]:
        return [_value(values, node, depth + 1) for _ in range(world.below(4) if world.one_in(8) else 3)]

    if name == "tuple":
        made = [_value(values, part, depth + 1) for part in parts]
        return made if world.one_in(4) else tuple(made)
    if name.endswith("Mapping") or name == "dict":
        pairs = []
        for key, value in zip(items(parts[0]), items(parts[1])):
            try:
                hash(key)
            except Exception:
                continue
            pairs.append((key, value))
        return world.pick((dict, dict, collections.OrderedDict, list))(pairs)
    if name.endswith("Callable"):
        return values.callback(depth)
    if name.endswith(("Sequence", "Iterable", "list", "Set", "set")):
        made = items(parts[0])
        if name.endswith("et") and world.one_in(2):
            try:
                return set(made)
            except Exception:
                return made
        return world.pick((list, list, list, tuple, iter, collections.deque))(made)
    return values.any(depth)
