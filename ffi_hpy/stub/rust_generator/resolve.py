"""The names of types in one file: names of the crate, generated names, and names that the user maps."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from . import consts as RC
from .utils import RustImports, escaped, is_crate_type_key, is_nameable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    Provider = Literal["crate", "mapped", "generated"]

__all__ = ["TypeNames", "type_name"]

_PATH = re.compile(r"[\w:#]*::[\w:#]*")


def type_name(type_key: str) -> str:
    """Return the last part of a type key. ValueError if a type cannot have that name."""
    leaf = type_key.rpartition(".")[2]
    if not is_nameable(leaf) or leaf in RC.RUST_SPOKEN_FOR:
        why = "generated code needs it for something else" if is_nameable(leaf) else "which is not a name"
        raise ValueError(
            f"`{type_key}` cannot be called `{leaf}` in Rust, {why}: delete the region, or `skip` the type"
        )
    return leaf


@dataclass
class TypeNames:
    """The names of types in the file `module`. The required imports are recorded in `imports`.

    `declared` contains the modules of the types that are generated in any file. Type keys without a provider are added
    to `missing`.
    """

    imports: RustImports
    ty_map: Mapping[str, str]
    module: tuple[str, ...]
    declared: Mapping[str, tuple[str, ...]]
    missing: set[str] = field(default_factory=set)

    def without_notes(self) -> TypeNames:
        """A copy that records neither imports nor missing types."""
        return replace(self, imports=RustImports(directives=self.imports.directives), missing=set())

    def of_value(self, origin: str, type_key: str | None = None) -> str | None:
        """Return the type of a value without arguments, None if there is none; a mapped type key takes precedence."""
        key = type_key if type_key is not None and type_key in self.ty_map else origin
        if key in self.ty_map:
            return self.of_path(self.ty_map[key])
        if "." not in origin or origin.startswith("ctypes.") or self.provider(origin) == "crate":
            return None
        return self.of_reference(origin)

    def of_path(self, path: str) -> str:
        """Return the name for a path that the user wrote. A path is imported unless it is in this module; other text
        stays unchanged."""
        if not _PATH.fullmatch(path):
            return path
        module, _, leaf = path.rpartition("::")
        return leaf if module == "::".join(self.module) else self.imports.record(path)

    def of_reference(self, type_key: str) -> str:
        """Return the type of references to objects of a type."""
        return self._of_class(type_key, "")

    def of_object(self, type_key: str) -> str:
        """Return the struct of a type's objects."""
        return self._of_class(type_key, "Obj")

    def provider(self, type_key: str) -> Provider | None:
        """Return the provider of a type; without a provider, add the type to `missing`."""
        if is_crate_type_key(type_key):
            return "crate"
        if type_key in self.ty_map:
            return "mapped"
        if type_key in self.declared:
            return "generated"
        self.missing.add(type_key)
        return None

    def of_mirror(self, ancestors: list[str]) -> str:
        """Return the struct for the last of some types of the crate, ordered parents first; the root's struct if there
        are none.

        The crate has no structs for them, so the file gets structs that only reproduce their places in the ancestry.
        """
        base = self.imports.record("tvm_ffi::Object")
        for key in ancestors:
            self.imports.builtin_mirrors.setdefault(key, base)
            base = mirror_name(key)
        return base

    def _of_class(self, type_key: str, suffix: str) -> str:
        if self.provider(type_key) == "mapped":
            return self.of_path(self.ty_map[type_key] + suffix)
        leaf = type_name(type_key)
        name = leaf + suffix if suffix else escaped(leaf)
        module = self.declared.get(type_key, self.module)
        return name if module == self.module else self.imports.record("::".join((*module, name)))


def mirror_name(type_key: str) -> str:
    """Return the name of the struct for a type of the crate: FfiIntEnumObj for ffi.IntEnum."""
    head, _, leaf = type_key.rpartition(".")
    return f"{head.replace('.', '_').capitalize()}{leaf}Obj"
