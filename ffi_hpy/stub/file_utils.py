"""Source files as a sequence of blocks: the marked regions and the lines between them."""

from __future__ import annotations

import codecs
import difflib
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from . import consts as C

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Callable

__all__ = ["CodeBlock", "FileInfo", "collect_files", "syntax_for"]


def syntax_for(path: Path) -> C.MarkerSyntax:
    """Return the form of marks in a file, by its extension; Python's for unknown extensions."""
    return C.SYNTAX_BY_EXT.get(path.suffix.lower(), C.PYTHON_SYNTAX)


@dataclass
class CodeBlock:
    """Lines of a file: a region with its marks, a directive, or the lines between (`kind` is None).

    `param` is the text of the mark: ("demo", "mod") for ``global/demo@mod``, name and rest for a directive, the text
    after the slash for other marks. Line numbers count from 1; `lineno_end` is the number of the last line.
    """

    kind: C.STUB_BLOCK_KINDS
    param: str | tuple[str, ...]
    lineno_start: int
    lineno_end: int | None
    lines: list[str]

    @property
    def indent(self) -> int:
        """The number of spaces before the first line's text."""
        first = self.lines[0] if self.lines else ""
        return len(first) - len(first.lstrip(" "))

    @property
    def text_param(self) -> str:
        """`param` of a block whose mark has one part."""
        assert isinstance(self.param, str)
        return self.param

    @property
    def pair_param(self) -> tuple[str, str]:
        """`param` of a block whose mark has two parts."""
        assert isinstance(self.param, tuple)
        first, second = self.param
        return first, second

    @staticmethod
    def new_region(stub: str, lineno: int, syntax: C.MarkerSyntax) -> CodeBlock:
        """Return an empty region, without its place in a file."""
        lines = syntax.empty_region(stub).splitlines()
        block = CodeBlock.from_begin_line(lineno, lines[0], syntax)
        block.lines = lines
        block.lineno_end = lineno
        return block

    @staticmethod
    def from_begin_line(lineno: int, line: str, syntax: C.MarkerSyntax) -> CodeBlock:
        """Return the block that begins with a line, without its lines. ValueError for an unknown mark."""
        line = line.strip()
        if line.startswith(syntax.begin):
            stub = line[len(syntax.begin) :].strip()
            kind, _, rest = stub.partition("/")
            if kind == "global" and rest:
                prefix, _, home = rest.partition("@")
                return CodeBlock("global", (prefix.strip(), home.strip()), lineno, None, [])
            if kind == "object" and rest:
                return CodeBlock("object", rest.strip(), lineno, None, [])
            if kind == "export" and rest:
                return CodeBlock("export", rest.strip(), lineno, None, [])
            if stub == "import-section":
                return CodeBlock("import-section", "", lineno, None, [])
            if stub == "__all__":
                return CodeBlock("__all__", "", lineno, None, [])
            raise ValueError(f"Unknown stub type `{stub}` at line {lineno}")
        name, separator, payload = line[len(syntax.prefix) :].partition("):")
        if not line.startswith(syntax.prefix) or not separator or not name or " " in name:
            raise ValueError(f"Unknown stub type at line {lineno}: {line}")
        return CodeBlock("directive", (name, payload.strip()), lineno, lineno, [])


