"""The marks in source files, and their meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Union

__all__ = [
    "BUILTIN_TYPE_KEYS",
    "PIPELINE_DIRECTIVE_KINDS",
    "PYTHON_SYNTAX",
    "RUST_SYNTAX",
    "STUB_BLOCK_KINDS",
    "SYNTAX_BY_EXT",
    "MarkerSyntax",
]


@dataclass(frozen=True)
class MarkerSyntax:
    """The form of marks in a language: `comment` starts a comment that ends at the end of the line."""

    comment: str

    @property
    def prefix(self) -> str:
        """The beginning of every mark."""
        return f"{self.comment} tvm-ffi-stubgen("

    @property
    def begin(self) -> str:
        """The mark before a region, without the description of the region."""
        return f"{self.prefix}begin):"

    @property
    def end(self) -> str:
        """The mark after a region."""
        return f"{self.prefix}end)"

    def empty_region(self, stub: str, indent: str = "") -> str:
        """The lines of an empty region."""
        return f"{indent}{self.begin} {stub}\n{indent}{self.end}\n"

    @property
    def ty_map(self) -> str:
        """The mark of a type with a different name in this language."""
        return self.directive("ty-map")

    @property
    def import_object(self) -> str:
        """The mark of a name that the import section must import."""
        return self.directive("import-object")

    @property
    def skip_file(self) -> str:
        """The mark of a file that must not be changed."""
        return f"{self.prefix}skip-file)"

    def directive(self, name: str) -> str:
        """The mark of a one-line instruction, without its text."""
        return f"{self.prefix}{name}):"


PYTHON_SYNTAX = MarkerSyntax("#")
RUST_SYNTAX = MarkerSyntax("//")
SYNTAX_BY_EXT = {".py": PYTHON_SYNTAX, ".pyi": PYTHON_SYNTAX, ".rs": RUST_SYNTAX}

STUB_BLOCK_KINDS = Union[Literal["global", "object", "import-section", "directive", "export", "__all__"], None]
"""The kinds of a CodeBlock; None: lines between the marks, which stay unchanged."""

PIPELINE_DIRECTIVE_KINDS = frozenset({"prefix", "skip", "ty-map"})
"""The directives that apply to every target language; each language declares its own directives."""

BUILTIN_TYPE_KEYS = frozenset(
    f"ffi.{name}"
    for name in (
        "BigInt",
        "Bytes",
        "Error",
        "Function",
        "Object",
        "OpaquePyObject",
        "SmallBytes",
        "SmallStr",
        "String",
        "Tensor",
    )
)
"""Types whose classes are written by hand in the runtime."""
