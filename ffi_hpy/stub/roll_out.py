"""Regions for all types of a namespace: a file with the directive ``prefix: NAMESPACE`` gets the missing regions.

``skip: KEY`` in any file leaves a type out. Regions of the namespace whose types are no longer registered are removed,
unless none is registered.
"""

from __future__ import annotations

from .file_utils import CodeBlock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from .file_utils import FileInfo
    from .target import Generator
    from .utils import ObjectInfo

__all__ = ["declared_objects", "roll_out", "skipped_types"]


def declared_objects(files: list[FileInfo]) -> dict[str, Path]:
    """Return the types that have a region, and the first file with one for each."""
    found: dict[str, Path] = {}
    for file in files:
        for block in file.code_blocks:
            if block.kind == "object":
                found.setdefault(block.text_param, file.path)
    return found


def skipped_types(files: list[FileInfo]) -> set[str]:
    """Return the types that directives leave out."""
    return {block.pair_param[1] for file in files for block in file.code_blocks if _is_directive(block, "skip")}


def roll_out(
    files: list[FileInfo],
    generator: Generator,
    registered: Mapping[str, list[str]],
    ordered: Callable[[list[str]], list[ObjectInfo]],
    say: Callable[[str], object],
    on_error: Callable[[Path, Exception], object],
) -> None:
    """Add the regions of all files' directives, to their blocks only.

    `registered` contains type keys by namespace, `ordered` sorts types into the order of their regions. `say` is called
    with messages about removed regions, `on_error` with a ValueError for a file with an invalid directive.
    """
    owners: dict[str, Path] = {}
    taken = declared_objects(files).keys() | skipped_types(files)
    for file in files:
        heads = [block for block in file.code_blocks if _is_directive(block, "prefix")]
        if not heads:
            continue
        prefix = heads[0].pair_param[1].rstrip(".")
        problem = _find_problem(heads, prefix, owners, file, generator)
        if problem is not None:
            on_error(file.path, ValueError(problem))
            continue
        keys = registered.get(prefix, [])
        if not keys:  # probably because a library is not loaded
            say(f"{file.path}: no type is registered under the `prefix` {prefix}")
            continue
        _remove_unregistered(file, prefix, keys, say)
        missing = [key for key in keys if key not in taken and not generator.is_builtin(key)]
        _add_regions(file, heads[0], [str(info.type_key) for info in ordered(missing)])


def _is_directive(block: CodeBlock, name: str) -> bool:
    return block.kind == "directive" and block.pair_param[0] == name


def _find_problem(
    heads: list[CodeBlock], prefix: str, owners: dict[str, Path], file: FileInfo, generator: Generator
) -> str | None:
    place = f"`prefix` at line {heads[0].lineno_start}"
    if not generator.has_whole_types:
        return f"{place}: regions are inside of classes here, which --init-prefix makes"
    if not prefix:
        return f"{place} must be the namespace of type keys, got nothing"
    if len(heads) > 1:
        return f"{place}: there is another one at line {heads[1].lineno_start}, and a file can have one"
    if owners.setdefault(prefix, file.path) != file.path:
        return f"{place}: {owners[prefix]} has the types of {prefix!r} already"
    return None


def _remove_unregistered(file: FileInfo, prefix: str, keys: list[str], say: Callable[[str], object]) -> None:
    kept: list[CodeBlock] = []
    for block in file.code_blocks:
        is_here = block.kind == "object" and block.text_param.rpartition(".")[0] == prefix
        if not is_here or block.param in keys:
            kept.append(block)
            continue
        place = f"`object/{block.param}` (line {block.lineno_start})"
        say(f"[Removed] {file.path}: {place}: the type is not registered any more")
        if kept and kept[-1].kind is None and kept[-1].lines[-1:] == [""]:
            kept[-1].lines.pop()  # the blank line before a region
    file.code_blocks = kept


def _add_regions(file: FileInfo, head: CodeBlock, keys: list[str]) -> None:
    """Add regions for types after the last region, and an import section after the directive if there is none."""
    blocks = file.code_blocks

    def insert(at: int, stubs: list[str]) -> None:
        for stub in reversed(stubs):
            blank = CodeBlock(None, "", head.lineno_start, head.lineno_start, [""])
            blocks[at:at] = [blank, CodeBlock.new_region(stub, head.lineno_start, file.syntax)]

    if not any(block.kind == "import-section" for block in blocks):
        insert(next(i for i, block in enumerate(blocks) if block is head) + 1, ["import-section"])
    last = max(i for i, block in enumerate(blocks) if block.kind in ("object", "import-section"))
    insert(last + 1, [f"object/{key}" for key in keys])
