"""The schema of a result as it arrives in Python: a tuple or pair is an Array, a set in a set is a frozenset."""

from __future__ import annotations

from .schema import TypeSchema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["arriving"]

_NATIVE = {"list": "List", "dict": "Dict"}


def arriving(schema: TypeSchema) -> TypeSchema:
    """Return the schema whose classes values of a result have: an Array of all item types for a tuple."""
    origin, args = schema.origin, tuple(map(arriving, schema.args or ()))
    if origin == "tuple":
        kinds = tuple(dict.fromkeys(args))
        item = kinds[0] if len(kinds) == 1 else TypeSchema("Union" if kinds else "Any", kinds)
        return TypeSchema("Array", (item,))
    if origin == "set":
        args = tuple(TypeSchema("frozenset", arg.args) if arg.origin == "set" else arg for arg in args)
    groups = schema.named_args
    if groups is not None:
        groups = {**groups, "return": tuple(map(arriving, groups["return"]))}
    if origin not in _NATIVE and args == (schema.args or ()) and groups == schema.named_args:
        return schema
    index: dict[str, Any] = {} if origin in _NATIVE else {"origin_type_index": schema.origin_type_index}
    return TypeSchema(
        _NATIVE.get(origin, origin),
        args,
        fallback=schema.fallback,
        named_args=groups,
        type_key=schema.type_key,
        array=schema.array,
        **index,
    )
