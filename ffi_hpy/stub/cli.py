"""The command ffi-hpy-stubgen: annotations for the registrations of native libraries, in Python files, or Rust; and
stubs (.pyi) of libraries that are bound with ffi_hpy/bind.h.

Such a library is named by its module or its file. The stub is written beside the library, unless --output names a
folder.

In other files, the command fills the regions that marks enclose; with --init-pypkg, --init-lib and --init-prefix, it
first makes the files and regions that a package lacks. Modules that --imports names and libraries that --dlls names are
loaded first.

Exit status: 0 done, or with --check nothing to do; 1 with --check: regions are out of date; 2 wrong usage, or a file or
a library that cannot be processed, such as one that declares metadata that are not valid.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

from .._start.version import PrintVersion
from .._types.metadata import MetadataError
from ..libinfo import open_with_ctypes
from . import consts as C
from .bound_files import is_bound_argument, stub_files
from .file_utils import FileInfo, collect_files, syntax_for
from .generator import generator_names, get_generator
from .layout import classify, write_coverage_report
from .lib_state import (
    collect_global_funcs,
    collect_type_keys,
    is_registered,
    object_info_from_type_key,
    toposort_objects,
)
from .roll_out import declared_objects, roll_out, skipped_types
from .utils import InitConfig, Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .file_utils import CodeBlock
    from .generator import Generator
    from .utils import FuncInfo

__all__ = ["fill_regions", "main", "make_missing", "read_ty_maps"]

_PROGRAM = "ffi-hpy-stubgen"


class _Failure(Exception):
    """Ends the command with the message."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, with the process's arguments if none are given. Returns its exit status."""
    options = _parse(arguments)
    try:
        libraries = _load(options)
        stubs_differ = [_write_stubs(text, options) for text in options.modules]
        is_stale, has_failed = _run(options)
    except (_Failure, MetadataError) as failure:
        _complain(str(failure))
        return 2
    del libraries  # the libraries must stay loaded until here
    return 2 if has_failed else 1 if options.check and (is_stale or any(stubs_differ)) else 0


def _write_stubs(text: str, options: Options) -> bool:
    """Write the stubs of a bound module, and return whether they had to change. _Failure if that is not possible."""
    try:
        files, outdated = stub_files(text, options.output)
        differing = [file for file in files if file.diff()]
        for file in differing:
            if not (options.check or options.dry_run):
                file.path.parent.mkdir(parents=True, exist_ok=True)
            file.update(verbose=options.verbose and not options.check, dry_run=options.check or options.dry_run)
            _report(file, options)
        for path in outdated:
            print(f"{path}: outdated")
            if not (options.check or options.dry_run):
                path.unlink()
    except Exception as error:  # foreign code runs here
        kind = "" if isinstance(error, (ImportError, OSError, ValueError)) else f"{type(error).__name__}: "
        raise _Failure(f"{text}: {kind}{error}") from error
    return bool(differing or outdated)


def _run(options: Options) -> tuple[bool, bool]:
    """Return whether a file had to change, and whether a file could not be processed."""
    if options.coverage_out is not None:
        _report_coverage(Path(options.coverage_out))
    failed: list[Path] = []

    def note_failure(path: Path, error: Exception) -> None:
        failed.append(path)
        _complain(f"{path}: {error}")

    generator = get_generator(options.target)
    paths = [Path(path) for path in options.files]
    wanted = [path for path in paths if path.exists() or options.init is None]
    files = collect_files(wanted, generator.source_exts, note_failure)
    ty_map = generator.default_ty_map()
    for file in files:
        try:
            read_ty_maps(file, ty_map)
        except ValueError as error:
            note_failure(file.path, error)
    global_funcs = collect_global_funcs() if files or options.init else {}
    folder = paths[0].parent if paths and paths[0].is_file() else next(iter(paths), Path())
    prefixes: set[str] = set()
    if options.init is not None:
        try:
            prefixes = make_missing(
                files, ty_map, options.init, folder, global_funcs, generator, dry_run=options.dry_run
            )
        except (OSError, ValueError) as error:
            raise _Failure(str(error)) from error
    views = {file.path: generator.check_view(file.code_blocks) for file in files}
    _roll_out_prefixes(files, generator, note_failure)
    declared = declared_objects(files)
    changed = False
    for file in files:
        if file.path in failed:
            continue
        try:
            differs = fill_regions(file, options, ty_map, global_funcs, generator, declared)
        except (ValueError, OSError) as error:
            note_failure(file.path, error)
            continue
        if differs and not (options.check and generator.check_view(file.code_blocks) == views[file.path]):
            changed = True
            _report(file, options)
    if prefixes and not options.dry_run:
        try:
            generator.finalize_init(folder, prefixes)
        except (OSError, ValueError) as error:
            raise _Failure(str(error)) from error
    return changed, bool(failed)


