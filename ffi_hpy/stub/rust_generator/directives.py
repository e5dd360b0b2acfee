"""The directives of a file about fields and types::

    // tvm-ffi-stubgen(field): demo.Node.value -> crate::Number
    // tvm-ffi-stubgen(nullable): demo.Node.next
    // tvm-ffi-stubgen(enum): demo.Node.color -> Color(i32) { Red=0, Black=1 }
    // tvm-ffi-stubgen(opaque): demo.Secret
    // tvm-ffi-stubgen(upcast): demo.Node -> crate::AnyNode
    // tvm-ffi-stubgen(custom-new): demo.Node

`field` gives the field another type; for an ancestor's field, it changes the parameter of the functions that create
objects. `nullable` means that a reference may be null, `enum` declares a type of named numbers for the field. An
`opaque` type is never reproduced; `upcast` adds a target type for conversions of references; `custom-new` leaves the
name ``new`` to hand-written code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Directives", "EnumSpec"]

_FIELD, _TYPE = "<type_key>.<field>", "<type_key>"
_FORMS = {
    "custom-new": _TYPE,
    "enum": f"{_FIELD} -> Name(i32) {{ A=0, B=1 }}",
    "field": f"{_FIELD} -> <RustType>",
    "nullable": _FIELD,
    "opaque": _TYPE,
    "upcast": f"{_TYPE} -> <RustType>",
}
_ENUM = re.compile(r"(\w+)\(([iu](?:8|16|32|64))\)\s*(?:\{([^{}]*)\})?", re.ASCII)
_MEMBER = re.compile(r"([A-Za-z_]\w*)\s*=\s*(-?\d+)", re.ASCII)


@dataclass(frozen=True)
class EnumSpec:
    """A declared type: its name, the type of its numbers, and the named numbers."""

    name: str
    repr: str
    members: tuple[tuple[str, int], ...]


@dataclass
class Directives:
    """The directives of one file, by ``KEY.FIELD`` or type key."""

    field_types: dict[str, str] = field(default_factory=dict)
    nullable: set[str] = field(default_factory=set)
    enums: dict[str, EnumSpec] = field(default_factory=dict)
    opaque: set[str] = field(default_factory=set)
    upcasts: dict[str, list[str]] = field(default_factory=dict)
    custom_new: set[str] = field(default_factory=set)

    def add(self, name: str, payload: str, lineno: int) -> None:
        """Store a directive. ValueError, which names the line and the expected form, for a malformed directive."""
        if name not in _FORMS:
            raise ValueError(f"Unknown directive `{name}` at line {lineno}")
        form = _FORMS[name]
        target, arrow, rest = (part.strip() for part in payload.partition("->"))
        is_whole = bool(target) and len(target.split()) == 1 and bool(arrow) == bool(rest) == ("->" in form)
        if not is_whole or (form.startswith(_FIELD) and "." not in target.strip(".")):
            raise _malformed(name, payload, lineno)
        if name == "field":
            self.field_types[target] = rest
        elif name == "enum":
            spec = _enum(rest)
            if spec is None:
                raise _malformed(name, payload, lineno)
            self.enums[target] = spec
        elif name == "upcast":
            self.upcasts.setdefault(target, []).append(rest)
        else:
            {"nullable": self.nullable, "opaque": self.opaque, "custom-new": self.custom_new}[name].add(target)

    def fields_of(self, type_key: str) -> Iterator[tuple[str, str]]:
        """Yield the name and the field of each directive for a field of a type."""
        for name, targets in (("field", self.field_types), ("nullable", self.nullable), ("enum", self.enums)):
            for target in targets:
                key, _, field_name = target.rpartition(".")
                if key == type_key:
                    yield name, field_name


def _malformed(name: str, payload: str, lineno: int) -> ValueError:
    return ValueError(f"`{name}` at line {lineno} must be `{_FORMS[name]}`, got {payload!r}")


def _enum(text: str) -> EnumSpec | None:
    """Parse ``Name(i32) { A=0, B=1 }``, or the form without the braces."""
    found = _ENUM.fullmatch(text)
    if found is None or found[1][0].isdigit():
        return None
    members = [_MEMBER.fullmatch(item.strip()) for item in (found[3] or "").split(",") if item.strip()]
    named = [(member[1], int(member[2])) for member in members if member is not None]
    return EnumSpec(found[1], found[2], tuple(named)) if len(named) == len(members) else None
