"""Stubs (.pyi) of libraries that are bound with ffi_hpy/bind.h, from the modules that they define.

A module without submodules gets NAME.pyi, another one the folder NAME, which has an __init__.pyi.
"""

from __future__ import annotations

import enum
import inspect
import os
import sys
from importlib import import_module
from importlib.util import module_from_spec
from itertools import takewhile
from pathlib import Path
from textwrap import dedent
from types import ModuleType

from .._bind.define import BoundMeta
from .._bind.finder import is_bound, spec_of
from .._types.function_metadata import metadata_of
from .._types.info import info_of_class
from .._types.metadata import parse_metadata
from ..core import Function
from .bound_names import BoundNames, type_of_value
from .python_generator.codegen import import_lines
from .python_generator.utils import (
    ImportItem,
    doc_lines,
    documented,
    is_name,
    render_func,
    render_object_init,
    render_object_methods,
    unnamable,
)
from .utils import FuncInfo, ObjectInfo, function_schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .utils import NamedTypeSchema

__all__ = ["HEAD", "SUFFIXES", "import_bound", "is_library", "stubs_of"]

HEAD = "# Written by ffi-hpy-stubgen: do not edit."
"""The first line of a stub, by which a later run knows its own files."""
_SETTINGS = '# mypy: disable-error-code="misc, overload-cannot-match, overload-overlap, override"'
_SPACE = "    "
SUFFIXES = (".so", ".pyd", ".dylib")
"""The suffixes of libraries."""


def is_library(text: str) -> bool:
    """Whether an argument names a library file, not a module."""
    return text.endswith(SUFFIXES)


def import_bound(text: str) -> ModuleType:
    """Import a bound module by its name or by the path of its library. ImportError for any other module."""
    if is_library(text):
        path = Path(text).resolve()
        name = path.name.partition(".")[0]
        spec = spec_of(name, str(path)) if is_bound(str(path), name) else None
        if spec is None or spec.loader is None:
            raise ImportError(f"not a library that ffi_hpy/bind.h has bound as the module {name!r}")
        module = sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    if os.getcwd() not in sys.path:  # noqa: PTH109 - as `python -m` does
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    module = import_module(text)
    if not is_bound(str(getattr(module, "__file__", "")), text.rpartition(".")[2]):
        raise ImportError("not a library that is bound with ffi_hpy/bind.h")
    return module


def stubs_of(module: ModuleType, root: str = "") -> dict[Path, str]:
    """Return the text of each stub of a module, by the path relative to the folder of its library. `root` is the name
    of the library's module, if `module` is one of its submodules."""
    root = root or module.__name__
    name = module.__name__.rpartition(".")[2]
    inner = _submodules_of(module)
    if not inner:
        return {Path(f"{name}.pyi"): _text_of(module, root)}
    found = {Path(name, "__init__.pyi"): _text_of(module, root)}
    for each in inner:
        found.update({Path(name, path): text for path, text in stubs_of(each, root).items()})
    return found


# --- a module ---------------------------------------------------------------------------------------------------------


def _submodules_of(module: ModuleType) -> list[ModuleType]:
    prefix = f"{module.__name__}."
    modules = [each for each in vars(module).values() if isinstance(each, ModuleType)]
    return [each for each in modules if each.__name__.startswith(prefix)]


def _text_of(module: ModuleType, root: str) -> str:
    imports: list[ImportItem] = []
    members = dict(_members_of(module))
    names = BoundNames(imports, module.__name__, members)
    body: list[str] = []
    for name, value in members.items():
        own = _lines_of_member(name, value, module, names)
        body += ["", *own] if own and not own[-1] and body and body[-1] else own
    inner = [f"from . import {name} as {name}" for name, value in members.items() if value in _submodules_of(module)]
    lines = [HEAD, _SETTINGS]
    if module.__doc__:
        lines += doc_lines(module.__doc__, "")
    own_name = module.__name__
    others = import_lines(item for item in imports if item.mod != own_name)
    is_package = bool(_submodules_of(module))
    lines += ["", *(_made_relative(line, own_name, root, is_package) for line in others), *inner, "", *body]
    # A class whose name has another meaning in a class body
    lines += [f"{item.alias} = {item.name}" for item in imports if item.mod == own_name]
    return "\n".join(lines).rstrip("\n") + "\n"


def _made_relative(line: str, own_name: str, root: str, is_package: bool) -> str:
    """Return an import statement in the stub of a module. It names the modules of the same library relative to this
    one, because the library may become part of a package."""
    word, name, rest = line.split(" ", 2)
    if name != root and not name.startswith(f"{root}."):
        return line
    own, there = own_name.split("."), name.split(".")
    package = own if is_package else own[:-1]
    n_common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(package, there)))
    dots = "." * (len(package) - n_common + 1)
    return f"{word} {dots}{'.'.join(there[n_common:])} {rest}"


