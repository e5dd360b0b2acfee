"""The content of regions in Python files, and the text of new files."""

from __future__ import annotations

from ..lib_state import object_info_from_type_key
from .fields import (
    render_object_annotations,
    render_object_fields,
    render_object_properties,
    render_object_variants,
)
from .utils import (
    ImportItem,
    TypeNames,
    doc_lines,
    is_name,
    render_func,
    render_func_signature,
    render_object_ffi_init,
    render_object_init,
    render_object_methods,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from ..consts import MarkerSyntax
    from ..file_utils import CodeBlock
    from ..utils import FuncInfo, InitConfig, ObjectInfo, Options

__all__ = [
    "LIBRARY",
    "finalize_python_packages",
    "generate_python_all",
    "generate_python_export",
    "generate_python_ffi_api",
    "generate_python_global_funcs",
    "generate_python_import_section",
    "generate_python_init",
    "generate_python_object",
    "import_lines",
    "render_func_signature",
    "render_object_ffi_init",
    "render_object_fields",
    "render_object_init",
    "render_object_methods",
]

_INIT_FUNC, _REGISTER, _LOAD_LIB = "_FFI_INIT_FUNC", "_FFI_REG_OBJ", "_FFI_LOAD_LIB"
_LOAD_LIB_HOME = "ffi.libinfo.load_lib_module"
LIBRARY = "_LIB"
"""The name of the library in new files. The name is not part of a package's public names."""


# --- regions --------------------------------------------------------------------------------------------------------


def generate_python_global_funcs(
    code: CodeBlock,
    global_funcs: list[FuncInfo],
    ty_map: dict[str, str],
    imports: list[ImportItem],
    opt: Options,
    defined: Collection[str] = (),
) -> None:
    """``global/PREFIX``: the call that fetches the functions, and their signatures for type checkers.

    A class of the file hides a function with the same name, such as a function that creates its instances.
    """
    if not global_funcs:
        return
    prefix, home = code.pair_param
    _add(imports, ImportItem(f"{home or 'ffi'}.init_ffi_api", alias=_INIT_FUNC), ImportItem("typing.TYPE_CHECKING"))
    classes = {key.rpartition(".")[2] for key in defined}
    names = TypeNames(ty_map, imports, {func.name for func in global_funcs} - classes, defined)
    inputs = names.for_parameters()
    results = names.for_results()
    lines = []
    space = " " * opt.indent
    for func in global_funcs:
        if not is_name(func.name):
            lines.append(f"{space}# {func.name!r} is not a name for Python: get_global_func() finds it")
        elif func.name in classes:
            lines.append(f"{space}# {func.name!r} is a class of this file: get_global_func() finds the function")
        else:
            lines += render_func(func, results, opt.indent, inputs)
    call = f'{_INIT_FUNC}("{prefix}", __name__)'
    _fill(code, ["# fmt: off", call, *_for_type_checkers(lines, opt), "# fmt: on"])


def generate_python_object(
    code: CodeBlock,
    ty_map: dict[str, str],
    imports: list[ImportItem],
    opt: Options,
    obj_info: ObjectInfo,
    defined: Collection[str] = (),
    is_implemented: bool = False,
    functions: Collection[str] = (),
) -> None:
    """``object/KEY``: the fields as annotations of a class; for type checkers, the variants of an enum, properties for
    read-only fields, methods and constructors.

    If it `is_implemented`, overloads get an implementation and properties an annotation, which are needed outside .pyi
    files. `functions` are the names of the functions in the file.
    """
    members = {f.name for f in obj_info.fields} | {method.name for method in obj_info.methods}
    classes = {key.rpartition(".")[2] for key in defined}
    names = TypeNames(ty_map, imports, members.union(obj_info.variants, set(functions) - classes), defined)
    inputs = names.for_parameters()
    results = names.for_results()
    ancestors = [object_info_from_type_key(key) for key in obj_info.ancestors]
    inherited = _methods_of(ancestors)
    assignable = {f.name for ancestor in ancestors for f in ancestor.fields if not f.frozen}
    methods = [
        *render_object_variants(obj_info, names, opt.indent),
        *render_object_properties(obj_info, results, opt.indent, assignable),
        *render_object_init(obj_info, results, opt.indent, inputs, is_implemented),
        *render_object_ffi_init(obj_info, results, opt.indent, inputs, inherited, is_implemented),
        *render_object_methods(obj_info, results, opt.indent, inputs, inherited, is_implemented),
    ]
    if methods:
        _add(imports, ImportItem("typing.TYPE_CHECKING"))
        methods = _for_type_checkers(methods, opt)
        annotations = render_object_annotations(obj_info, results, opt.indent) if is_implemented else []
        methods += ["else:", *annotations] if annotations else []
    if obj_info.has_overloaded_methods():
        _add(imports, ImportItem("typing.overload", type_checking_only=True))
    _fill(code, ["# fmt: off", *render_object_fields(obj_info, names, indent=0), *methods, "# fmt: on"])


def generate_python_import_section(
    code: CodeBlock, imports: list[ImportItem], opt: Options, defined: Collection[str] = (), is_first: bool = True
) -> None:
    """``import-section``: the imports of the other regions, without the classes that the file defines itself.

    If the section `is_first` in its file, it contains the import that leaves annotations unevaluated; otherwise the
    lines before it must contain that import.
    """
    own = {ImportItem(key).full_name for key in defined}
    items = [item for item in imports if not (item.type_checking_only and item.full_name in own)]
    if not items:
        return
    always = {item for item in items if not item.type_checking_only}
    checked = {item for item in items if item.type_checking_only}
    if checked:
        always.add(ImportItem("typing.TYPE_CHECKING"))
    future = ["from __future__ import annotations"] if is_first else []
    lines = ["# fmt: off", "# isort: off", *future, *import_lines(always)]
    if checked:
        lines.append("if TYPE_CHECKING:")
        lines += [" " * opt.indent + line for line in import_lines(checked)]
    _fill(code, [*lines, "# isort: on", "# fmt: on"])


def generate_python_all(code: CodeBlock, names: set[str], opt: Options) -> None:
    """``__all__``: items of a list, constants first, then classes, then functions."""
    if not names:
        return
    short = {name.rpartition(".")[2] for name in names}
    _fill(code, [f'"{name}",' for name in sorted(filter(is_name, short), key=_as_isort_does)])


def generate_python_export(code: CodeBlock) -> None:
    """``export/MODULE``: everything that a module of this package exports.

    Type checkers do not understand a computed __all__, and treat the names that the second line imports as exported.
    All other names in the generated lines are private.
    """
    module = code.text_param
    name = f"_{module.lstrip('_')}__all__"
    lines = [
        "import typing as _typing",
        f"from .{module} import *  # noqa: F403",
        "if not _typing.TYPE_CHECKING:",
        f"    from .{module} import __all__ as {name}",
        f'    __all__ = [*globals().get("__all__", []), *{name}]',
    ]
    _fill(code, ["# fmt: off", "# isort: off", *lines, "# isort: on", "# fmt: on"])


def _for_type_checkers(lines: list[str], opt: Options) -> list[str]:
    """Return a block that does not run. For Python, comments alone are not a block."""
    is_empty = all(line.lstrip().startswith("#") for line in lines)
    return ["if TYPE_CHECKING:", *lines, *([f"{' ' * opt.indent}pass"] if is_empty else [])]


def _fill(code: CodeBlock, lines: list[str]) -> None:
    """Put lines between the marks of a region, indented like its first mark."""
    space = " " * code.indent
    code.lines = [code.lines[0], *(space + line for line in lines), code.lines[-1]]


def _add(imports: list[ImportItem], *items: ImportItem) -> None:
    imports += [item for item in items if item not in imports]


def import_lines(items: Iterable[ImportItem]) -> list[str]:
    """Return the import statements, one for each module, sorted."""
    by_module: dict[str, set[str]] = {}
    for item in items:
        by_module.setdefault(item.mod, set()).add(item.name_with_alias)
    whole = [f"import {name}" for name in sorted(by_module.pop("", ()))]
    return whole + [f"from {module} import {', '.join(sorted(by_module[module]))}" for module in sorted(by_module)]


def _as_isort_does(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2), name


def _methods_of(infos: Iterable[ObjectInfo]) -> set[str]:
    """Return the names of the methods of some types."""
    found: set[str] = set()
    for info in infos:
        found |= {method.name for method in info.methods} | ({"__ffi_init__"} if info.has_init else set())
    return found


# --- new files ------------------------------------------------------------------------------------------------------


def generate_python_ffi_api(
    code_blocks: list[CodeBlock],
    ty_map: dict[str, str],
    module_name: str,
    object_infos: list[ObjectInfo],
    init_cfg: InitConfig,
    is_root: bool,
    syntax: MarkerSyntax,
) -> str:
    """The missing part of a module for the names under a prefix, with empty regions; the whole module if it has no
    blocks.

    The root's module loads the library and then imports classes of other modules of that library. The classes of
    `object_infos` must be ordered, parents first.
    """
    have = {(block.kind, block.param) for block in code_blocks}
    kinds = {block.kind for block in code_blocks}
    parts = [] if code_blocks else [f'"""FFI API bindings for {module_name}."""\n']
    if "import-section" not in kinds:
        parts.append(syntax.empty_region("import-section"))
    if is_root and not _loads_library(code_blocks):
        parts.append(f"{_import_mark(_LOAD_LIB_HOME, _LOAD_LIB, syntax)}\n{LIBRARY} = {_call_load_lib(init_cfg)}\n")
    if not any(block.kind == "global" and block.pair_param[0] == module_name for block in code_blocks):
        parts.append(syntax.empty_region(f"global/{module_name}"))
    new = [info for info in object_infos if ("object", info.type_key) not in have]
    if not all(map(_is_enum, new)):
        parts.append(_import_mark("ffi.register_object", _REGISTER, syntax) + "\n")
    here = {info.type_key for info in object_infos}
    parts += [_class(info, here, ty_map, syntax, f"{module_name}." if is_root else "") for info in new]
    if "__all__" not in kinds:
        parts.append("__all__ = [\n" + syntax.empty_region("__all__", indent="    ") + "]\n")
    return "\n".join(parts)


def generate_python_init(code_blocks: list[CodeBlock], module_name: str, submodule: str, syntax: MarkerSyntax) -> str:
    """Return the missing part of a package that exports the names of its `submodule`; "" if nothing is missing."""
    if any(block.kind == "export" and block.param == submodule for block in code_blocks):
        return ""
    doc = "" if code_blocks else f'"""Package {module_name}."""\n\n'
    return doc + syntax.empty_region(f"export/{submodule}")


def finalize_python_packages(init_path: Path, prefixes: Collection[str]) -> None:
    """Create packages in the folders between the folders of some prefixes and the folder of the shortest prefix. The
    shortest prefix gets a py.typed, because type checkers read annotations only from packages that have one."""
    root = min((prefix.count(".") + 1 for prefix in prefixes), default=0)
    for prefix in prefixes:
        parts = prefix.split(".")
        if init_path.joinpath(*parts[:root], "__init__.py").exists():
            init_path.joinpath(*parts[:root], "py.typed").touch()
        for i in range(root, len(parts)):
            file = init_path.joinpath(*parts[:i], "__init__.py")
            if not file.exists() or not file.stat().st_size:
                file.write_text(f'"""Package {".".join(parts[:i])}."""\n', encoding="utf-8")


def _import_mark(full_name: str, alias: str, syntax: MarkerSyntax) -> str:
    return f"{syntax.import_object} {full_name};False;{alias}"


def _loads_library(code_blocks: list[CodeBlock]) -> bool:
    return any(block.kind == "directive" and _LOAD_LIB in block.pair_param[1] for block in code_blocks)


def _call_load_lib(init_cfg: InitConfig) -> str:
    return f'{_LOAD_LIB}("{init_cfg.pkg}", "{init_cfg.shared_target}")'


def _class(
    info: ObjectInfo, here: Collection[str | None], ty_map: dict[str, str], syntax: MarkerSyntax, below: str
) -> str:
    """Return a class with an empty region for its members. A parent whose type key begins with `below`, unless that is
    "", is imported after the library is loaded."""
    key = str(info.type_key)
    lineage = [info.parent_type_key or "ffi.Object", *reversed(info.ancestors)]
    parent = next((key for key in lineage if all(map(is_name, key.split(".")))), "ffi.Object")
    name = key.rpartition(".")[2]
    is_parent_here = parent in here
    base = parent.rpartition(".")[2] if is_parent_here else f"_{parent.replace('.', '_')}"
    mark = _import_mark(ty_map.get(parent, parent), base, syntax)
    if below and parent.startswith(below):
        mark = import_lines([ImportItem(ty_map.get(parent, parent), alias=base)])[0] + "  # noqa: E402"
    is_enum = _is_enum(info)  # such a class registers itself, and finds its variants
    lines = [
        *([] if is_parent_here else [mark]),
        *([] if is_enum else [f'@{_REGISTER}("{key}")']),
        f'class {name}({base}, type_key="{key}"):' if is_enum else f"class {name}({base}):",
        *doc_lines(info.doc.strip() or f"FFI binding for `{key}`.", "    "),
        "",
        syntax.empty_region(f"object/{key}", indent="    "),
    ]
    return "\n".join(lines)


def _is_enum(info: ObjectInfo) -> bool:
    return "ffi.Enum" in info.ancestors
