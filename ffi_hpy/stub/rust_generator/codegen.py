"""The content of regions in Rust files, and the text of new files.

A type gets the struct of its objects, the type of references to them, and conversions of both to the ancestors' types.
If the bytes of its objects are explained (see ..layout), the struct has all fields, and there are functions that create
objects. Otherwise the struct contains only the parent's struct, and there are functions that read the fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..layout import classify
from ..lib_state import object_info_from_type_key
from . import consts as RC
from .allocators import allocator_sections, by_offset, copy_sections
from .fields import FieldTypes, accessor_lines, allow_non_snake_case, enum_lines
from .resolve import TypeNames, mirror_name, type_name
from .utils import escaped, is_nameable, unique_idents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from ..consts import MarkerSyntax
    from ..file_utils import CodeBlock
    from ..layout import Verdict
    from ..utils import InitConfig, NamedTypeSchema, ObjectInfo, Options
    from .utils import RustImports

__all__ = [
    "finalize_rust_module_tree",
    "generate_rust_api_file",
    "generate_rust_import_section",
    "generate_rust_object",
]


# --- regions --------------------------------------------------------------------------------------------------------


def generate_rust_object(
    code: CodeBlock,
    ty_map: dict[str, str],
    imports: RustImports,
    opt: Options,
    obj_info: ObjectInfo,
    declared: Mapping[str, tuple[str, ...]],
) -> None:
    """``object/KEY``: everything for a type. `declared` contains the modules of the types with a region in this run.

    ValueError if a required type is not provided, if a directive contradicts the registered data, and if the type has
    no possible name in Rust.
    """
    key = str(obj_info.type_key)
    names = TypeNames(imports, ty_map, declared[key], declared)
    _check_directives(obj_info, imports)
    imports.reserved |= {escaped(type_name(key)), f"{type_name(key)}Obj"}
    lines = _RustObject(obj_info, FieldTypes(names)).lines()
    if names.missing:
        needs = ", ".join(f"`{missing}`" for missing in sorted(names.missing))
        raise ValueError(
            f"`{key}` (line {code.lineno_start}) depends on {needs}, which this run does not ask for: it takes "
            "an `object/KEY` region in a file of this run, or a `ty-map` to code that is written by hand"
        )
    _fill(code, lines)


def generate_rust_import_section(
    code: CodeBlock, imports: RustImports, opt: Options, defined_types: Collection[str]
) -> None:
    """``import-section``: the imports of the other regions, without the paths in `defined_types`, and structs for the
    crate's types that have none."""
    lines = sorted(line for item in imports.items if item.path not in defined_types and (line := item.as_use_line()))
    for type_key, base in imports.builtin_mirrors.items():
        lines += [
            "",
            f"/// Header-only stand-in for the builtin `{type_key}`; it only carries the ancestor depth.",
            "#[allow(dead_code)]",
            "#[repr(C)]",
            "#[derive(tvm_ffi::derive::Object)]",
            f'#[type_key = "{type_key}"]',
            f"struct {mirror_name(type_key)} {{",
            f"    base: {base},",
            "}",
        ]
    _fill(code, lines)


def _fill(code: CodeBlock, lines: list[str]) -> None:
    """Put lines between the marks of a region, indented like its first mark."""
    space = " " * code.indent
    code.lines = [code.lines[0], *(space + line if line else "" for line in lines), code.lines[-1]]


def _check_directives(info: ObjectInfo, imports: RustImports) -> None:
    """ValueError for a directive about a field that the type does not have."""
    fields = [field.name for field in info.fields]
    for key in info.ancestors:
        fields += [field.name for field in object_info_from_type_key(key).fields]
    for directive, field_name in imports.directives.fields_of(str(info.type_key)):
        if field_name not in fields:
            has = ", ".join(fields) or "none"
            raise ValueError(f"`{directive}` of `{info.type_key}.{field_name}`: no such field; the fields are: {has}")


# --- one type -------------------------------------------------------------------------------------------------------


