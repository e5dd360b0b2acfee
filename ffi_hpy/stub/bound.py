"""Stubs (.pyi) of libraries that are bound with ffi_hpy/bind.h, from the modules that they define.

A module without submodules gets NAME.pyi, another one the folder NAME, which has an __init__.pyi.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import module_from_spec
from itertools import takewhile
from pathlib import Path
from types import ModuleType

from .._bind.finder import is_bound, spec_of
from .bound_members import lines_of_member
from .bound_names import BoundNames
from .python_generator.codegen import import_lines
from .python_generator.utils import ImportItem, doc_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["HEAD", "SUFFIXES", "import_bound", "is_library", "stubs_of"]

HEAD = "# Written by ffi-hpy-stubgen: do not edit."
"""The first line of a stub, by which a later run knows its own files."""
_SETTINGS = '# mypy: disable-error-code="misc, overload-cannot-match, overload-overlap, override"'
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
        raise ImportError(
            "not a library that is bound with ffi_hpy/bind.h; mypy's stubgen writes stubs of Python modules"
        )
    return module


def stubs_of(module: ModuleType, root: str = "", has_private: bool = True) -> dict[Path, str]:
    """Return the text of each stub of a module, by the path relative to the folder of its library. `root` is the name
    of the library's module, if `module` is one of its submodules. Functions and values whose names begin or end with an
    underscore are left out, unless the stubs have private members."""
    root = root or module.__name__
    name = module.__name__.rpartition(".")[2]
    inner = _submodules_of(module)
    if not inner:
        return {Path(f"{name}.pyi"): _text_of(module, root, has_private)}
    found = {Path(name, "__init__.pyi"): _text_of(module, root, has_private)}
    for each in inner:
        found.update({Path(name, path): text for path, text in stubs_of(each, root, has_private).items()})
    return found


# --- a module ---------------------------------------------------------------------------------------------------------


def _submodules_of(module: ModuleType) -> list[ModuleType]:
    prefix = f"{module.__name__}."
    modules = [each for each in vars(module).values() if isinstance(each, ModuleType)]
    return [each for each in modules if each.__name__.startswith(prefix)]


def _text_of(module: ModuleType, root: str, has_private: bool) -> str:
    imports: list[ImportItem] = []
    members = dict(_members_of(module))
    names = BoundNames(imports, module.__name__, members)
    names.has_private = has_private
    body: list[str] = []
    for name, value in members.items():
        own = lines_of_member(name, value, module, names)
        body += ["", *own] if own and not own[-1] and body and body[-1] else own
    inner = [f"from . import {name} as {name}" for name, value in members.items() if value in _submodules_of(module)]
    lines = [HEAD, _SETTINGS]
    if module.__doc__:
        lines += doc_lines(module.__doc__, "")
    own_name = module.__name__
    others = import_lines(item for item in imports if item.mod != own_name)
    is_package = bool(_submodules_of(module))
    lines += ["", *(_made_relative(line, own_name, root, is_package) for line in others), *inner, "", *body]
    exported = vars(module).get("__all__")
    if isinstance(exported, (list, tuple)) and all(isinstance(name, str) for name in exported):
        lines.append(f"__all__ = {list(map(str, exported))!r}")
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
