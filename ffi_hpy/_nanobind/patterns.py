"""Pattern files, by which projects replace parts of stubs, in nanobind's form.

    shapes.Circle.scale:
        \\from typing import Literal
        def scale(self, by: Literal[1, 2]) -> None:
            \\doc

A line that ends with a colon is a regular expression for qualified names; the indented lines below it replace the
members that it finds; without such lines the members are left out. The first pattern that fits a member counts.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from textwrap import dedent, indent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Union

    Edit = tuple[int, int, list[str]]  # the first line, the line after the last, and the lines that replace them
    Body = Union[ast.Module, ast.ClassDef]

__all__ = ["Patterns", "ReplacePattern", "read_patterns"]

_IN_BRACKETS = r"\[(?:[^\[\]]|{})*\]"
_TYPE_PARAMETERS = re.compile(
    rf"^( *(?:class|def) \w+)({_IN_BRACKETS.format(_IN_BRACKETS.format(_IN_BRACKETS.format('(?!)')))})(?=[(:])",
    re.MULTILINE,
)
"""The head of a definition, and the type parameters behind it, whose bounds have brackets inside of brackets."""
_IMPORT = re.compile(r"\s*\\(from|import) (.*)")


@dataclass
class ReplacePattern:
    """A regular expression for qualified names, the lines that replace the members with these names, and the number of
    members that it has found."""

    query: re.Pattern[str]
    lines: list[str]
    matches: int = 0


class Patterns:
    """The patterns of one run, in their order."""

    def __init__(self) -> None:
        self._patterns: list[tuple[ReplacePattern, list[str]]] = []

    def add(self, pattern: ReplacePattern) -> None:
        """Add a pattern, which counts the members that it finds from now on."""
        lines = dedent("\n".join(pattern.lines)).strip("\n").split("\n") if pattern.lines else []
        self._patterns.append((pattern, lines))

    def expand(self, name: str, docs: list[list[str]] | None, imports: list[str]) -> list[str] | None:
        """Return the lines that replace a member, None if no pattern fits its name. `docs` are its docstrings, None
        for a place without a member. The imports of the lines go to `imports`. RuntimeError for a docstring that
        cannot be there."""
        found = self._find(name)
        return None if found is None else _expand(*found, docs, imports)

    def unused(self) -> list[str]:
        """Return the queries that have found no member so far."""
        used = {each.query.pattern for each, _ in self._patterns if each.matches}
        return [each.query.pattern for each, _ in self._patterns if each.query.pattern not in used]

    def apply(self, text: str, name: str, with_docstrings: bool = True) -> str:
        """Return the text of a stub with the replacements, and without docstrings if they are not wanted. `name` is
        the qualified name of its module."""
        if not self._patterns and with_docstrings:
            return text
        lines, tree = text.split("\n"), _parse(text)
        imports: list[str] = []
        edits = list(self._edits(tree, name, lines, imports)) if self._patterns else []
        for first, end, new in sorted(edits, key=lambda edit: edit[:2], reverse=True):
            lines[first:end] = new
        if imports:
            start = next((n for n, line in enumerate(lines) if line.startswith(("import ", "from "))), len(lines))
            lines[start:start] = dict.fromkeys(imports)
        changed = "\n".join(lines)
        return changed if with_docstrings else _without_docstrings(changed)

    def _edits(self, body: Body, name: str, lines: list[str], imports: list[str]) -> Iterator[Edit]:
        start, end = _inside(body, lines)
        margin = " " * (body.body[0].col_offset if isinstance(body, ast.ClassDef) else 0)
        for word, place in (("prefix", start), ("suffix", end)):
            found = self._find(f"{name}.__{word}__")
            if found is not None:
                yield place, place, _indented(_expand(*found, None, imports), margin)
        for member, chain in _members(body):
            qualified = f"{name}.{member}"
            found = self._find(qualified)
            if found is not None:
                docs = [_docstring(node, lines) for node in chain]
                yield _first_line(chain[0]), _end(chain[-1]), _indented(_expand(*found, docs, imports), margin)
            elif isinstance(chain[0], ast.ClassDef):
                yield from self._edits(chain[0], qualified, lines, imports)

    def _find(self, name: str) -> tuple[re.Match[str], list[str]] | None:
        for pattern, lines in self._patterns:
            found = pattern.query.search(name)
            if found is not None:
                pattern.matches += 1
                return found, lines
        return None


def read_patterns(files: Sequence[Path]) -> Patterns:
    """Return the patterns of several files, the first file's first. ValueError for a line that belongs to none."""
    patterns = Patterns()
    for file in files:
        query, lines = "", []
        for line in [*file.read_text(encoding="utf-8").splitlines(), ":"]:
            if line[:1].isspace() or not line.strip():
                lines.append(line.rstrip())
            elif line.rstrip().endswith(":"):
                if query:
                    patterns.add(ReplacePattern(re.compile(query), lines if any(lines) else []))
                query, lines = line.rstrip()[:-1].strip(), []
            elif not line.startswith("#"):
                raise ValueError(f"{file}: neither a pattern, which ends with a colon, nor indented: {line}")
    return patterns