def _report(file: FileInfo, options: Options) -> None:
    """Report that a file is not, or was not, up to date."""
    if options.check:
        print(*file.diff(), sep="\n")
        print(f"[Stale] {file.path}")
    else:
        print(f"{file.path}: {'would be written' if options.dry_run else 'written'}")


def _report_coverage(path: Path) -> None:
    keys = [key for keys in collect_type_keys().values() for key in keys]
    verdicts = classify({key: object_info_from_type_key(key) for key in keys})
    try:
        write_coverage_report(path, verdicts)
    except OSError as error:
        raise _Failure(f"--coverage-out {path}: {error}") from error


# --- the steps for a file ------------------------------------------------------------------------------------------


def read_ty_maps(file: FileInfo, ty_map: dict[str, str]) -> None:
    """Add the mappings of the ``ty-map: KEY -> NAME`` directives of a file. ValueError for a malformed directive."""
    for block in file.code_blocks:
        if block.kind == "directive" and block.pair_param[0] == "ty-map":
            key, arrow, name = block.pair_param[1].partition("->")
            if not (key.strip() and arrow and name.strip()):
                raise ValueError(f"`ty-map` at line {block.lineno_start} must be KEY -> NAME, got {block.param[1]!r}")
            ty_map[key.strip()] = name.strip()


def make_missing(
    files: list[FileInfo],
    ty_map: dict[str, str],
    init_cfg: InitConfig,
    init_path: Path,
    global_funcs: dict[str, list[FuncInfo]],
    generator: Generator,
    *,
    dry_run: bool = False,
) -> set[str]:
    """Create the files, and the regions in them, for all names under a prefix. Returns the prefixes that have a file.

    Names under ``a.b.`` get the folder ``a/b`` of `init_path`. New files are added to `files`; unless `dry_run` they
    are also written. OSError, or ValueError that names the file, for a file that cannot be read.
    """
    root = init_cfg.prefix.rstrip(".")
    type_keys = collect_type_keys()
    prefixes = sorted({root, *(p for p in (*type_keys, *global_funcs) if p.startswith(f"{root}."))})
    declared, skipped = declared_objects(files), skipped_types(files)
    by_path = {file.path: file for file in files}
    made = set()
    for prefix in prefixes:
        parts = prefix.split(".")
        if not all(map(generator.is_name, parts)):
            _complain(f"no file is made for {prefix!r}, which cannot be the name of a package")
            continue
        folder = init_path.joinpath(*parts)
        api = _file_at(folder / generator.api_filename, by_path, files)
        keys = [key for key in type_keys.get(prefix, []) if key not in skipped and not generator.is_builtin(key)]
        for key in [key for key in keys if not generator.is_name(key.rpartition(".")[2])]:
            _complain(f"no class is made for {key!r}, whose last part cannot be the name of one")
            keys.remove(key)
        if api is not None:
            keys = [key for key in keys if declared.get(key, api.path) == api.path]
            if api.code_blocks and all(block.kind != "import-section" for block in api.code_blocks):
                api.insert(generator.line_of_import_section(api.new_lines()), "import-section")
            text = generator.generate_api_file(
                api.code_blocks, ty_map, prefix, toposort_objects(keys), init_cfg, prefix == root
            )
            _append(api, text, dry_run)
        package = _file_at(folder / generator.init_filename, by_path, files)
        if package is not None:
            submodule = Path(generator.api_filename).stem
            _append(package, generator.generate_init_file(package.code_blocks, prefix, submodule), dry_run)
        made.add(prefix)
    return made


