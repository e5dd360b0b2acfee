"""Stubs (.pyi) of libraries that are bound with ffi_hpy/bind.h, from the modules that they define.

A module without submodules gets NAME.pyi, another one the folder NAME, which has an __init__.pyi.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
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
    from collections.abc import Iterator, Sequence
    from typing import Any

__all__ = [
    "HEAD",
    "SUFFIXES",
    "ModuleStub",
    "import_bound",
    "import_bound_part",
    "is_library",
    "members_of",
    "stubs_of",
    "submodules_of",
]

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
    if not _is_of_library(module, text):
        raise ImportError(
            "not a library that is bound with ffi_hpy/bind.h; mypy's stubgen writes stubs of Python modules"
        )
    return module


def import_bound_part(text: str) -> tuple[ModuleType, ModuleType]:
    """Import a bound module, or a submodule that its library defines, by its name. Return it and the module of the
    library. ImportError for any other module."""
    parent = text.rpartition(".")[0]
    if parent and not is_library(text):
        with suppress(ImportError):
            _, library = import_bound_part(parent)
            part = sys.modules.get(text)
            if part is not None and part in submodules_of(sys.modules[parent]):
                return part, library
    module = import_bound(text)
    return module, module


def _is_of_library(module: ModuleType, name: str) -> bool:
    return is_bound(str(getattr(module, "__file__", "")), name.rpartition(".")[2])


def stubs_of(module: ModuleType, root: str = "", has_private: bool = True) -> dict[Path, str]:
    """Return the text of each stub of a module, by the path relative to the folder of its library. `root` is the name
    of the library's module, if `module` is one of its submodules. Without `has_private` the stubs lack functions and
    values called `_name` or `name_`."""
    root = root or module.__name__
    name = module.__name__.rpartition(".")[2]
    inner = submodules_of(module)
    text = ModuleStub(module, root, has_private).put_members().text(inner)
    if not inner:
        return {Path(f"{name}.pyi"): text}
    found = {Path(name, "__init__.pyi"): text}
    for each in inner:
        found.update({Path(name, path): text for path, text in stubs_of(each, root, has_private).items()})
    return found


# --- a module ---------------------------------------------------------------------------------------------------------


class ModuleStub:
    """The stub of one module. `root` is the name of the library's module, if `module` is one of its submodules."""

    def __init__(self, module: ModuleType, root: str = "", has_private: bool = True) -> None:
        self.module = module
        self.root = root or module.__name__
        self.imports: list[ImportItem] = []
        self.exports: list[ImportItem] = []
        """Imports of names that the module has for its users."""
        self.names = BoundNames(self.imports, module.__name__, dict(members_of(module)))
        self.names.has_private = has_private
        self.body: list[str] = []

    def put(self, lines: list[str]) -> None:
        """Add the lines of one member."""
        self.body += ["", *lines] if lines and not lines[-1] and self.body and self.body[-1] else lines

    def put_members(self) -> ModuleStub:
        """Add all members of the module. Returns this stub."""
        for name, value in members_of(self.module):
            self.put(lines_of_member(name, value, self.module, self.names))
        return self

    def text(self, inner: Sequence[ModuleType] = ()) -> str:
        """Return the text. `inner` are the submodules that have a stub in the folder of this one."""
        module, own_name = self.module, self.module.__name__
        lines = [HEAD, _SETTINGS]
        if module.__doc__:
            lines += doc_lines(module.__doc__, "")
        others = import_lines(item for item in self.imports if item.mod != own_name)
        lines += ["", *(_made_relative(line, own_name, self.root, bool(inner)) for line in others)]
        lines += import_lines(self.exports)
        shown = {id(each) for each in inner}  # not by ==, whose result may be an array
        lines += [f"from . import {name} as {name}" for name, value in members_of(module) if id(value) in shown]
        lines += ["", *self.body]
        exported = vars(module).get("__all__")
        if isinstance(exported, (list, tuple)) and all(isinstance(name, str) for name in exported):
            lines.append(f"__all__ = {list(map(str, exported))!r}")
        # A class whose name has another meaning in a class body
        lines += [f"{item.alias} = {item.name}" for item in self.imports if item.mod == own_name]
        return "\n".join(lines).rstrip("\n") + "\n"


def submodules_of(module: ModuleType) -> list[ModuleType]:
    """Return the modules inside of a module."""
    prefix = f"{module.__name__}."
    modules = [each for each in vars(module).values() if isinstance(each, ModuleType)]
    return [each for each in modules if each.__name__.startswith(prefix)]


def _made_relative(line: str, own_name: str, root: str, is_package: bool) -> str:
    """Return an import statement in the stub of a module. The statement names the modules of the same library relative
    to this module, because the library may become part of a package."""
    if line.startswith("import "):  # Python has no relative form of it
        return line
    word, name, rest = line.split(" ", 2)
    if name != root and not name.startswith(f"{root}."):
        return line
    own, there = own_name.split("."), name.split(".")
    package = own if is_package else own[:-1]
    n_common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(package, there)))
    dots = "." * (len(package) - n_common + 1)
    return f"{word} {dots}{'.'.join(there[n_common:])} {rest}"


def members_of(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The names and values of a module, without the names that begin and end with two underscores."""
    for name, value in vars(module).items():
        if not (name.startswith("__") and name.endswith("__")):
            yield name, value
