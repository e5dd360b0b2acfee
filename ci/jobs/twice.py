"""Counts names of `_core` and error messages that the C binding and the cffi backend both contain."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from ci.lib.folders import ROOT

MOST_NAMES, MOST_MESSAGES = 18, 6
"""The counts of today, which may only fall."""

_BINDING, _BACKEND = ROOT / "src/hpy_module", ROOT / "ffi_hpy/_pypy"
_MODULE = _BACKEND / "module.py"
_VALUE = "\0"  # in place of a value that the program inserts into a message
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')
_LITERALS = re.compile(rf"{_LITERAL.pattern}(?:\s*(?:PRI\w+\s*)?{_LITERAL.pattern})*")
_CONVERSION = re.compile(r"%[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j|t)?[diuxXscpfgeR]")
_WRITTEN_VALUE = re.compile(r"'\w+'|`\w+`|\b\w+\(\)|\b\d+\b")  # in one backend it may be inserted


def find_names() -> set[str]:
    """Return the names of `_core` that the cffi backend implements, in addition to the binding: those that its module
    takes from elsewhere than the binding and the functions that ask the binding (delegated.py)."""
    tree = ast.parse(_MODULE.read_text())
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "_NAMES":
            found |= {part.value for part in ast.walk(node.value or node) if isinstance(part, ast.Constant)}
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "own.update":
            found |= {keyword.arg for keyword in node.keywords}
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "found":
            found |= {part.value for part in ast.walk(node.slice) if isinstance(part, ast.Constant)}
    return found & _definitions(ROOT / "ffi_hpy/_core.pyi")


def find_messages() -> set[str]:
    """Return the messages that both contain, with % for inserted values."""
    return {message.replace(_VALUE, "%") for message in _messages_of_backend() & _messages_of_binding()}


def _definitions(path: Path) -> set[str]:
    body = ast.parse(path.read_text()).body
    return {statement.name for statement in body if isinstance(statement, (ast.FunctionDef, ast.ClassDef))}


def _messages_of_backend() -> set[str]:
    found = set()
    for path in _BACKEND.rglob("*.py"):
        tree = ast.parse(path.read_text())
        nodes = list(ast.walk(tree))
        parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        parts |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # docstrings
        for node in nodes:
            if isinstance(node, ast.JoinedStr):
                values = (part.value if isinstance(part, ast.Constant) else _VALUE for part in node.values)
                found.add(_simplify("".join(map(str, values))))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
                found.add(_simplify(_CONVERSION.sub(_VALUE, node.value)))
    return {message for message in found if _is_message(message)}


def _messages_of_binding() -> set[str]:
    found = set()
    for path in _BINDING.rglob("*.[ch]"):
        for literals in _LITERALS.finditer(_COMMENT.sub("", path.read_text())):
            text = "".join(literal[1] for literal in _LITERAL.finditer(literals[0]))
            found.add(_simplify(_CONVERSION.sub(_VALUE, text.replace('\\"', '"'))))
    return {message for message in found if _is_message(message)}


def _simplify(message: str) -> str:
    """Return a message without quotes around inserted values, and without values and marks at its ends."""
    spaced = re.sub(rf"[\s'`\"]*{_VALUE}[\s'`\"]*", f" {_VALUE} ", _WRITTEN_VALUE.sub(_VALUE, message))
    return " ".join(spaced.split()).strip(f" {_VALUE}.,:;()")


def _is_message(text: str) -> bool:
    return text.count(" ") >= 2