def fill_regions(
    file: FileInfo,
    opt: Options,
    ty_map: dict[str, str],
    global_funcs: dict[str, list[FuncInfo]],
    generator: Generator,
    declared: Mapping[str, Path] | None = None,
) -> bool:
    """Fill every region of a file, and write it unless the options forbid that. Returns whether the file changes.

    `declared` maps the types with a region in this run to their files, by default the types of this file. ValueError,
    which names the line, for an unknown directive, and for a region whose type no loaded library registers. Such
    regions stay unchanged; all other regions are filled first.
    """
    imports = generator.new_imports()
    for block in file.code_blocks:
        if block.kind == "directive":
            name, payload = block.pair_param
            if name in C.PIPELINE_DIRECTIVE_KINDS:
                continue
            if name not in generator.directive_kinds:
                raise ValueError(f"Unknown directive `{name}` at line {block.lineno_start}")
            generator.add_directive(imports, name, payload, block.lineno_start)
    own = declared_objects([file])
    declared, defined = {**(declared or {}), **own}, set(own)
    unknown: list[CodeBlock] = []
    by_hand = [line for block in file.code_blocks if block.kind is None for line in block.lines]
    names = generator.extra_export_names(imports, by_hand)
    # Functions come first, because the names of classes' annotations depend on them
    for block in sorted(file.code_blocks, key=lambda block: block.kind != "global"):
        if block.kind == "global":
            funcs = _functions_for(block, global_funcs)
            generator.generate_global_funcs_block(block, funcs, ty_map, imports, opt, defined)
            names |= {func.schema.name for func in funcs if func.name.isidentifier()}
        elif block.kind == "object":
            if not is_registered(block.text_param):
                unknown.append(block)
                continue
            info = object_info_from_type_key(block.text_param)
            generator.generate_object_block(block, ty_map, imports, opt, info, declared)
            names.add(block.text_param)
        elif block.kind == "export":
            generator.generate_export_block(block)
    for i, block in enumerate(file.code_blocks):  # these regions depend on the other regions
        if block.kind == "import-section":
            generator.note_lines_before(imports, [line for before in file.code_blocks[:i] for line in before.lines])
            generator.generate_import_section_block(block, imports, opt, defined)
        elif block.kind == "__all__":
            generator.generate_all_block(block, names, opt)
    differs = file.update(verbose=opt.verbose and not opt.check, dry_run=opt.dry_run or opt.check)
    if unknown:
        regions = ", ".join(f"`object/{block.param}` (line {block.lineno_start})" for block in unknown)
        raise ValueError(
            f"{regions}: the type is no longer registered; load the library that registers it, or delete the region"
        )
    return differs


_stage_1, _stage_2, _stage_3, __main__ = read_ty_maps, make_missing, fill_regions, main
"""tvm_ffi's names for these functions."""


def _functions_for(block: CodeBlock, global_funcs: dict[str, list[FuncInfo]]) -> list[FuncInfo]:
    prefix = block.pair_param[0]
    funcs = global_funcs.get(prefix, [])
    if not funcs and len(block.lines) > 2:
        raise ValueError(
            f"`global/{prefix}` at line {block.lineno_start}: no loaded library registers such functions any more; "
            "load the one that does, or empty the block"
        )
    return funcs


def _roll_out_prefixes(
    files: list[FileInfo], generator: Generator, on_error: Callable[[Path, Exception], None] | None = None
) -> int:
    """Add the regions of ``prefix`` directives. Returns the number of files for which that failed."""
    failed: list[Path] = []

    def note(path: Path, error: Exception) -> None:
        failed.append(path)
        if on_error is not None:
            on_error(path, error)

    roll_out(files, generator, collect_type_keys(), toposort_objects, print, note)
    return len(failed)


