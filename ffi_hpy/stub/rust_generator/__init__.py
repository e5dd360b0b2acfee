"""Rust as a target of stub generation: a struct and a reference to it for each registered type.

The modules, each using those before it: `consts` the crate's names · `directives` the directives of files about fields
and types · `utils` Rust's names and types · `resolve` the name of a type in a file · `fields` the types of fields ·
`allocators` the creation of objects · `codegen` the regions and new files · `generator` the target
"""

from __future__ import annotations

from .generator import RustGenerator

__all__ = ["RustGenerator"]
