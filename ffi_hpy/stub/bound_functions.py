"""Functions in the stub of a bound module: native ones, their aliases, and functions of Python."""

from __future__ import annotations

import ast
import inspect
import re
from textwrap import dedent
from types import FunctionType
from typing import Any, get_type_hints

from .._types.function_metadata import metadata_of
from .._types.metadata import parse_metadata
from ..core import Function
from .bound_names import annotation_of
from .python_generator.utils import documented, render_func
from .utils import FuncInfo, function_schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._types.function_metadata import FunctionMetadata
    from .bound_names import BoundNames

__all__ = [
    "MARK",
    "infos_of",
    "lines_of_attribute",
    "lines_of_function",
    "lines_of_python",
    "native_function",
    "parameters_in",
    "source_of_value",
]

MARK = re.compile(r"\\(\d+)")
"""The place of a default in `__nb_signature__`, with its number."""


def native_function(value: Any) -> Function | None:
    """Return the native function that an attribute is, or that it calls; None for another value."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    found = getattr(value, "__wrapped__", value) if isinstance(value, FunctionType) else value
    return found if isinstance(found, Function) else None


def infos_of(name: str, function: Function, is_member: bool = False) -> list[FuncInfo]:
    """Return the overloads of a function under a name; a member gets the object as its first argument."""
    entry = metadata_of(function)
    return [_info_of(name, each, is_member) for each in entry.overloads or (entry,)]


def _info_of(name: str, entry: FunctionMetadata, is_member: bool) -> FuncInfo:
    title = f"function `{name}`"
    info = FuncInfo.from_metadata(name, function_schema(parse_metadata(entry.metadata, title), title), entry)
    info.is_member = is_member
    return info


def lines_of_function(name: str, function: Function, names: BoundNames, decorator: str = "") -> list[str]:
    """Return the lines of a function without indentation. With a decorator it is an attribute of a class; without one
    and with `self` as its first parameter it may be a method."""
    infos = infos_of(name, function, decorator == "method")
    lines = []
    for info in infos:
        if len(infos) > 1:
            lines.append(f"@{names('typing.overload')}")
        if decorator not in ("", "method"):
            lines.append(f"@{decorator}")
        # Rendered with an indentation, because that is also the indentation of the documentation
        lines += dedent("\n".join(render_func(info, names.results, 4))).splitlines()
    return lines


def lines_of_attribute(name: str, value: Any, names: BoundNames) -> list[str] | None:
    """Return the lines of a method, static method or method of the class that Python code or an author has set as an
    attribute of a class. None for another value."""
    decorator = {staticmethod: "staticmethod", classmethod: "classmethod"}.get(type(value), "method")
    function = native_function(value)
    if function is None:
        python = value.__func__ if decorator != "method" else value
        return lines_of_python(name, python, names, decorator) if isinstance(python, FunctionType) else None
    if decorator == "classmethod":
        lines = lines_of_function(name, function, names, "method")
        own = [line.replace("(self", "(cls", 1) if line.startswith("def ") else line for line in lines]
        return [each for line in own for each in (["@classmethod", line] if line.startswith("def ") else [line])]
    return lines_of_function(name, function, names, decorator)


def lines_of_python(name: str, function: FunctionType, names: BoundNames, decorator: str = "") -> list[str]:
    """Return the lines of a function of Python; parameters without an annotation accept any object."""
    try:
        text = _signature_of(function, names, decorator)
        ast.parse(f"def f{text}: ...")
    except (ValueError, TypeError, SyntaxError):  # without a signature, or with an annotation that is not source code
        first = {"": "", "staticmethod": "", "classmethod": "cls, "}.get(decorator, "self, ")
        any_name = names("Any")
        text = f"({first}*args: {any_name}, **kwargs: {any_name}) -> {any_name}"
    doc = function.__doc__ if isinstance(function.__doc__, str) else ""
    lines = documented(f"def {name}{text}: ...", doc, 4) if doc else [f"def {name}{text}: ..."]
    lines = [line[4:] if line.startswith("        ") else line for line in lines]
    return [*([f"@{decorator}"] if decorator not in ("", "method") else []), *lines]


def parameters_in(text: str) -> list[tuple[str, str]]:
    """Return the name and the annotation, "" if there is none, of each parameter in the source of a signature, except
    `*args` and `**kwargs`."""
    head = MARK.sub("...", text.strip().rpartition("\n")[2])
    function = ast.parse(f"{head}: ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    found = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [(each.arg, (each.annotation and ast.get_source_segment(head, each.annotation)) or "") for each in found]


def _signature_of(function: FunctionType, names: BoundNames, decorator: str) -> str:
    found = inspect.signature(function)
    hints = _hints_of(function)
    is_bound = decorator in ("method", "classmethod")
    params = []
    for i, (name, param) in enumerate(found.parameters.items()):
        if not (is_bound and i == 0):
            param = param.replace(annotation=_Source(annotation_of(hints.get(name, Any), names)))
        if param.default is not param.empty:
            param = param.replace(default=_Source(source_of_value(param.default)))
        params.append(param)
    result = _Source(annotation_of(hints.get("return", Any), names))
    return str(found.replace(parameters=params, return_annotation=result))


def _hints_of(function: FunctionType) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except Exception:  # an annotation is a text that may be anything
        return {}


def source_of_value(value: Any) -> str:
    """Return the repr() of a value if that is source code of Python, otherwise three dots."""
    text = repr(value)
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return "..."
    return text


class _Source(str):
    """A text that is shown as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