@dataclass
class _RustObject:
    """The parts of an ``object`` region."""

    info: ObjectInfo
    types: FieldTypes

    @property
    def key(self) -> str:
        return str(self.info.type_key)

    @property
    def names(self) -> TypeNames:
        return self.types.names

    @property
    def reference(self) -> str:
        """The type of references to objects."""
        return escaped(type_name(self.key))

    @property
    def struct(self) -> str:
        """The type of the objects."""
        return f"{type_name(self.key)}Obj"

    def lines(self) -> list[str]:
        """All parts, a blank line between them."""
        verdict = self._verdict()
        base, has_parent = self._base()
        enums = self.types.directives.enums
        targets = [f"{self.key}.{field.name}" for field in self.info.fields]
        sections = [enum_lines(enums[target], self.names) for target in targets if target in enums]
        sections += [self._struct_lines(verdict, base), self._reference_lines()]
        sections.append(self._deref_lines(self.reference, self.struct))
        if has_parent:
            sections.append(self._deref_lines(self.struct, base))
        if verdict.is_complete:
            sections += allocator_sections(self.info, type_name(self.key), base, self.types, object_info_from_type_key)
            sections += copy_sections(self.info, type_name(self.key), self.types)
        elif self.info.fields:
            sections.append(self._accessor_lines())
        sections.append(self._upcast_lines())
        lines = [line for section in sections if section for line in ("", *section)]
        return lines[1:]

    def _verdict(self) -> Verdict:
        """Return the verdict about the bytes of the type and of its ancestors: whether they are explained and have
        types."""
        infos = {key: object_info_from_type_key(key) for key in self.info.ancestors}
        infos[self.key] = self.info
        owners = {id(field): key for key, info in infos.items() for field in info.fields}
        types = FieldTypes(self.names.without_notes())

        def is_renderable(field: NamedTypeSchema) -> bool:
            return types.mirror(owners[id(field)], field) is not None

        return classify(
            infos,
            forced_opaque=self.types.directives.opaque,
            unmirrored={key for key in self._above() if types.names.provider(key) == "crate"},
            field_renderable=is_renderable,
        )[self.key]

    def _above(self) -> list[str]:
        """The ancestors, without the root."""
        return [key for key in self.info.ancestors if key != RC.ROOT_TYPE_KEY]

    def _base(self) -> tuple[str, bool]:
        """Return the struct of the parent, and whether that is a type of this program."""
        above = self._above()
        if above and self.names.provider(above[-1]) != "crate":
            return self.names.of_object(above[-1]), True
        return self.names.of_mirror(above), False

    def _struct_lines(self, verdict: Verdict, base: str) -> list[str]:
        head = [
            "#[repr(C)]",
            "#[derive(tvm_ffi::derive::Object)]",
            f'#[type_key = "{self.key}"]',
            *(["#[type_final]"] if self.info.is_final else []),
            f"pub struct {self.struct} {{",
            f"    base: {base},",
        ]
        if not verdict.is_complete:
            return [f"/// Opaque: {verdict.detail}. Fields are read through the C ABI getters.", *head, "}"]
        fields = by_offset(self.info)
        idents = unique_idents(field.name for field in fields)
        members = [f"    pub {i}: {self.types.mirror(self.key, field)}," for i, field in zip(idents, fields)]
        measures = (("size", verdict.total_size), ("align", verdict.alignment))
        return [
            f"/// Complete: {verdict.detail}.",
            *allow_non_snake_case(idents),
            *head,
            *members,
            "}",
            "",
            "const _: () = {",
            *(f"    assert!(::core::mem::{what}_of::<{self.struct}>() == {n});" for what, n in measures),
            "};",
        ]

    def _reference_lines(self) -> list[str]:
        return [
            "#[repr(C)]",
            "#[derive(tvm_ffi::derive::ObjectRef, Clone)]",
            f"pub struct {self.reference} {{",
            f"    base: {self.names.imports.record('tvm_ffi::ObjectArc')}<{self.struct}>,",
            "}",
        ]

    def _deref_lines(self, source: str, target: str) -> list[str]:
        return [
            f"impl {self.names.imports.record('std::ops::Deref')} for {source} {{",
            f"    type Target = {target};",
            f"    fn deref(&self) -> &{target} {{",
            "        &self.base",
            "    }",
            "}",
        ]

    def _accessor_lines(self) -> list[str]:
        self.names.imports.record("tvm_ffi::ObjectCore")  # for Self::type_index()
        idents = unique_idents(field.name for field in self.info.fields)
        lines: list[str] = []
        for field, ident in zip(self.info.fields, idents):
            lines += ["", *accessor_lines(self.key, field, ident, self.types)]
        return [f"impl {self.struct} {{", *(f"    {line}" if line else "" for line in lines[1:]), "}"]

    def _upcast_lines(self) -> list[str]:
        targets = [self.names.of_reference(key) for key in self._above() if self.names.provider(key) != "crate"]
        targets += map(self.names.of_path, self.types.directives.upcasts.get(self.key, ()))
        pairs = ", ".join(f"{self.reference} => {target}" for target in targets)
        return [f"tvm_ffi::impl_object_upcast!({pairs});"] if targets else []


# --- new files ------------------------------------------------------------------------------------------------------


def generate_rust_api_file(
    code_blocks: list[CodeBlock],
    ty_map: dict[str, str],
    module_name: str,
    object_infos: list[ObjectInfo],
    init_cfg: InitConfig,
    is_root: bool,
    syntax: MarkerSyntax,
) -> str:
    """Return the missing part of a file for the names under a prefix, with empty regions; the whole file if it has no
    blocks."""
    have = {block.param for block in code_blocks if block.kind == "object"}
    regions = [] if any(block.kind == "import-section" for block in code_blocks) else ["import-section"]
    regions += [f"object/{info.type_key}" for info in object_infos if info.type_key not in have]
    parts = [syntax.empty_region(region) for region in regions]
    if not code_blocks:
        parts.insert(0, f"//! FFI bindings for `{module_name}` (generated by tvm-ffi-stubgen).\n")
        parts.insert(0, "#![allow(dead_code, unused_imports)]\n")
    return "\n".join(parts)


def finalize_rust_module_tree(init_path: Path, prefixes: Collection[str]) -> None:
    """Declare the modules for some prefixes, each in the ``mod.rs`` of the module above it, unless it is declared
    already.

    ValueError for a prefix that cannot be a module name.
    """
    below: dict[Path, set[str]] = {}
    for prefix in prefixes:
        parts = prefix.split(".")
        if any(not is_nameable(part) or part in RC.RUST_NOT_RAW_IDENTIFIERS for part in parts):
            raise ValueError(f"no module is made for {prefix!r}, which cannot be the name of a module")
        for i, part in enumerate(parts):
            below.setdefault(init_path.joinpath(*parts[:i]), set()).add(part)
    for folder, names in sorted(below.items()):
        file = folder / "mod.rs"
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        new = [f"pub mod {escaped(name)};\n" for name in sorted(names) if not _declares(text, name)]
        if new:
            folder.mkdir(parents=True, exist_ok=True)
            gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
            file.write_text(text + gap + "".join(new), encoding="utf-8")


def _declares(text: str, module: str) -> bool:
    """Whether Rust code declares a module, with any visibility."""
    return re.search(rf"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(?:r#)?{re.escape(module)}\s*[;{{]", text, re.M) is not None
