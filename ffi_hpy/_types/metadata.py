"""The metadata (JSON) that authors of functions, fields and types declare."""

from __future__ import annotations

from functools import cache

from .._core import SHORT_CALLS_KEEP_GIL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._core import Function
    from .schema import TypeSchema

__all__ = [
    "NONBLOCKING",
    "MetadataError",
    "apply_nonblocking",
    "apply_python_arguments",
    "finders",
    "names_unbound",
    "parse_metadata",
    "schema_in",
    "with_names",
]

NONBLOCKING = '"nonblocking"'
PYTHON_ARGUMENTS = '"python_arguments":true'  # as src/core/bind/signature.c writes it
"""The part of metadata that shows that the key is present."""

_SHORT_BOUND = ',"nonblocking":true,"python_results":true}'  # as src/core/bind/signature.c writes it
"""The end of the metadata of a function of bind.h that has the key: the other metadata need not be read."""

_DEEPEST = 200  # levels of JSON, two for each nested type

_MARK = "\ue000"  # FFI_HPY_NAME_MARK in c_bind.h

finders: list[Callable[[str], str | None]] = []
"""Functions that return the name of a bound class by its C++ name, or None. The package adds them with the first bound
library."""


class MetadataError(ValueError):
    """A library declares metadata that cannot be read. The message names the function, field or method."""


def parse_metadata(metadata: dict[str, Any] | str, owner: str) -> dict[str, Any]:
    """Return metadata as a dict, from JSON or from a dict. `owner` is the subject of the message of a MetadataError."""
    if not isinstance(metadata, str):
        return metadata
    if not metadata:
        return {}
    parsed = _parse(metadata, f"the metadata of {owner}")
    if not isinstance(parsed, dict):
        raise MetadataError(f"the metadata of {owner} must be a JSON object, got {type(parsed).__name__}")
    return parsed


def schema_in(metadata: dict[str, Any], owner: str) -> TypeSchema | None:
    """Return the schema in metadata, from JSON or from parsed JSON. A MetadataError names the `owner`."""
    schema, title = metadata.get("type_schema"), f"the type schema of {owner}"
    if schema is None:
        return None
    if isinstance(schema, str):
        schema = _parse(schema, title)
    _check_texts(schema, title)
    try:
        return _schema_class().from_json_obj(schema)
    except (TypeError, ValueError) as error:
        raise MetadataError(f"{title} is not valid: {error}") from error


def with_names(text: str) -> str:
    """Return the text with names for the classes that were not bound when a library described a function: the names
    that the classes have by now, otherwise readable C++ names. Such a class is written as the mark, its C++ name, the
    mark, a readable name, the mark."""
    if _MARK not in text:
        return text
    made, *rest = text.split(_MARK)
    for i in range(0, len(rest) - 2, 3):
        found = next(filter(None, (find(rest[i]) for find in finders)), rest[i + 1])
        made += found + rest[i + 2]
    return made


def names_unbound(text: str) -> bool:
    """Return whether a text names a class that is still not bound: see with_names()."""
    return any(all(find(name) is None for find in finders) for name in text.split(_MARK)[1::3])


@cache
def _schema_class() -> type[TypeSchema]:
    """Return the class, which the first schema loads. A module that is being imported itself may load the class, so not
    within `importing`: a thread that holds that lock may wait for the module."""
    from .schema import TypeSchema

    return TypeSchema


def _parse(text: str, title: str) -> Any:
    from json import JSONDecodeError, loads

    try:
        return loads(with_names(text))
    except JSONDecodeError as error:
        # Without the error's own message, which PyPy 8 cannot print for characters beyond ASCII
        raise MetadataError(f"{title} is not JSON: see line {error.lineno}, column {error.colno}") from None
    except ValueError as error:
        raise MetadataError(f"{title} is not JSON: {error}") from error
    except RecursionError as error:
        raise MetadataError(f"{title} is nested too deeply") from error


def _check_texts(schema: Any, title: str) -> None:
    """MetadataError for a schema that is nested too deeply for printing, or that has a type name that cannot be
    printed. Bytes that are not UTF-8 have become U+FFFD."""
    nodes = [(schema, 1)]
    while nodes:
        node, depth = nodes.pop()
        if depth > _DEEPEST:
            raise MetadataError(f"{title} is nested too deeply")
        name = node.get("type") if isinstance(node, dict) else None
        if isinstance(name, str) and ("\ufffd" in name or not name.isprintable()):
            raise MetadataError(f"{title} names a type by a text that cannot be printed, {name!a}")
        inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        nodes += [(item, depth + 1) for item in inner]


def apply_nonblocking(function: Function, metadata: str) -> None:
    """Make calls of a function keep the GIL if its metadata (JSON) has ``"nonblocking": true`` and keeping the GIL is
    faster."""
    if not SHORT_CALLS_KEEP_GIL or NONBLOCKING not in metadata:
        return
    if not metadata.endswith(_SHORT_BOUND):
        try:
            is_short = parse_metadata(metadata, "a function").get("nonblocking") is True
        except MetadataError:
            return
        if not is_short:
            return
    function.release_gil = False


def apply_python_arguments(function: Function, metadata: str) -> None:
    """Pass Python objects themselves to a function if its metadata (JSON) has ``"python_arguments": true``."""
    if PYTHON_ARGUMENTS in metadata:
        function._takes_python = True