def _members_of(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name, value in vars(module).items():
        if not (name.startswith("__") and name.endswith("__")):
            yield name, value


def _lines_of_member(name: str, value: Any, scope: Any, names: BoundNames) -> list[str]:
    """Return the lines of an attribute of a module or class, without indentation, and an empty line behind a class."""
    if isinstance(value, ModuleType):
        return []
    if not is_name(name):
        return [unnamable(name, 0)]
    if isinstance(value, Function):
        return _lines_of_function(name, value, names)
    if isinstance(value, type):
        if value.__name__ == name and value.__module__ == names.module and value.__qualname__ == _path(scope, name):
            return [*_lines_of_class(value, names), ""]
        return [f"{name} = {names.of_class(value)}"]
    return [f"{name}: {type_of_value(value, names)}"]


def _path(scope: Any, name: str) -> str:
    return name if isinstance(scope, ModuleType) else f"{scope.__qualname__}.{name}"


def _lines_of_function(name: str, function: Function, names: BoundNames) -> list[str]:
    entry = metadata_of(function)
    lines = []
    for each in entry.overloads or (entry,):
        schema = function_schema(parse_metadata(each.metadata, f"function `{name}`"), f"function `{name}`")
        if entry.overloads:
            lines.append(f"@{names('typing.overload')}")
        # Rendered with an indentation, because that is also the indentation of the documentation
        rendered = render_func(FuncInfo.from_metadata(name, schema, each), names.results, 4)
        lines += dedent("\n".join(rendered)).splitlines()
    return lines


# --- a class ----------------------------------------------------------------------------------------------------------


def _lines_of_class(cls: type, names: BoundNames) -> list[str]:
    bases = ", ".join(names.of_class(base) for base in _bases_of(cls) if base is not object)
    lines = [f"class {cls.__name__}{f'({bases})' if bases else ''}:"]
    body = doc_lines(cls.__doc__, _SPACE) if vars(cls).get("__doc__") and cls.__doc__ else []
    if issubclass(cls, enum.Enum):
        body += _lines_of_members(cls)
    elif isinstance(cls, BoundMeta):
        body += _lines_of_bound_class(cls, names)
    return [*lines, *(body or [f"{_SPACE}..."])]


def _bases_of(cls: type) -> tuple[type, ...]:
    """Return the bases of a class; those of an enum are classes of Python."""
    bases: tuple[type, ...] = cls.__bases__
    while issubclass(cls, enum.Enum) and bases[0].__module__ not in ("enum", "builtins"):
        bases = tuple(base for base in bases[0].__bases__ if base.__module__ in ("enum", "builtins"))
    return bases


def _lines_of_members(cls: type[enum.Enum]) -> list[str]:
    lines = []
    for name, member in cls.__members__.items():
        lines.append(f"{_SPACE}{name} = {member.value!r}" if is_name(name) else unnamable(name, 4))
        if member.__doc__ not in (None, cls.__doc__):
            lines += doc_lines(str(member.__doc__), _SPACE)
    return lines


def _lines_of_bound_class(cls: type, names: BoundNames) -> list[str]:
    type_info = info_of_class(cls)
    assert type_info is not None  # the metaclass makes no other class
    info = ObjectInfo.from_type_info(type_info)
    inner_names = names.inside(cls)
    lines: list[str] = []
    nested = {name: value for name, value in vars(cls).items() if isinstance(value, type) and is_name(name)}
    for name, value in nested.items():
        lines += [f"{_SPACE}{line}".rstrip() for line in _lines_of_member(name, value, cls, inner_names)]
    for each in info.fields:
        lines += _lines_of_property(each, inner_names)
    if any(method.name == "__ffi_init__" for method in info.methods):
        lines += _lines_of_init(info, inner_names)
    lines += render_object_methods(info, inner_names.results, 4)
    if info.has_overloaded_methods():
        names("typing.overload")
    for name, value in vars(cls).items():
        if not name.startswith("_") and name not in nested and is_name(name) and _is_plain(value):
            lines.append(f"{_SPACE}{name}: {names('typing.ClassVar')}[{type_of_value(value, inner_names)}]")
    return lines


def _is_plain(value: Any) -> bool:
    """Whether a value in the namespace of a class is an attribute that its author has set."""
    return isinstance(value, (bool, int, float, str, list, dict, enum.Enum)) or isinstance(type(value), BoundMeta)


def _lines_of_property(each: NamedTypeSchema, names: BoundNames) -> list[str]:
    if not is_name(each.name):
        return [unnamable(each.name, 4)]
    line = f"{_SPACE}def {each.name}(self) -> {each.schema.repr(names.results)}: ..."
    lines = [f"{_SPACE}@{names.results('property')}", *documented(line, each.doc, 4)]
    if not each.frozen:
        value = each.schema.repr(names.setters)
        lines += [f"{_SPACE}@{each.name}.setter", f"{_SPACE}def {each.name}(self, value: {value}, /) -> None: ..."]
    return lines


def _lines_of_init(info: ObjectInfo, names: BoundNames) -> list[str]:
    """Return the constructors, with their documentation."""
    docs = iter([method.doc for method in info.methods if method.name == "__ffi_init__"])
    lines = []
    for line in render_object_init(info, names.results, 4):
        lines += documented(line, inspect.cleandoc(next(docs)), 4) if line.lstrip().startswith("def ") else [line]
    return lines
