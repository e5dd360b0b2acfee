"""Objects as JSON: the JSON graph, in which shared objects stay shared."""

from __future__ import annotations

from . import _ffi_api

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["from_json_graph_str", "to_json_graph_str"]


def to_json_graph_str(obj: Any, metadata: dict[str, Any] | None = None) -> str:
    """Write a value with everything in it as JSON. An object that occurs twice is written once.

    Args:
        obj: a value of plain values, containers, and objects that can be made from their fields.
        metadata: extra data to store. from_json_graph_str() ignores it.

    Returns:
        The JSON graph.

    Raises:
        TypeError: for values that cannot be written: tensors, functions, objects of types that cannot be made from
            their fields.

    Examples:
        >>> from ffi_hpy.serialization import from_json_graph_str, to_json_graph_str
        >>> text = to_json_graph_str({"sizes": [1, 2]})
        >>> from_json_graph_str(text)
        {"sizes": (1, 2)}
    """
    return str(_ffi_api.ToJSONGraphString(obj, metadata))


def from_json_graph_str(json_str: str) -> Any:
    """Read the value that to_json_graph_str() wrote.

    Args:
        json_str: the JSON graph, which may come from another process or language.

    Returns:
        The value, with new objects.

    Raises:
        ValueError: for a str that is not such a graph.
        TypeError: for an object of a type that no loaded library has registered.
    """
    return _ffi_api.FromJSONGraphString(json_str)
