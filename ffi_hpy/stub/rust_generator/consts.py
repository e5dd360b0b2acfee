"""Facts of Rust and of the crate `tvm_ffi`, which the generated code uses."""

from __future__ import annotations

__all__ = [
    "ROOT_TYPE_KEY",
    "RUST_ANY_BACKED_OPTIONAL_PAYLOADS",
    "RUST_DIRECTIVE_KINDS",
    "RUST_KEYWORDS",
    "RUST_MAX_WIDTH",
    "RUST_MOD_MAP",
    "RUST_NOT_RAW_IDENTIFIERS",
    "RUST_RESERVED_MEMBERS",
    "RUST_SCALAR_BY_SIZE",
    "RUST_SCALAR_WIDTHS",
    "RUST_SPOKEN_FOR",
    "RUST_TY_MAP_DEFAULTS",
    "RUST_UNSUPPORTED_ORIGINS",
    "SIZE_OF_ANY",
    "SIZE_OF_REFERENCE",
]

RUST_DIRECTIVE_KINDS = frozenset({"custom-new", "enum", "field", "import-object", "nullable", "opaque", "upcast"})

ROOT_TYPE_KEY = "ffi.Object"

RUST_MOD_MAP = {"ffi": "tvm_ffi"}
"""The crate for the first part of a dotted name; type keys that begin with it belong to the crate."""

RUST_TY_MAP_DEFAULTS = {
    "Any": "tvm_ffi::Any",
    "Array": "tvm_ffi::Array",
    "Callable": "tvm_ffi::Function",
    "DataType": "tvm_ffi::DLDataType",
    "Device": "tvm_ffi::DLDevice",
    "List": "tvm_ffi::List",
    "Map": "tvm_ffi::Map",
    "None": "()",
    "Object": "tvm_ffi::object::ObjectRef",
    "Shape": "tvm_ffi::Shape",
    "Tensor": "tvm_ffi::Tensor",
    "bool": "bool",
    "bytes": "tvm_ffi::Bytes",
    "dtype": "tvm_ffi::DLDataType",
    "float": "f64",
    "int": "i64",
    "str": "tvm_ffi::String",
    "ffi.BigInt": "tvm_ffi::BigInt",
    "ffi.Bytes": "tvm_ffi::Bytes",
    "ffi.Error": "tvm_ffi::Error",
    "ffi.Function": "tvm_ffi::Function",
    "ffi.Module": "tvm_ffi::Module",
    "ffi.Object": "tvm_ffi::object::ObjectRef",
    "ffi.Shape": "tvm_ffi::Shape",
    "ffi.String": "tvm_ffi::String",
    "ffi.Tensor": "tvm_ffi::Tensor",
    "ffi.reflection.AccessPath": "tvm_ffi::reflection::AccessPath",
    "ffi.reflection.AccessStep": "tvm_ffi::reflection::AccessStep",
}
"""The Rust type of a value, by origin or type key. References represent objects; paths are imported."""

RUST_UNSUPPORTED_ORIGINS = frozenset({"Dict", "Union", "tuple"})
"""Origins without a type in the crate: they are read as `Any`."""

RUST_SCALAR_BY_SIZE = {
    ("int", 1): "i8",
    ("int", 2): "i16",
    ("int", 4): "i32",
    ("int", 8): "i64",
    ("float", 4): "f32",
    ("float", 8): "f64",
}
"""The Rust type of a field's bytes, by origin and size; the schema does not contain the width."""

RUST_SCALAR_WIDTHS = {
    "bool": 1,
    **{f"{sign}{8 * width}": width for sign in "iu" for width in (1, 2, 4, 8)},
    "f32": 4,
    "f64": 8,
}
"""The types that functions take without conversion, with their bytes; other parameters accept every convertible
type."""

SIZE_OF_REFERENCE = 8

SIZE_OF_ANY = 16

RUST_ANY_BACKED_OPTIONAL_PAYLOADS = frozenset(
    {"DataType", "Device", "Optional", "bool", "bytes", "dtype", "float", "int", "str"}
)
"""Origins whose Optional is an Any in memory; the Optional of other origins is a reference that may be null."""

RUST_KEYWORDS = frozenset(
    [
        "Self",
        "abstract",
        "as",
        "async",
        "await",
        "become",
        "box",
        "break",
        "const",
        "continue",
        "crate",
        "do",
        "dyn",
        "else",
        "enum",
        "extern",
        "false",
        "final",
        "fn",
        "for",
        "gen",
        "if",
        "impl",
        "in",
        "let",
        "loop",
        "macro",
        "match",
        "mod",
        "move",
        "mut",
        "override",
        "priv",
        "pub",
        "ref",
        "return",
        "self",
        "static",
        "struct",
        "super",
        "trait",
        "true",
        "try",
        "type",
        "typeof",
        "unsafe",
        "unsized",
        "use",
        "virtual",
        "where",
        "while",
        "yield",
    ]
)

RUST_NOT_RAW_IDENTIFIERS = frozenset({"Self", "crate", "self", "super"})
"""Keywords that ``r#`` cannot escape."""

RUST_RESERVED_MEMBERS = frozenset({"base", "type_index"})
"""Members that every generated struct reserves."""

RUST_SPOKEN_FOR = frozenset({"Clone", "Into", "ObjectCore", "Option", "TryFrom", *RUST_SCALAR_WIDTHS})
"""Names that generated code uses unqualified, so types cannot have them."""

RUST_MAX_WIDTH = 100
"""The width of a line in rustfmt."""
