"""Stubs of modules that are written in Python, such as the package around a bound library."""

from __future__ import annotations

import enum
import inspect
import re
from pathlib import Path
from textwrap import indent
from types import FunctionType, ModuleType
from typing import Any, get_type_hints

from .._bind.define import BoundMeta
from .._bind.finder import is_bound
from ..core import Function
from ..stub.bound import HEAD, stubs_of
from ..stub.bound_functions import lines_of_attribute, lines_of_python
from ..stub.bound_members import lines_of_member
from ..stub.bound_names import BoundNames, annotation_of, definition_of, type_of_value
from ..stub.python_generator.codegen import import_lines
from ..stub.python_generator.utils import ImportItem, doc_lines, is_name

__all__ = ["is_bound_module", "stubs_of_python"]

_SPACE = "    "


def is_bound_module(module: ModuleType) -> bool:
    """Whether a module is that of a library which bind.h binds."""
    return is_bound(str(getattr(module, "__file__", "")), module.__name__.rpartition(".")[2])


def stubs_of_python(module: ModuleType, is_recursive: bool, has_private: bool) -> dict[Path, str]:
    """Return the text of each stub of a module, by its path relative to the folder of the module; with `is_recursive`
    also those of the modules of its package that it has imported."""
    name = module.__name__.rpartition(".")[2]
    is_package = hasattr(module, "__path__")
    found = {Path("__init__.pyi" if is_package else f"{name}.pyi"): _text_of(module, has_private)}
    if not is_recursive:
        return found
    for each in _inner_modules(module):
        own = each.__name__.rpartition(".")[2]
        if is_bound_module(each):
            found.update(stubs_of(each, has_private=has_private))
        else:
            folder = own if hasattr(each, "__path__") else ""
            inner = stubs_of_python(each, is_recursive, has_private)
            found.update({Path(folder, path): text for path, text in inner.items()})
    return found


def _inner_modules(module: ModuleType) -> list[ModuleType]:
    modules = [each for each in vars(module).values() if isinstance(each, ModuleType)]
    own = [each for each in modules if each.__name__.rpartition(".")[0] == module.__name__]
    return list({each.__name__: each for each in own}.values())


def _text_of(module: ModuleType, has_private: bool) -> str:
    top = module.__name__.partition(".")[0]
    members = {name: value for name, value in vars(module).items() if _is_shown(name, value, top)}
    imports: list[ImportItem] = []
    names = BoundNames(imports, module.__name__, members)
    names.has_private = has_private
    exported, body = [], []
    for name, value in members.items():
        if names.leaves_out(name, value):
            continue
        home = _home_of(value)
        if home is None or (home == module.__name__ and not isinstance(value, ModuleType)):
            lines = _lines_of(name, value, module, names)
            body += ["", *lines, ""] if isinstance(value, type) else lines
        elif home != module.__name__:
            package, _, last = home.rpartition(".")
            source, wanted = (package, last) if isinstance(value, ModuleType) else (home, value.__name__)
            exported.append(f"from {source} import {wanted} as {name}")
    public = vars(module).get("__all__")
    if isinstance(public, (list, tuple)):
        body.append(f"__all__ = {list(map(str, public))!r}")
    head = [HEAD, *(doc_lines(module.__doc__, "") if module.__doc__ else [])]
    text = "\n".join([*head, "", *import_lines(imports), *exported, "", *body])
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"


def _is_shown(name: str, value: Any, top: str) -> bool:
    """Whether a stub shows an attribute: one that the module defines, or that comes from the same package."""
    home = _home_of(value)
    is_own = home is None or home.startswith(f"{top}.") or (home == top and not isinstance(value, ModuleType))
    return is_own and is_name(name) and not name.startswith("__") and type(value).__module__ != "__future__"


def _home_of(value: Any) -> str | None:
    """Return the name of the module that defines a module, class or function. None for another value."""
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, (type, FunctionType, Function)):
        return str(value.__module__)
    found = inspect.getmodule(value) if callable(value) and hasattr(value, "__name__") else None
    return None if found is None else found.__name__


def _lines_of(name: str, value: Any, scope: Any, names: BoundNames) -> list[str]:
    if isinstance(value, type) and not isinstance(value, BoundMeta) and not issubclass(value, enum.Enum):
        return _lines_of_class(name, value, names)
    if isinstance(value, FunctionType):
        return lines_of_python(name, value, names)
    if isinstance(value, (type, Function)):
        return lines_of_member(name, value, scope, names)
    return [_lines_of_value(name, value, _hints_of(scope), names)]


def _lines_of_value(name: str, value: Any, hints: dict[str, Any], names: BoundNames) -> str:
    if name in hints:
        return f"{name}: {annotation_of(hints[name], names)}"
    made = definition_of(value, names)
    return f"{name}: {type_of_value(value, names)}" if made is None else f"{name} = {made}"


def _lines_of_class(name: str, cls: type, names: BoundNames) -> list[str]:
    if cls.__name__ != name:
        return [f"{name} = {names.of_class(cls)}"]
    bases = ", ".join(names.of_class(base) for base in cls.__bases__ if base is not object)
    body = doc_lines(cls.__doc__, "") if vars(cls).get("__doc__") and cls.__doc__ else []
    inner, hints = names.inside(cls), _hints_of(cls)
    for own, value in {**{name: None for name in hints if name in _own_hints(cls)}, **vars(cls)}.items():
        is_hidden = (own.startswith("__") and not isinstance(value, FunctionType)) or own.startswith("__annotate")
        if not is_name(own) or inner.leaves_out(own, value) or is_hidden:
            continue
        body += _lines_of_attribute(own, value, hints, cls, inner)
    return [f"class {cls.__name__}{f'({bases})' if bases else ''}:", indent("\n".join(body or ["..."]), _SPACE)]


def _lines_of_attribute(name: str, value: Any, hints: dict[str, Any], cls: type, names: BoundNames) -> list[str]:
    if isinstance(value, type) and value.__qualname__ == f"{cls.__qualname__}.{name}":
        return _lines_of(name, value, cls, names)
    if isinstance(value, property):
        if value.fget is None:
            written = list(_hints_of(value.fset).items())
            return [f"{name}: {annotation_of(written[0][1] if written else Any, names)}"]
        lines = [f"@{names('property')}", *_accessor(name, value.fget, names)]
        return lines if value.fset is None else [*lines, f"@{name}.setter", *_accessor(name, value.fset, names)]
    function = lines_of_attribute(name, value, names)
    return [_lines_of_value(name, value, hints, names)] if function is None else function


def _accessor(name: str, function: Any, names: BoundNames) -> list[str]:
    if isinstance(function, FunctionType):
        return lines_of_python(name, function, names, "method")
    return [f"def {name}(self, *args: {names('Any')}) -> {names('Any')}: ..."]


def _hints_of(scope: Any) -> dict[str, Any]:
    try:
        return get_type_hints(scope)
    except Exception:  # an annotation is a text that may be anything
        return {}


def _own_hints(cls: type) -> dict[str, Any]:
    get: Any = getattr(inspect, "get_annotations", None)
    try:
        found = vars(cls).get("__annotations__") if get is None else get(cls)
    except Exception:  # from Python 3.14 on they are evaluated here
        return {}
    return found if isinstance(found, dict) else {}
