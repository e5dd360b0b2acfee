"""Metadata that the authors of functions, fields and types declare, as JSON text."""

from __future__ import annotations

from .._core import SHORT_CALLS_KEEP_GIL
from .schema import TypeSchema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._core import Function

__all__ = ["NONBLOCKING", "apply_nonblocking", "parse_function_metadata", "parse_metadata", "schema_in"]

NONBLOCKING = '"nonblocking"'
"""What metadata contain that have the key."""


def parse_metadata(metadata: dict[str, Any] | str) -> dict[str, Any]:
    """Metadata as a dict, from JSON text or from a dict."""
    if not isinstance(metadata, str):
        return metadata
    if not metadata:
        return {}
    from json import loads

    parsed: dict[str, Any] = loads(metadata)
    return parsed


def parse_function_metadata(metadata: str) -> dict[str, Any]:
    """The metadata of a function. ValueError if it is not a JSON object."""
    parsed = parse_metadata(metadata)
    if not isinstance(parsed, dict):
        raise ValueError(f"function metadata is not a JSON object: {metadata[:80]!r}")  # noqa: TRY004
    return parsed


def schema_in(metadata: dict[str, Any]) -> TypeSchema | None:
    """The schema that metadata declares, as JSON text or as parsed JSON."""
    schema = metadata.get("type_schema")
    if schema is None:
        return None
    return TypeSchema.from_json_str(schema) if isinstance(schema, str) else TypeSchema.from_json_obj(schema)


def apply_nonblocking(function: Function, metadata: str) -> None:
    """Have calls of a function keep the GIL if its metadata (JSON text) has ``"nonblocking": true``, where keeping it
    is the faster way."""
    if not SHORT_CALLS_KEEP_GIL or NONBLOCKING not in metadata:
        return
    try:
        is_short = parse_metadata(metadata).get("nonblocking") is True
    except (ValueError, AttributeError):
        return
    if is_short:
        function.release_gil = False
