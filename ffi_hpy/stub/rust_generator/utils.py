"""Rust's names and types: imports, identifiers, modules, and the significant tokens of generated code."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

from ..._types.schema import TypeSchema
from . import consts as RC
from .directives import Directives

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from ..utils import NamedTypeSchema

    LeafNames = Callable[[str, str | None], str | None]

__all__ = [
    "RustImports",
    "RustUse",
    "check_tokens",
    "escaped",
    "is_any",
    "is_crate_type_key",
    "is_nameable",
    "render_rust_type",
    "rust_ident",
    "rust_module_path",
    "unique_idents",
]


# --- imports --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, init=False)
class RustUse:
    """``use path;``. A name without ``::`` or dots needs no import."""

    path: str

    def __init__(self, name: str) -> None:
        if "::" not in name:
            head, dot, rest = name.partition(".")
            name = f"{RC.RUST_MOD_MAP.get(head, head)}{dot}{rest}" if dot else name
        object.__setattr__(self, "path", name.replace(".", "::"))

    @property
    def leaf(self) -> str:
        """The imported name."""
        return self.path.rpartition("::")[2]

    def as_use_line(self) -> str:
        """Return the line, "" if no import is needed."""
        return f"use {self.path};" if "::" in self.path else ""


@dataclass
class RustImports:
    """The imports and directives of one file.

    `builtin_mirrors` are the crate's types for which the file needs structs, each with the struct of its parent;
    `reserved` are names of the file's own types, `defined` the type keys by their types' paths.
    """

    items: list[RustUse] = field(default_factory=list)
    directives: Directives = field(default_factory=Directives)
    builtin_mirrors: dict[str, str] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)
    defined: dict[str, str] = field(default_factory=dict)

    def record(self, name: str) -> str:
        """Import a name, and return its form in the file: the whole path if the short name has another meaning."""
        use = RustUse(name)
        if use in self.items or not use.as_use_line():
            return use.leaf
        if use.leaf in self.reserved or any(item.leaf == use.leaf for item in self.items):
            return use.path
        self.items.append(use)
        return use.leaf


# --- names ----------------------------------------------------------------------------------------------------------


def is_nameable(name: str) -> bool:
    """Whether Rust accepts the name, perhaps escaped."""
    return name.isidentifier() and name != "_"


def escaped(name: str) -> str:
    """Return a name, escaped if it is a keyword."""
    if name in RC.RUST_NOT_RAW_IDENTIFIERS:
        return f"{name}_"
    return f"r#{name}" if name in RC.RUST_KEYWORDS else name


def rust_ident(name: str) -> str:
    """Return the name of a field: ``value_`` becomes ``value`` and ``__dict__`` becomes ``dict``, because such affixes
    are conventions of C++ and Python."""
    if name.startswith("__") and name.endswith("__") and len(name) > 4:
        name = name[2:-2]
    elif name.endswith("_") and not name.endswith("__") and len(name) > 1:
        name = name[:-1]
    return f"{name}_" if name in RC.RUST_RESERVED_MEMBERS else escaped(name)


def unique_idents(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Return the names of fields of one struct; a name that another field or `taken` has gets underscores."""
    names, used = list(names), set(taken)
    unchanged = {name for name in names if rust_ident(name) == name}
    result = []
    for name in names:
        ident = rust_ident(name)
        while ident in used or (ident in unchanged and ident != name):
            ident = f"{ident.replace('r#', '')}_"
        used.add(ident)
        result.append(ident)
    return result


def is_crate_type_key(type_key: str) -> bool:
    """Whether a type belongs to the crate."""
    return type_key.partition(".")[0] in RC.RUST_MOD_MAP


@functools.cache
def rust_module_path(path: Path) -> tuple[str, ...]:
    """Return the module of a file, from its path below the ``src`` of its crate: ``("crate", "ir")`` for src/ir.rs.

    ValueError if it is not below such a folder.
    """
    path = path.resolve()
    root = next((folder for folder in path.parents if (folder / "Cargo.toml").is_file()), None)
    if root is None:
        raise ValueError(f"{path} is in no Cargo crate: no folder above it has a Cargo.toml")
    if root / "src" not in path.parents:
        raise ValueError(f"{path} is not under {root / 'src'}, so it is not a module of the crate")
    *folders, stem = path.relative_to(root / "src").with_suffix("").parts
    is_folder = stem == "mod" or (stem in ("lib", "main") and not folders)
    parts = folders if is_folder else [*folders, stem]
    return ("crate", *map(escaped, parts))


# --- types ----------------------------------------------------------------------------------------------------------


def is_any(schema: TypeSchema | NamedTypeSchema) -> bool:
    """Whether every value is accepted, including None."""
    return schema.origin == "Any" or (schema.origin == "Optional" and is_any(_args(schema)[0]))


def render_rust_type(schema: TypeSchema | NamedTypeSchema, names: LeafNames) -> str | None:
    """Return the type of a value, None if there is none.

    `names` returns the name of a part from its origin and, if the origin is less specific, from the type key (such as
    ``ffi.BigInt``, which is an int).
    """
    if schema.origin in RC.RUST_UNSUPPORTED_ORIGINS:
        return None
    if is_any(schema):
        return names("Any", None)
    if schema.origin == "Optional":
        return _generic("Option", schema, names)
    if schema.origin in ("Array", "List", "Map"):
        return _generic(names(schema.origin, None), schema, names)
    return names(schema.origin, None if schema.origin == "Callable" else schema.type_key)


def _generic(base: str | None, schema: TypeSchema | NamedTypeSchema, names: LeafNames) -> str | None:
    args = [render_rust_type(arg, names) for arg in _args(schema)]
    known = [arg for arg in args if arg is not None]
    return f"{base}<{', '.join(known)}>" if base is not None and len(known) == len(args) else None


def _args(schema: TypeSchema | NamedTypeSchema) -> tuple[TypeSchema, ...]:
    """Return the arguments of a schema with arguments, each Any if they are not given."""
    return schema.args or (TypeSchema("Any"),) * (2 if schema.origin == "Map" else 1)


# --- significant tokens ---------------------------------------------------------------------------------------------

_QUALIFIER = re.compile(r"(?<![\w:])(?:::)?(?:(?!(?:[iu](?:8|16|32|64)|f32|f64|bool)::)[a-z_]\w*::)+(?=[A-Za-z_])")


def check_tokens(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the tokens of generated lines, without imports, comments, and modules before names. Wrapping has no
    effect."""
    kept = [line.strip() for line in lines if not line.strip().startswith(("use ", "//"))]
    tokens = re.findall(r"\w+|\S", _QUALIFIER.sub("", " ".join(kept)))
    return tuple(
        token for token, next_one in zip(tokens, [*tokens[1:], ""]) if token != "," or next_one not in (")", "]", "}")
    )
