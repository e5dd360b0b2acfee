"""Python as a target: see ..target for the interface."""

from __future__ import annotations

from .. import consts as C
from ..target import Generator
from . import codegen
from . import consts as PC
from .utils import Head, ImportItem, PythonImports, is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..file_utils import CodeBlock
    from ..utils import FuncInfo, InitConfig, ObjectInfo, Options

__all__ = ["PythonGenerator"]


class PythonGenerator(Generator):
    """Annotations in .py and .pyi files."""

    name = "python"
    syntax = C.PYTHON_SYNTAX
    source_exts = frozenset({".py", ".pyi"})
    directive_kinds = frozenset({"import-object"})
    has_whole_types = False  # regions are inside classes
    api_filename = "_ffi_api.py"
    init_filename = "__init__.py"

    def default_ty_map(self) -> dict[str, str]:
        return dict(PC.TY_MAP_DEFAULTS)

    def is_name(self, text: str) -> bool:
        return is_name(text)

    def is_builtin(self, type_key: str) -> bool:
        return type_key in C.BUILTIN_TYPE_KEYS or type_key in PC.TY_MAP_DEFAULTS

    def new_imports(self) -> PythonImports:
        return PythonImports()

    def add_directive(self, imports: PythonImports, name: str, payload: str, lineno: int) -> None:
        """``import-object: FULL-NAME;TYPE-CHECKING-ONLY;ALIAS``; ValueError for any other form."""
        full_name, *rest = (part.strip() for part in payload.split(";"))
        if not full_name or len(rest) > 2 or (rest and rest[0] not in ("", "True", "False")):
            raise ValueError(f"`{name}` at line {lineno} must be NAME;True or False;ALIAS, got {payload!r}")
        checked = bool(rest) and rest[0] == "True"
        item = ImportItem(full_name, checked, (rest[1] or None) if len(rest) == 2 else None)
        if item not in imports.items:
            imports.items.append(item)
        if item.exposed_name == "_FFI_LOAD_LIB":
            imports.has_lib_load = True

    def extra_export_names(self, imports: PythonImports, lines: list[str]) -> set[str]:
        """Return LIB if the file uses that name for its library: files of tvm-ffi's command do, new files do not."""
        is_hidden = any(line.startswith(f"{codegen.LIBRARY} =") for line in lines)
        return {"LIB"} if imports.has_lib_load and not is_hidden else set()

    def check_view(self, code_blocks: list[CodeBlock]) -> object:
        return [line for block in code_blocks for line in block.lines]

    def generate_global_funcs_block(
        self,
        code: CodeBlock,
        global_funcs: list[FuncInfo],
        ty_map: dict[str, str],
        imports: PythonImports,
        opt: Options,
        defined: set[str],
    ) -> None:
        imports.functions.update(func.name for func in global_funcs)
        codegen.generate_python_global_funcs(code, global_funcs, ty_map, imports.items, opt, defined)

    def generate_object_block(
        self,
        code: CodeBlock,
        ty_map: dict[str, str],
        imports: PythonImports,
        opt: Options,
        obj_info: ObjectInfo,
        declared: Mapping[str, Path],
    ) -> None:
        here = declared[code.text_param]
        defined = {type_key for type_key, path in declared.items() if path == here}
        is_implemented = here.suffix != ".pyi"
        items, functions = imports.items, imports.functions
        codegen.generate_python_object(code, ty_map, items, opt, obj_info, defined, is_implemented, functions)

    def note_lines_before(self, imports: PythonImports, lines: list[str]) -> None:
        imports.head = Head.of(lines)

    def generate_import_section_block(
        self, code: CodeBlock, imports: PythonImports, opt: Options, defined: set[str]
    ) -> None:
        """ValueError, which names the line, if annotations would be evaluated."""
        if not (imports.head.is_all or imports.head.has_annotations):
            raise ValueError(
                f"`import-section` at line {code.lineno_start}: the text before it must begin with "
                "`from __future__ import annotations`, which cannot come later"
            )
        codegen.generate_python_import_section(code, imports.items, opt, defined, imports.head.is_all)

    def generate_all_block(self, code: CodeBlock, names: set[str], opt: Options) -> None:
        codegen.generate_python_all(code, names, opt)

    def generate_export_block(self, code: CodeBlock) -> None:
        codegen.generate_python_export(code)

    def generate_api_file(
        self,
        code_blocks: list[CodeBlock],
        ty_map: dict[str, str],
        module_name: str,
        object_infos: list[ObjectInfo],
        init_cfg: InitConfig,
        is_root: bool,
    ) -> str:
        return codegen.generate_python_ffi_api(
            code_blocks, ty_map, module_name, object_infos, init_cfg, is_root, self.syntax
        )

    def line_of_import_section(self, lines: list[str]) -> int:
        return Head.of(lines).n_lines

    def generate_init_file(self, code_blocks: list[CodeBlock], module_name: str, submodule: str) -> str:
        return codegen.generate_python_init(code_blocks, module_name, submodule, self.syntax)

    def finalize_init(self, init_path: Path, prefixes: set[str]) -> None:
        codegen.finalize_python_packages(init_path, prefixes)
