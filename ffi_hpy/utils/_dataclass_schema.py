"""Descriptions of dataclasses for programs that generate code from them, under tvm_ffi's names in
utils.unpack_dataclass.

A description maps each field to None (its values contain no dataclass), "unpack" (they may contain some), or the
description of the dataclass of its values. unpack_dataclass_to_tuple() inspects the values instead.
"""

from __future__ import annotations

import dataclasses
import keyword
import sys
import typing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["describe", "validate"]

_UNPACK = "unpack"
_PLAIN = (int, float, complex, bool, str, bytes, type(None), None, ...)
_OF_PLAIN: set[Any] = {tuple, dict, set, frozenset, typing.Union}
if sys.version_info >= (3, 10):
    from types import UnionType

    _OF_PLAIN.add(UnionType)


def describe(cls: type, *, memo: set[type] | None = None) -> dict[str, Any]:
    """Return the description of a dataclass. A field whose annotation cannot be resolved is "unpack".

    Args:
        cls: the dataclass.
        memo: classes that a field does not describe again, for classes that contain themselves.

    Raises:
        TypeError: for a value that is not a dataclass.
    """
    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls):
        raise TypeError(f"Expected a dataclass class, got {cls!r}")
    outer = {*(memo or ()), cls}
    try:
        annotations = typing.get_type_hints(cls)
    except (NameError, TypeError, AttributeError):
        annotations = {}
    fields = {field.name: annotations.get(field.name, field.type) for field in dataclasses.fields(cls)}
    return {name: _of_annotation(annotation, outer) for name, annotation in fields.items()}


def _of_annotation(annotation: Any, outer: set[type]) -> dict[str, Any] | str | None:
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        return _UNPACK if annotation in outer else describe(annotation, memo=outer)
    return None if _is_plain(annotation) else _UNPACK


def _is_plain(annotation: Any) -> bool:
    """Whether values of an annotation contain no dataclass, and no list, because lists are copied."""
    if typing.get_origin(annotation) in _OF_PLAIN:
        return bool(typing.get_args(annotation)) and all(map(_is_plain, typing.get_args(annotation)))
    return any(annotation is plain for plain in _PLAIN)


def validate(schema: dict[str, Any]) -> None:
    """Check that a description names fields by identifiers, so that it can become code.

    Args:
        schema: the description.

    Raises:
        TypeError: for a value that is not a dict from names to None, "unpack" or descriptions.
        ValueError: for a name that a field cannot have.
    """
    if not isinstance(schema, dict):
        raise TypeError(f"the description of a dataclass must be a dict, got {type(schema).__name__}")
    for name, inner in schema.items():
        if not isinstance(name, str):
            raise TypeError(f"the name of a field must be a string, got {type(name).__name__}")
        if not name.isidentifier():
            raise ValueError(f"the name of a field, {name!r}, is not a valid Python identifier")
        if keyword.iskeyword(name):
            raise ValueError(f"the name of a field, {name!r}, is a Python keyword")
        if inner is not None and inner != _UNPACK:
            validate(inner)
