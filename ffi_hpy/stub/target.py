"""The interface of a target language."""

from __future__ import annotations

from typing import Any, Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .consts import MarkerSyntax
    from .file_utils import CodeBlock
    from .utils import FuncInfo, InitConfig, ObjectInfo, Options

__all__ = ["Generator"]


class Generator(Protocol):
    """A target language. Each `generate_..._block` fills a region; `defined` are the type keys that its file defines.

    `imports` is the result of new_imports() for the file; the import section is filled after the regions that need
    imports. The result of `generate_..._file` is appended to a file, which is then filled like any other.
    `has_whole_types` means that an ``object`` region is complete code for a type, so that regions alone can be added
    for types. A language leaves out the functions that it does not need, which do nothing here.
    """

    name: str
    syntax: MarkerSyntax
    source_exts: frozenset[str]
    directive_kinds: frozenset[str]
    has_whole_types: bool
    api_filename: str
    """The name of a prefix's file."""
    init_filename: str
    """The name of the file of a package that has a prefix's file as a module."""

    def default_ty_map(self) -> dict[str, str]:
        """Return the names of types of the ABI, before directives change them."""

    def is_name(self, text: str) -> bool:
        """Whether a package or a class can have that name; parts of native names can be any str."""

    def is_builtin(self, type_key: str) -> bool:
        """Whether the runtime has a class for the type."""

    def new_imports(self) -> Any:
        """Return a new collection of the imports of one file."""

    def add_directive(self, imports: Any, name: str, payload: str, lineno: int) -> None:
        """Store a directive in `imports`. ValueError, which names the line, for an invalid directive."""

    def extra_export_names(self, imports: Any, lines: list[str]) -> set[str]:
        """Return the names that a file exports in addition to its functions and classes; `lines` are those outside
        regions."""
        return set()

    def check_view(self, code_blocks: list[CodeBlock]) -> object:
        """Return the value that --check compares: a file is out of date if it changes."""

    def generate_global_funcs_block(
        self,
        code: CodeBlock,
        global_funcs: list[FuncInfo],
        ty_map: dict[str, str],
        imports: Any,
        opt: Options,
        defined: set[str],
    ) -> None:
        """Fill a ``global`` region."""
        return

    def generate_object_block(
        self,
        code: CodeBlock,
        ty_map: dict[str, str],
        imports: Any,
        opt: Options,
        obj_info: ObjectInfo,
        declared: Mapping[str, Path],
    ) -> None:
        """Fill an ``object`` region. `declared` has the files of all types with a region, including this type."""

    def note_lines_before(self, imports: Any, lines: list[str]) -> None:
        """Record the lines before the import section in `imports`; that section is filled next."""
        return

    def generate_import_section_block(self, code: CodeBlock, imports: Any, opt: Options, defined: set[str]) -> None:
        """Fill an ``import-section``."""

    def generate_all_block(self, code: CodeBlock, names: set[str], opt: Options) -> None:
        """Fill an ``__all__`` region with the last parts of `names`."""
        return

    def generate_export_block(self, code: CodeBlock) -> None:
        """Fill an ``export`` region."""
        return

    def generate_api_file(
        self,
        code_blocks: list[CodeBlock],
        ty_map: dict[str, str],
        module_name: str,
        object_infos: list[ObjectInfo],
        init_cfg: InitConfig,
        is_root: bool,
    ) -> str:
        """Return the missing part of a prefix's file. Classes are created for `object_infos`, which are ordered,
        parents first."""

    def line_of_import_section(self, lines: list[str]) -> int:
        """Return the number of lines before a new import section."""

    def generate_init_file(self, code_blocks: list[CodeBlock], module_name: str, submodule: str) -> str:
        """Return the missing part of a package's file that exports the names of its `submodule`."""
        return ""

    def finalize_init(self, init_path: Path, prefixes: set[str]) -> None:
        """Create the files that the files of some prefixes need above them. OSError, ValueError for an impossible
        name."""
