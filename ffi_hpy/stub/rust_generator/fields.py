"""Fields in Rust: their types in memory, and the functions that read them if the memory is not reproduced."""

from __future__ import annotations

from dataclasses import dataclass

from . import consts as RC
from .utils import is_any, is_nameable, render_rust_type, rust_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..utils import NamedTypeSchema
    from .directives import Directives, EnumSpec
    from .resolve import TypeNames

__all__ = ["FieldTypes", "accessor_lines", "allow_non_snake_case", "enum_lines"]


@dataclass
class FieldTypes:
    """The types of fields in one file. Directives take precedence over the library's data."""

    names: TypeNames

    @property
    def directives(self) -> Directives:
        """The directives of the file."""
        return self.names.imports.directives

    def mirror(self, owner: str, field: NamedTypeSchema) -> str | None:
        """Return the type of a field's bytes, None if there is none. ValueError for a directive that contradicts the
        bytes."""
        target = f"{owner}.{field.name}"
        if not is_nameable(rust_ident(field.name).replace("r#", "")):
            return None
        if target in self.directives.enums:
            spec = self.directives.enums[target]
            _check_width(target, field, spec.repr)
            return spec.name
        if target in self.directives.field_types:
            given = self.directives.field_types[target]
            _check_width(target, field, given)
            return self._nullable(target, field, self.names.of_path(given))
        mirror = self._mirror_of_schema(field)
        return None if mirror is None else self._nullable(target, field, mirror)

    def value(self, owner: str, field: NamedTypeSchema) -> str | None:
        """Return the type for reading a field, None if that is Any; a declared type of numbers is read as a number."""
        target = f"{owner}.{field.name}"
        if target in self.directives.field_types:
            value: str | None = self.names.of_path(self.directives.field_types[target])
        elif is_any(field):
            return None
        else:
            value = render_rust_type(field, self.names.of_value)
        if value is not None and target in self.directives.nullable:
            return _optional(value)
        return value

    def is_any_in_memory(self, owner: str, field: NamedTypeSchema) -> bool:
        """Whether a field has the memory layout of an Any."""
        if f"{owner}.{field.name}" in self.directives.field_types:
            return False
        return field.origin == "Any" or (field.origin == "Optional" and _is_any_backed(field))

    def _mirror_of_schema(self, field: NamedTypeSchema) -> str | None:
        if field.origin == "Optional":
            return self._mirror_of_optional(field)
        if field.origin in ("int", "float") and field.type_key is None and field.size is not None:
            return RC.RUST_SCALAR_BY_SIZE.get((field.origin, field.size))
        return render_rust_type(field, self.names.of_value)

    def _mirror_of_optional(self, field: NamedTypeSchema) -> str | None:
        (payload,) = field.args
        inner = None if is_any(payload) else render_rust_type(payload, self.names.of_value)
        is_any_in_memory = _is_any_backed(field)
        if inner is None or field.size not in (None, RC.SIZE_OF_ANY if is_any_in_memory else RC.SIZE_OF_REFERENCE):
            return None
        return f"{self.names.imports.record('tvm_ffi::Optional')}<{inner}>" if is_any_in_memory else _optional(inner)

    def _nullable(self, target: str, field: NamedTypeSchema, mirror: str) -> str:
        if target not in self.directives.nullable:
            return mirror
        if field.size not in (None, RC.SIZE_OF_REFERENCE) and not mirror.startswith("Option<"):
            raise ValueError(
                f"`nullable` of `{target}`: the field is {field.size} bytes, not a pointer-sized reference to an object"
            )
        return _optional(mirror)


def enum_lines(spec: EnumSpec, names: TypeNames) -> list[str]:
    """Return the type of an `enum` directive. The type can hold any number, so that numbers of a newer library are
    valid."""
    error, kind = names.imports.record("tvm_ffi::Error"), names.imports.record("tvm_ffi::VALUE_ERROR")
    result = names.imports.record("tvm_ffi::Result")
    message = f'"{spec.name} value {{value}} does not fit {spec.repr}"'
    return [
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]",
        "#[repr(transparent)]",
        f"pub struct {spec.name}({spec.repr});",
        "",
        "#[allow(non_upper_case_globals)]",
        f"impl {spec.name} {{",
        *(f"    pub const {member}: Self = Self({value});" for member, value in spec.members),
        f"    pub const fn from_raw(value: {spec.repr}) -> Self {{",
        "        Self(value)",
        "    }",
        f"    pub const fn as_raw(self) -> {spec.repr} {{",
        "        self.0",
        "    }",
        "}",
        "",
        f"impl TryFrom<i64> for {spec.name} {{",
        f"    type Error = {error};",
        f"    fn try_from(value: i64) -> {result}<Self> {{",
        f"        {spec.repr}::try_from(value).map(Self).map_err(|_| {{",
        f'            {error}::new({kind}, &format!({message}), "")',
        "        })",
        "    }",
        "}",
    ]


def accessor_lines(owner: str, field: NamedTypeSchema, ident: str, types: FieldTypes) -> list[str]:
    """Return the function that reads a field through its getter."""
    if not is_nameable(ident.replace("r#", "")):
        return [f"// {field.name!r} is not a name for Rust: FieldGetter::new() takes it"]
    imports = types.names.imports
    getter = f'{imports.record("tvm_ffi::FieldGetter")}::new(Self::type_index(), "{field.name}")?'
    spec = types.directives.enums.get(f"{owner}.{field.name}")
    value = None if spec is not None else types.value(owner, field)
    if spec is not None:
        returns = spec.name
        lines = [f"    let raw: i64 = {getter}.get(self)?;", f"    {spec.name}::try_from(raw)"]
    elif value is None:
        returns, lines = imports.record("tvm_ffi::Any"), [f"    {getter}.get_any(self)"]
    else:
        returns, lines = value, [f"    {getter}.get(self)"]
    head = f"pub fn {ident}(&self) -> {imports.record('tvm_ffi::Result')}<{returns}> {{"
    return [*allow_non_snake_case([ident]), head, *lines, "}"]


def allow_non_snake_case(idents: Iterable[str]) -> list[str]:
    """Return the attribute for items whose names cause a warning of the Rust compiler."""
    names = [ident.replace("r#", "") for ident in idents]
    return ["#[allow(non_snake_case)]"] if any(name != name.lower() for name in names) else []


def _is_any_backed(field: NamedTypeSchema) -> bool:
    return field.args[0].origin in RC.RUST_ANY_BACKED_OPTIONAL_PAYLOADS


def _optional(rust_type: str) -> str:
    return rust_type if rust_type.startswith("Option<") else f"Option<{rust_type}>"


def _check_width(target: str, field: NamedTypeSchema, rust_type: str) -> None:
    width = RC.RUST_SCALAR_WIDTHS.get(rust_type)
    if width is not None and field.size not in (None, width):
        raise ValueError(f"Directive on `{target}` maps a {field.size}-byte field to `{rust_type}` ({width} bytes)")
