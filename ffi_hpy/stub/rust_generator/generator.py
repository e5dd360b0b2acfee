"""Rust as a target: see ..target for the interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from .. import consts as C
from ..target import Generator
from . import codegen
from . import consts as RC
from .resolve import type_name
from .utils import RustImports, check_tokens, escaped, is_crate_type_key, is_nameable, rust_module_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..file_utils import CodeBlock
    from ..utils import InitConfig, ObjectInfo, Options

__all__ = ["RustGenerator"]


class RustGenerator(Generator):
    """Types of objects in .rs files. Functions need no code, because the crate finds them by name at the call; public
    items need no export, and modules are declared when files are created."""

    name = "rust"
    syntax = C.RUST_SYNTAX
    source_exts = frozenset({".rs"})
    directive_kinds = RC.RUST_DIRECTIVE_KINDS
    has_whole_types = True
    api_filename = init_filename = "mod.rs"

    def default_ty_map(self) -> dict[str, str]:
        return dict(RC.RUST_TY_MAP_DEFAULTS)

    def is_name(self, text: str) -> bool:
        return is_nameable(text)

    def is_builtin(self, type_key: str) -> bool:
        return is_crate_type_key(type_key)

    def new_imports(self) -> RustImports:
        return RustImports()

    def add_directive(self, imports: RustImports, name: str, payload: str, lineno: int) -> None:
        """``import-object: PATH``; text after a semicolon is for Python. For other directives see .directives."""
        if name != "import-object":
            imports.directives.add(name, payload, lineno)
            return
        path = payload.partition(";")[0].strip()
        if not path:
            raise ValueError(f"`{name}` at line {lineno} must be a path, got {payload!r}")
        imports.record(path)

    def check_view(self, code_blocks: list[CodeBlock]) -> object:
        """Return the definitions in the regions, without their formatting."""
        regions = [block for block in code_blocks if block.kind in ("object", "import-section")]
        views = {(block.kind, block.param): check_tokens(block.lines[1:-1]) for block in regions}
        return {region: tokens for region, tokens in views.items() if tokens}

    def generate_object_block(
        self,
        code: CodeBlock,
        ty_map: dict[str, str],
        imports: RustImports,
        opt: Options,
        obj_info: ObjectInfo,
        declared: Mapping[str, Path],
    ) -> None:
        key = code.text_param
        modules = _Modules(declared)
        for other, path in declared.items():
            if path == declared[key]:
                imports.reserved |= {escaped(type_name(other)), f"{type_name(other)}Obj"}
        for name in (escaped(type_name(key)), f"{type_name(key)}Obj"):
            path_of_type = "::".join((*modules[key], name))
            if imports.defined.setdefault(path_of_type, key) != key:
                raise ValueError(
                    f"`{imports.defined[path_of_type]}` and `{key}` would both define `{name}` in this file"
                )
        codegen.generate_rust_object(code, ty_map, imports, opt, obj_info, modules)

    def generate_import_section_block(
        self, code: CodeBlock, imports: RustImports, opt: Options, defined: set[str]
    ) -> None:
        codegen.generate_rust_import_section(code, imports, opt, imports.defined)

    def generate_api_file(
        self,
        code_blocks: list[CodeBlock],
        ty_map: dict[str, str],
        module_name: str,
        object_infos: list[ObjectInfo],
        init_cfg: InitConfig,
        is_root: bool,
    ) -> str:
        return codegen.generate_rust_api_file(
            code_blocks, ty_map, module_name, object_infos, init_cfg, is_root, self.syntax
        )

    def line_of_import_section(self, lines: list[str]) -> int:
        return len(lines)

    def finalize_init(self, init_path: Path, prefixes: set[str]) -> None:
        codegen.finalize_rust_module_tree(init_path, prefixes)


class _Modules(Mapping[str, "tuple[str, ...]"]):
    """The modules of files, computed on demand, because only a file that another file refers to must be in a crate."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files

    def __getitem__(self, type_key: str) -> tuple[str, ...]:
        return rust_module_path(self._files[type_key])

    def __contains__(self, type_key: object) -> bool:
        return type_key in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)
