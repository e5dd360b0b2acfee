"""Creating and copying objects whose memory is reproduced: functions and implementations for a type's struct."""

from __future__ import annotations

from dataclasses import dataclass

from . import consts as RC
from .fields import allow_non_snake_case
from .utils import is_crate_type_key, unique_idents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..utils import NamedTypeSchema, ObjectInfo
    from .fields import FieldTypes

__all__ = ["allocator_sections", "by_offset", "copy_sections", "wrapped"]


def by_offset(info: ObjectInfo) -> list[NamedTypeSchema]:
    """A type's own fields, in the order of their offsets."""
    return sorted(info.fields, key=lambda field: field.offset or 0)


def wrapped(head: str, items: list[str], tail: str) -> list[str]:
    """Return a list in brackets on one line or, if that is too long, wrapped like rustfmt.

    First the assigned value gets a separate line; if that is still too long, each item gets one.
    """
    listed = ", ".join(items)
    if len(head) + len(listed) + len(tail) <= RC.RUST_MAX_WIDTH:
        return [head + listed + tail]
    indent = " " * (len(head) - len(head.lstrip()))
    target, equals, call = head.partition(" = ")
    moved = f"{indent}    {call}{listed}{tail}"
    if equals and len(moved) <= RC.RUST_MAX_WIDTH:
        return [f"{target} =", moved]
    return [head.rstrip(), *(f"{indent}    {item}," for item in items), f"{indent}{tail.lstrip()}"]


# --- new ------------------------------------------------------------------------------------------------------------


@dataclass
class _Parameter:
    """A parameter of a function that creates objects. `passed` is the type that the parent's function takes, None for
    own fields."""

    name: str
    type: str
    passed: str | None

    @property
    def is_exact(self) -> bool:
        """Whether the argument is not converted: only then does a number in the source get the type of its
        parameter."""
        return self.type in RC.RUST_SCALAR_WIDTHS


def allocator_sections(
    info: ObjectInfo, leaf: str, base: str, types: FieldTypes, lookup: Callable[[str], ObjectInfo]
) -> list[list[str]]:
    """Return ``new`` of the struct, which takes each field without conversion, and of the reference, which converts.

    Both take the ancestors' fields first. Derived types use the struct's function, too.
    """
    key = str(info.type_key)
    parameters = _parameters(key, info, types, lookup)
    own = [parameter.name for parameter in parameters if parameter.passed is None]
    own_idents = unique_idents(own)
    inherited = unique_idents([p.name for p in parameters if p.passed is not None], own_idents)
    idents = [*inherited, *own_idents]
    to_base = [f"{i}.into()" if p.type != p.passed else i for i, p in zip(inherited, parameters)]
    to_struct = [i if p.is_exact else f"{i}.into()" for i, p in zip(idents, parameters)]
    exact = [f"{i}: {p.type}" for i, p in zip(idents, parameters)]
    loose = [f"{i}: {p.type if p.is_exact else f'impl Into<{p.type}>'}" for i, p in zip(idents, parameters)]
    new = "from_fields" if key in types.directives.custom_new else "new"
    allow = [f"    {line}" for line in allow_non_snake_case(idents)]
    return [
        [
            f"impl {leaf}Obj {{",
            *allow,
            *wrapped(f"    {'pub(crate)' if info.is_final else 'pub'} fn new(", exact, ") -> Self {"),
            *wrapped(f"        let base = {base}::new(", to_base, ");"),
            *wrapped("        Self { ", ["base", *own_idents], " }"),
            "    }",
            "}",
        ],
        [
            f"impl {types.names.of_reference(key)} {{",
            "    /// Lossless complete-field allocation.",
            *allow,
            *wrapped(f"    pub fn {new}(", loose, ") -> Self {"),
            *wrapped(f"        let obj = {leaf}Obj::new(", to_struct, ");"),
            f"        Self {{ base: {types.names.imports.record('tvm_ffi::ObjectArc')}::new(obj) }}",
            "    }",
            "}",
        ],
    ]


def _parameters(key: str, info: ObjectInfo, types: FieldTypes, lookup: Callable[[str], ObjectInfo]) -> list[_Parameter]:
    """Return the parameters of the function for a type, the root's fields first."""
    parent = info.parent_type_key
    above = []
    if parent is not None and not is_crate_type_key(parent):
        above = _parameters(parent, lookup(parent), types, lookup)
    result = []
    for parameter in above:
        given = types.directives.field_types.get(f"{key}.{parameter.name}")
        narrowed = parameter.type if given is None else types.names.of_path(given)
        result.append(_Parameter(parameter.name, narrowed, parameter.type))
    for field in by_offset(info):
        mirror = types.mirror(key, field)
        assert mirror is not None  # otherwise the layout would not be reproduced
        result.append(_Parameter(field.name, mirror, None))
    return result


# --- copies ---------------------------------------------------------------------------------------------------------


def copy_sections(info: ObjectInfo, leaf: str, types: FieldTypes) -> list[list[str]]:
    """Return the parent's traits for a type that is written in Rust: copying, and dropping a partly initialised object.

    Return nothing for a final type, nor below a type that is mapped to hand-written code, because that may lack them.
    """
    ancestors = [key for key in info.ancestors if key != RC.ROOT_TYPE_KEY]
    if info.is_final or any(types.names.provider(key) != "generated" for key in ancestors):
        return []
    return [_shallow_copy_lines(info, leaf, types), _unsafe_init_lines(info, leaf, types)]


def _shallow_copy_lines(info: ObjectInfo, leaf: str, types: FieldTypes) -> list[str]:
    trait = types.names.imports.record("tvm_ffi::ShallowCopy")
    idents = unique_idents(field.name for field in by_offset(info))
    items = [f"base: {trait}::shallow_copy(&self.base)", *(f"{i}: Clone::clone(&self.{i})" for i in idents)]
    return [
        f"impl {trait} for {leaf}Obj {{",
        "    fn shallow_copy(&self) -> Self {",
        *wrapped("        Self { ", items, " }"),
        "    }",
        "}",
    ]


def _unsafe_init_lines(info: ObjectInfo, leaf: str, types: FieldTypes) -> list[str]:
    """Return the code that drops a partly initialised object. An unset field has zero bytes: that is None for an Any,
    and needs no drop for other types."""
    imports, key = types.names.imports, str(info.type_key)
    trait, address = imports.record("tvm_ffi::UnsafeInit"), imports.record("std::ptr::addr_of_mut")
    drops = [f"{trait}::drop_defined_fields({address}!((*this).base));"]
    fields = by_offset(info)
    for field, ident in zip(fields, unique_idents(field.name for field in fields)):
        if f"{key}.{field.name}" in types.directives.enums:
            continue
        is_any = types.is_any_in_memory(key, field)
        drop = imports.record("std::ptr::drop_in_place" if is_any else "tvm_ffi::reflection::drop_if_defined")
        drops.append(f"{drop}({address}!((*this).{ident}));")
    return [
        f"unsafe impl {trait} for {leaf}Obj {{",
        "    unsafe fn drop_defined_fields(this: *mut Self) {",
        "        unsafe {",
        *(f"            {line}" for line in drops),
        "        }",
        "    }",
        "}",
    ]