@dataclass
class FileInfo:
    """A source file that was read. Change it by changing the lines of its blocks."""

    path: Path
    lines: tuple[str, ...]
    """The lines on disk, without line ends."""
    code_blocks: list[CodeBlock]
    syntax: C.MarkerSyntax
    newline: str = field(default="\n", repr=False)
    encoding: str = field(default="utf-8", repr=False)

    @staticmethod
    def from_file(file: Path, include_empty: bool = False, syntax: C.MarkerSyntax | None = None) -> FileInfo | None:
        """Read a file; None if it has a skip-file mark or, unless `include_empty`, no mark.

        ValueError, which names the line, for marks that do not match.
        """
        syntax = syntax_for(file) if syntax is None else syntax
        content = file.read_bytes()
        if not include_empty and syntax.prefix.encode() not in content:
            return None  # in any encoding
        encoding = "utf-8-sig" if content.startswith(codecs.BOM_UTF8) else "utf-8"
        lines, newline = _lines_of(content.decode(encoding))
        if any(line.strip().startswith(syntax.skip_file) for line in lines):
            return None
        blocks = list(_split(lines, syntax))
        if not include_empty and all(block.kind is None for block in blocks):
            return None
        return FileInfo(file.resolve(), tuple(lines), blocks, syntax, newline, encoding)

    def new_lines(self) -> list[str]:
        """The lines of the blocks."""
        return [line for block in self.code_blocks for line in block.lines]

    def append(self, text: str) -> None:
        """Append text after the last block, separated by a blank line; its marks become blocks."""
        lines = self.new_lines()
        lines += ["", *text.splitlines()] if lines and lines[-1] else text.splitlines()
        self.code_blocks = list(_split(lines, self.syntax))

    def insert(self, at: int, stub: str) -> None:
        """Insert an empty region after that many lines, with blank lines around it."""
        lines = self.new_lines()
        region = self.syntax.empty_region(stub).splitlines()
        after = [""] if lines[at:] and lines[at] else []
        lines[at:at] = [*([""] if at else []), *region, *after]
        self.code_blocks = list(_split(lines, self.syntax))

    def diff(self) -> list[str]:
        """The changes of the blocks, as lines of a unified diff; empty if there are none."""
        name = str(self.path)
        return list(difflib.unified_diff(self.lines, self.new_lines(), name, name, lineterm=""))

    def update(self, verbose: bool, dry_run: bool) -> bool:
        """Write the file if the blocks differ from it, unless `dry_run`; returns whether they do.

        With `verbose`, the difference is printed. After an OSError the file is unchanged.
        """
        lines = self.new_lines()
        if lines == list(self.lines):
            return False
        if verbose:
            print(*self.diff(), sep="\n")
        if not dry_run:
            _write_whole(self.path, "".join(line + self.newline for line in lines).encode(self.encoding))
            self.lines = tuple(lines)
        return True


def _lines_of(text: str) -> tuple[list[str], str]:
    """Return the lines and their line end. Only the usual line ends count: other separators, such as a form feed, may
    be part of a literal. In a file with mixed line ends a carriage return is part of its line."""
    newline = "\r\n" if text.count("\n") == text.count("\r\n") > 0 else "\n"
    lines = text.split(newline)
    return (lines if lines[-1] else lines[:-1]), newline


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file in one step, so that a hand-written file is not lost if the disk is full."""
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError("the file is read-only")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        if path.exists():
            shutil.copymode(path, part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def collect_files(
    paths: list[Path], source_exts: Collection[str], on_error: Callable[[Path, Exception], None] | None = None
) -> list[FileInfo]:
    """Read the files with marks at `paths`; in folders, the files with an extension of `source_exts`.

    `on_error` is called for files that cannot be read, with FileNotFoundError, UnicodeDecodeError or ValueError;
    without it the first error is raised.
    """
    found: dict[Path, FileInfo] = {}
    for path in paths:
        for file in _files_below(path, {extension.lower() for extension in source_exts}):
            try:
                info = FileInfo.from_file(file)
            except (OSError, ValueError) as error:
                if on_error is None:
                    raise
                on_error(file, error)
            else:
                if info is not None:
                    found.setdefault(info.path, info)
    return list(found.values())


def _files_below(path: Path, extensions: set[str]) -> Iterator[Path]:
    """Yield the path itself unless it is a folder, otherwise the files with those extensions in it, sorted, without
    hidden files."""
    if not path.is_dir():
        yield path
        return
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        for name in sorted(files):
            if os.path.splitext(name)[1].lower() in extensions and not name.startswith("."):  # noqa: PTH122
                yield Path(folder, name)


def _split(lines: list[str], syntax: C.MarkerSyntax) -> Iterator[CodeBlock]:
    """Yield the blocks of a file, in order; together they contain all its lines."""
    between: CodeBlock | None = None  # lines outside of regions
    region: CodeBlock | None = None  # the region that is open
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith(syntax.end):
            if region is None:
                raise ValueError(f"Unmatched `{syntax.end}` at line {number}")
            region.lines.append(line)
            region.lineno_end = number
            yield region
            region = None
        elif region is not None:
            if text.startswith(syntax.prefix):
                raise ValueError(
                    f"Nested stub not permitted at line {number}, in the stub that begins at line {region.lineno_start}"
                )
            region.lines.append(line)
        elif text.startswith(syntax.prefix):
            if between is not None:
                yield between
                between = None
            block = CodeBlock.from_begin_line(number, text, syntax)
            block.lines.append(line)
            if block.lineno_end is None:
                region = block
            else:
                yield block
        else:
            if between is None:
                between = CodeBlock(None, "", number, number, [])
            between.lines.append(line)
            between.lineno_end = number
    if region is not None:
        raise ValueError(f"Unclosed stub block: line {region.lineno_start} begins it, and `{syntax.end}` is missing")
    if between is not None:
        yield between
