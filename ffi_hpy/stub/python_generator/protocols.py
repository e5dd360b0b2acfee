"""Signatures of methods with the names of Python's operators: they are as `_types/operators.py` makes the methods, and
as type checkers expect."""

from __future__ import annotations

from ..._types.operators import IN_PLACE, NUMERIC
from . import consts as PC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ...core import TypeSchema

__all__ = ["ANY_OPERAND", "DEPENDENT", "follow_protocol"]

DEPENDENT = IN_PLACE | {f"__r{name}__" for name in NUMERIC}
"""Methods that type checkers compare with another operator of the class."""
ANY_OPERAND = frozenset(("__eq__", "__ne__", "__contains__"))
"""Methods that accept an operand of any type; overloads of them have one signature."""
_RESULTS = {
    "__bool__": "bool",
    "__contains__": "bool",
    "__float__": "float",
    "__index__": "int",
    "__int__": "int",
    "__repr__": "str",
    "__str__": "str",
}
_SEQUENCES = frozenset(("Array", "List", "list", "set", "frozenset"))
_MAPPINGS = frozenset(("Map", "Dict", "dict"))
_N_EXIT = 3


def follow_protocol(
    name: str,
    words: list[str],
    returns: str,
    params: list[TypeSchema],
    result: TypeSchema,
    ty_map: Callable[[str], str],
) -> tuple[list[str], str]:
    """Return the parameters and the result of a method in a stub, from its native function. `result` is the schema of
    the value that arrives. Under the name of tvm_ffi, stubs are as there."""
    if not PC.TY_MAP_RESULT_DEFAULTS:
        return words, returns
    if name in ANY_OPERAND and len(params) == 2:
        operand = "arg" if words[1].startswith("arg: ") else "_1"
        words = ["self", f"{operand}: {ty_map('object')}", "/"]
    if name in ("__exit__", "__aexit__") and len(params) <= _N_EXIT - 1:
        words = ["self", *[f"_{i}: {ty_map('Any')}" for i in range(1, _N_EXIT + 1)], "/"]
    if name in IN_PLACE and returns == "None":
        returns = params[0].repr(ty_map)
    elif name in _RESULTS:
        returns = ty_map(_RESULTS[name])
    elif name in ("__iter__", "__reversed__"):
        returns = _iterator_of(result, returns, ty_map)
    elif name == "__await__":
        value = returns if result.origin_type_index < 0 and result.origin != "Any" else ty_map("Any")
        returns = f"{ty_map('collections.abc.Generator')}[{ty_map('Any')}, None, {value}]"
    return words, returns


def _iterator_of(result: TypeSchema, returns: str, ty_map: Callable[[str], str]) -> str:
    """Return the type of an iterator over a container; a result of another type stays."""
    if result.origin not in _SEQUENCES | _MAPPINGS | {"tuple"}:
        return returns
    args = result.args or ()
    parts = args if result.origin == "tuple" else args[:1]
    items = list(dict.fromkeys(part.repr(ty_map) for part in parts)) or [ty_map("Any")]
    return f"{ty_map('collections.abc.Iterator')}[{' | '.join(items)}]"
