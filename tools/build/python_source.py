"""Reduces the package's Python for the wheel: removes the text that only readers of the repository need.

Comments are removed, and docstrings of private modules, functions and classes. The exceptions are modules that use
`__doc__`, and public methods of private classes, because public classes inherit these. In BARE folders all docstrings
and annotations are removed, because `_core` shows the docstrings of the C binding.

Line numbers stay the same, so that tracebacks match the repository.
"""

from __future__ import annotations

import ast
import io
import tokenize
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BARE = ("_pypy",)
"""Folders of the package that programs do not import from, and whose types are in `_core.pyi`."""
UNSEEN = ("_installed", "_start")
"""Folders of the package that programs never see."""

Position = tuple[int, int]
"""A line, counted from 1, and a column in bytes of UTF-8, counted from 0."""
Span = tuple[Position, Position]
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def reduce_package(package: Path) -> None:
    """Rewrite the modules of a built package."""
    for path in sorted(package.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        path.write_text(reduce_source(source, path.relative_to(package).parts), encoding="utf-8")


def reduce_source(source: str, place: tuple[str, ...]) -> str:
    """Return the source of a module, at a place in the package, without the parts that are not needed to run it."""
    tree = ast.parse(source)
    lines = [line.encode() for line in source.split("\n")]
    spans = list(find_comments(source, lines))
    is_bare = place[0] in BARE
    gone = set(find_docstrings(tree, is_seen=not is_bare and place[0] not in UNSEEN))
    if any(name.startswith("_") and name != "__init__.py" for name in place):
        gone.update(statement for statement in tree.body[:1] if is_text(statement))
    if "__doc__" in source:
        gone.difference_update(tree.body[:1])
    if is_bare:
        gone.update(find_declarations(tree))
        spans += find_annotations(tree, source)
    spans += [(position(statement), end(statement)) for statement in gone]
    fillers = [body[0] for body in find_bodies(tree, gone) if all(statement in gone for statement in body)]
    for first, last in reversed(list(find_outermost(spans))):
        cut(lines, first, last)
    for statement in fillers:
        number, column = position(statement)
        lines[number - 1] = lines[number - 1][:column].ljust(column) + b"pass"
    reduced = "\n".join(line.decode().rstrip() for line in lines)
    ast.parse(reduced)
    return reduced


def position(node: ast.stmt | ast.expr | ast.arg) -> Position:
    """Return the position where a node begins."""
    return node.lineno, node.col_offset


def end(node: ast.stmt | ast.expr | ast.arg) -> Position:
    """Return the position where a node ends."""
    return node.end_lineno or 0, node.end_col_offset or 0


def cut(lines: list[bytes], first: Position, last: Position) -> None:
    """Remove the text between two positions, except for line breaks."""
    for number in range(first[0], last[0] + 1):
        line = lines[number - 1]
        start = first[1] if number == first[0] else 0
        stop = last[1] if number == last[0] else len(line)
        lines[number - 1] = line[:start] + line[stop:]


def find_outermost(spans: list[Span]) -> Iterator[Span]:
    """Yield the spans that are not inside another one, in order."""
    done = (0, 0)
    for first, last in sorted(spans, key=lambda span: (span[0], -span[1][0], -span[1][1])):
        if first >= done:
            done = last
            yield first, last


def find_comments(source: str, lines: list[bytes]) -> Iterator[Span]:
    """Yield the spans of comments, except for the line that names the interpreter."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not (token.start == (1, 0) and token.string.startswith("#!")):
            column = len(token.line[: token.start[1]].encode())
            yield (token.start[0], column), (token.start[0], len(lines[token.start[0] - 1]))


def find_bodies(node: ast.AST, gone: set[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Yield the blocks below a node that must have a statement."""
    for child in ast.iter_child_nodes(node):
        if child not in gone:
            bodies = (getattr(child, name, None) for name in ("body", "orelse", "finalbody"))
            yield from (body for body in bodies if isinstance(body, list) and body)
            yield from find_bodies(child, gone)


def find_docstrings(tree: ast.AST, is_seen: bool) -> Iterator[ast.stmt]:
    """Yield the non-public docstrings below a node."""
    for statement in getattr(tree, "body", []):
        if is_text(statement) and not is_seen:
            yield statement
        elif isinstance(statement, _DEFINITIONS):
            is_private = statement.name.startswith("_") and not statement.name.endswith("__")
            is_hidden = is_private or isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef))
            if is_seen and is_private and isinstance(statement, ast.ClassDef):
                yield from filter(is_text, statement.body[:1])
                is_hidden = False  # public classes that derive from it inherit its methods
            yield from find_docstrings(statement, is_seen and not is_hidden)
        elif isinstance(statement, (ast.If, ast.Try)):
            yield from find_docstrings(statement, is_seen)


def is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is a string."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def find_declarations(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements that only tools read: imports for type checkers, types of names, `__all__`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If):
            if ast.unparse(node.test) == "TYPE_CHECKING" and not node.orelse:
                yield node
        elif isinstance(node, ast.AnnAssign):
            if node.value is None:
                yield node
        elif isinstance(node, ast.Assign):
            if ast.unparse(node.targets[0]) == "__all__":
                yield node
        elif isinstance(node, ast.ImportFrom) and node.module == "__future__":  # annotations, of which none is left
            yield node


def find_annotations(tree: ast.Module, source: str) -> Iterator[Span]:
    """Yield the spans of annotations, including their punctuation."""
    arrows = [
        (token.start[0], len(token.line[: token.start[1]].encode()))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.string == "->"
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None:
            yield (node.lineno, node.col_offset + len(node.arg)), end(node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            before = max(arrow for arrow in arrows if arrow < position(node.returns))
            yield before, end(node.returns)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield end(node.target), end(node.annotation)