def _file_at(path: Path, by_path: dict[Path, FileInfo], files: list[FileInfo]) -> FileInfo | None:
    """Return the file, read or new; None if it is marked with skip-file."""
    path = path.resolve()
    if path not in by_path:
        try:
            info = FileInfo.from_file(path, include_empty=True)
        except FileNotFoundError:
            info = FileInfo(path, (), [], syntax_for(path))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        if info is None:
            return None
        by_path[path] = info
        files.append(info)
    return by_path[path]


def _append(file: FileInfo, text: str, dry_run: bool) -> None:
    if text:
        file.append(text)
        if not dry_run:
            file.path.parent.mkdir(parents=True, exist_ok=True)
            file.update(verbose=False, dry_run=False)


# --- the command line -----------------------------------------------------------------------------------------------


def _load(options: Options) -> list[object]:
    """Import the modules and load the libraries of the command line."""
    for name in options.imports:
        try:
            import_module(name)
        except Exception as error:  # foreign code runs here
            kind = "" if isinstance(error, ImportError) else f"{type(error).__name__}: "
            raise _Failure(f"--imports {name}: {kind}{error}") from error
    libraries: list[object] = []
    for path in options.dlls:
        try:
            # The system's loader searches for a bare name, unless there is a file of that name
            name = os.path.abspath(path) if os.path.exists(path) else path  # noqa: PTH100, PTH110
            libraries.append(open_with_ctypes(name))
        except OSError as error:
            raise _Failure(f"--dlls {path}: {error}") from error
    return libraries


def _complain(message: str) -> None:
    print(f"{_PROGRAM}: {message}", file=sys.stderr)


def _parse(arguments: Sequence[str] | None) -> Options:
    summary, _, details = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog=_PROGRAM, description=summary, epilog=details, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--version", action=PrintVersion)
    add("files", nargs="*", metavar="PATH", help="files, and folders of files, with regions; bound modules")
    add("--imports", default="", metavar="A;B", help="modules to import first, separated by ';'")
    add("--dlls", default="", metavar="A;B", help="libraries to load first, separated by ';'")
    add("--init-pypkg", default="", metavar="NAME", help="the distribution to make files for, such as my-package")
    add("--init-lib", default="", metavar="NAME", help="its library, less lib and .so")
    add("--init-prefix", default="", metavar="PREFIX.", help="the prefix of the names of its functions and types")
    add("--indent", type=int, default=4, metavar="N", help="spaces of indentation inside a region (4)")
    add("--target", choices=generator_names(), default="python", help="the language to write")
    add("--verbose", action="store_true", help="print the changes, as a diff")
    add("--dry-run", action="store_true", help="write no file")
    add(
        "--check",
        action="store_true",
        help="write no file; print outdated regions as a diff, and fail if there are any",
    )
    add("--coverage-out", metavar="JSON", help="write whether the memory layout of each type can be reproduced")
    add("--output", metavar="DIR", help="the folder for the stubs of bound modules")
    given = parser.parse_args(arguments)
    init = [given.init_pypkg, given.init_lib, given.init_prefix]
    if any(init) and not all(init):
        parser.error("--init-pypkg, --init-lib, and --init-prefix must be provided together")
    if any(init) and given.check:
        parser.error("--check cannot be combined with --init-*")
    modules = [text for text in given.files if is_bound_argument(text)] if not any(init) else []
    if given.output is not None and not modules:
        parser.error("--output is for the stubs of bound modules; no module or library is named")
    if given.indent < 1:
        parser.error(f"--indent must be at least 1, got {given.indent}")
    if not given.files and (given.coverage_out is None or any(init)):
        parser.error("at least one PATH is required")
    return Options(
        imports=[name.strip() for name in given.imports.split(";") if name.strip()],
        dlls=[path.strip() for path in given.dlls.split(";") if path.strip()],
        init=InitConfig(*init) if any(init) else None,
        indent=given.indent,
        files=[text for text in given.files if text not in modules],
        modules=modules,
        output=given.output,
        verbose=given.verbose,
        dry_run=given.dry_run,
        check=given.check,
        target=given.target,
        coverage_out=given.coverage_out,
    )


if __name__ == "__main__":
    sys.exit(main())
