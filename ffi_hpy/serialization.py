"""Objects as text: the JSON graph, in which shared objects stay shared."""

from __future__ import annotations

from . import _ffi_api

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["from_json_graph_str", "to_json_graph_str"]


def to_json_graph_str(obj: Any, metadata: dict[str, Any] | None = None) -> str:
    """The JSON graph of a value, with `metadata` (text values) stored verbatim beside it.

    TypeError for values that cannot be written: tensors, functions, objects of types that cannot be made from their
    fields.
    """
    return str(_ffi_api.ToJSONGraphString(obj, metadata))


def from_json_graph_str(json_str: str) -> Any:
    """The value that to_json_graph_str() wrote. ValueError for text that is not such a graph, TypeError for an object
    of a type that no loaded library registered."""
    return _ffi_api.FromJSONGraphString(json_str)