def _parse(text: str) -> ast.Module:
    """Parse a stub. Type parameters in the line, which Python before 3.12 does not know, become spaces."""
    return ast.parse(_TYPE_PARAMETERS.sub(lambda found: found[1] + " " * len(found[2]), text))


def _members(body: Body) -> Iterator[tuple[str, list[ast.stmt]]]:
    """The members of a module or class, each with its statements: overloads and a property's setter are several."""
    chains: dict[str, list[ast.stmt]] = {}
    for node in body.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            chains.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            chains.setdefault(node.target.id, []).append(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            chains.setdefault(node.targets[0].id, []).append(node)
    yield from chains.items()


def _expand(
    found: re.Match[str], replacement: list[str], docs: list[list[str]] | None, imports: list[str]
) -> list[str]:
    """Return the lines of a replacement, with groups and docstrings; its imports go to `imports`."""
    groups = {str(number): text or "" for number, text in enumerate(found.groups(), 1)}
    groups.update({key: text or "" for key, text in found.groupdict().items()})
    # The name of a group may end within a word: \op__ is the group op and two underscores
    names = sorted(found.groupdict(), key=len, reverse=True)
    group = re.compile(rf"\\(\d+{''.join(f'|{name}' for name in names)})")
    n_docs = sum(line.strip() == "\\doc" for line in replacement)
    if docs is None:
        if n_docs:
            raise RuntimeError(f"the pattern {found.re.pattern} has \\doc, but no member with a docstring is there")
        docs = []
    own = [doc for doc in docs if doc]
    turn = iter(docs if n_docs > 1 else own[:1])
    lines: list[str] = []
    for line in replacement:
        wanted = _IMPORT.match(line)
        if wanted is not None:
            imports.append(f"{wanted[1]} {wanted[2]}")
        elif line.strip() == "\\doc":
            lines += _indented(next(turn, []) or ["..."], line[: len(line) - len(line.lstrip())])
        else:
            lines.append(group.sub(lambda part: groups.get(part[1], part[0]), line))
    return lines


def _without_docstrings(text: str) -> str:
    lines = text.split("\n")
    nodes = [node for node in ast.walk(_parse(text)) if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module))]
    for node in sorted(nodes, key=lambda node: getattr(node, "lineno", 0), reverse=True):
        if node.body and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            needs_body = len(node.body) == 1 and not isinstance(node, ast.Module)
            lines[first.lineno - 1 : _end(first)] = [" " * first.col_offset + "..."] if needs_body else []
    return "\n".join(lines)


# --- places in the text -----------------------------------------------------------------------------------------------


def _inside(body: Body, lines: list[str]) -> tuple[int, int]:
    """The places after the imports and the docstring, and at the end."""
    if isinstance(body, ast.ClassDef):
        first = body.body[0]
        is_doc = ast.get_docstring(body) is not None
        return _end(first) if is_doc else _first_line(first), _end(body)
    heads = [n for n in body.body if isinstance(n, (ast.Import, ast.ImportFrom, ast.Expr))]
    comments = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return max([comments, *map(_end, heads)]), len(lines)


def _docstring(node: ast.stmt, lines: list[str]) -> list[str]:
    """The lines of a docstring, as they are in the text."""
    if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or ast.get_docstring(node) is None:
        return []
    first = node.body[0]
    return dedent("\n".join(lines[first.lineno - 1 : _end(first)])).split("\n")


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _indented(lines: list[str], margin: str) -> list[str]:
    return indent("\n".join(lines), margin).split("\n") if lines else []
