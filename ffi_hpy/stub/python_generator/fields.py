"""The fields of a class, and the variants of an enum."""

from __future__ import annotations

from ...dataclasses.enum import Enum
from .utils import OVERRIDE, arriving_type, doc_lines, documented, is_name, unnamable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from ...core import TypeSchema
    from ..utils import NamedTypeSchema, ObjectInfo
    from .utils import TypeMap

__all__ = [
    "render_object_annotations",
    "render_object_fields",
    "render_object_properties",
    "render_object_variants",
]


def render_object_fields(info: ObjectInfo, ty_map: TypeMap, indent: int) -> list[str]:
    """Return an annotation for each assignable field, followed by the field's documentation."""
    space = " " * indent
    lines = []
    for f in info.fields:
        if not is_name(f.name):
            lines.append(unnamable(f.name, indent))
        elif not f.frozen:
            lines.append(f"{space}{f.name}: {_type_of(f).repr(ty_map)}")
            lines += doc_lines(f.doc, space) if f.doc.strip() else []
    return lines


def render_object_properties(
    info: ObjectInfo, ty_map: TypeMap, indent: int, inherited: Collection[str] = ()
) -> list[str]:
    """Return a property without a setter for each read-only field.

    For a field with a name in `inherited`, type checkers are told that the field of an ancestor may be assigned.
    """
    space = " " * indent
    lines = []
    for f in _read_only_fields(info):
        note = OVERRIDE if f.name in inherited else ""
        lines.append(f"{space}@{ty_map('property')}")
        lines += documented(f"{space}def {f.name}(self) -> {_type_of(f).repr(ty_map)}: ...{note}", f.doc, indent, note)
    return lines


def render_object_annotations(info: ObjectInfo, ty_map: TypeMap, indent: int) -> list[str]:
    """Return annotations for the fields of render_object_properties(), for programs that read annotations at run
    time."""
    return [f"{' ' * indent}{f.name}: {_type_of(f).repr(ty_map)}" for f in _read_only_fields(info)]


def _type_of(f: NamedTypeSchema) -> TypeSchema:
    return arriving_type(f.schema)


def _read_only_fields(info: ObjectInfo) -> list[NamedTypeSchema]:
    return [f for f in info.fields if f.frozen and is_name(f.name)]


def render_object_variants(info: ObjectInfo, ty_map: TypeMap, indent: int) -> list[str]:
    """Return a line for each variant of an enum, for type checkers. The class finds its variants by itself, and may
    lack variants that existed when the stubs were generated."""
    lines = []
    for name in info.variants:
        if is_name(name) and not hasattr(Enum, name):
            word = f"{name}: {ty_map('typing.ClassVar')}[{ty_map(str(info.type_key))}]"
        else:
            word = f"# {name!r} is not a name for an attribute: the class finds it when it is called with the name"
        lines.append(" " * indent + word)
    return lines
