"""The class of nanobind.stubgen by which programs write stubs themselves, over the writer of ffi-hpy-stubgen.

writer = StubGen(module)
writer.put(module)
print(writer.get())
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ffi_hpy._nanobind.patterns import Patterns
from ffi_hpy.stub.bound import ModuleStub, members_of
from ffi_hpy.stub.bound_functions import parameters_in
from ffi_hpy.stub.bound_members import lines_of_class_attribute, lines_of_member
from ffi_hpy.stub.python_generator.utils import ImportItem, doc_lines, in_source, written_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ReplacePattern", "StubGen"]

_MARK = re.compile(r"\\(\d+)")


@dataclass
class ReplacePattern:
    """A regular expression for qualified names, the lines that replace the members with these names, and the number of
    members that it has found."""

    query: re.Pattern[str]
    lines: list[str]
    matches: int = 0


class StubGen:
    """The stub of a module, written member by member."""

    def __init__(
        self,
        module: ModuleType,
        *,
        include_docstrings: bool = True,
        include_private: bool = False,
        patterns: Iterable[ReplacePattern] = (),
    ) -> None:
        self.module = module
        self.include_docstrings = include_docstrings
        self.patterns = Patterns()
        for pattern in patterns:
            self.patterns.add(pattern.query.pattern, pattern.lines)
        self._stub = ModuleStub(module, has_private=include_private)

    @property
    def output(self) -> str:
        """The members that the stub has so far, without imports."""
        return "".join(f"{line}\n" for line in self._stub.body)

    @property
    def module_refs(self) -> set[str]:
        """The modules that the stub imports as a whole."""
        return {item.name for item in (*self._stub.imports, *self._stub.exports) if not item.mod}

    def get(self) -> str:
        """Return the stub."""
        return self.patterns.apply(self._stub.text(), self.module.__name__, self.include_docstrings)

    # --- members ------------------------------------------------------------------------------------------------------

    def put(self, value: Any, name: str | None = None, parent: Any = None) -> None:
        """Add a value: the module with all members, or one of them, with its name and the module or class that has
        it."""
        if value is self.module:
            for each, member in members_of(value):
                self.put(member, each, value)
        elif isinstance(value, ModuleType):
            if value.__name__.startswith(f"{self.module.__name__}."):
                self.bind(value.__name__, name=name or value.__name__.rpartition(".")[2], export=True)
        else:
            scope = self.module if parent is None else parent
            self._stub.put(lines_of_member(name or value.__name__, value, scope, self._stub.names))

    def put_property(self, prop: property, name: str) -> None:
        """Add a property. One without a getter is an attribute with the type that the setter accepts."""
        self._stub.put(lines_of_class_attribute(name, prop, type("_", (), {name: prop}), self._stub.names))

    def put_nb_overload(
        self, fn: Any, sig: tuple[Any, ...], name: str | None = None, is_classmethod: bool = False
    ) -> None:
        """Add one overload of a function: an entry of its `__nb_signature__`. The class that a method of the class
        gets has no annotation."""
        text, doc, defaults = (*sig, None, None)[:3]
        if is_classmethod:
            first, annotation = parameters_in(text)[0]
            text = text.replace(f"{first}: {annotation}", first, 1) if annotation else text
        if name is not None:
            text = re.sub(r"\bdef \w+", f"def {name}", text, count=1)
        text = _MARK.sub(lambda mark: _source_of((defaults or ())[int(mark[1]) :][:1]), text)
        self._stub.put(written_lines(text, doc or "", self._stub.names, 0))

    def put_docstr(self, docstr: str) -> None:
        """Add a docstring."""
        self._stub.put(doc_lines(docstr, ""))

    def format_docstr(self, docstr: str, depth: int) -> str:
        """Return a docstring as source code, `depth` levels inside of other code."""
        return "".join(f"{line}\n" for line in doc_lines(docstr, "    " * depth))

    def apply_pattern(self, query: str, value: Any) -> bool:
        """Add the lines of the first pattern that fits a name, for a value with this name. Returns whether there is
        one. RuntimeError if it needs the docstring of a value that is missing."""
        doc = getattr(value, "__doc__", None)
        docs = None if value is None else [doc_lines(doc, "")] if doc else []
        imports: list[str] = []
        lines = self.patterns.expand(query, docs, imports)
        self._stub.put([*imports, *(lines or [])])
        return lines is not None

    # --- names --------------------------------------------------------------------------------------------------------

    def simplify_types(self, text: str) -> str:
        """Return source code with the names of the stub in place of names with dots, which are imported."""
        return in_source(text, self._stub.names)

    def bind(self, module: str, member: str | None = None, name: str | None = None, export: bool = False) -> str:
        """Import a module or a member of it, under a name if one is given. Returns the name in the stub; an exported
        name is there for the users of the module."""
        if member is not None and name is None and not export:
            return self._stub.names(f"{module}.{member}")
        path = module if member is None else f"{module}.{member}"
        package, _, last = path.rpartition(".")
        chosen = name or (last if export or member is not None else None)
        is_whole = not package or chosen is None
        item = ImportItem.of_module(path, chosen) if is_whole else ImportItem(path, alias=chosen)
        own = self._stub.exports
        if is_whole:  # `import a as a` defines the name a, as `import a` does
            own[:] = [each for each in own if each != ImportItem.of_module(path)]
            if chosen is None and ImportItem.of_module(path, path) in own:
                return path
        if item not in own:
            own.append(item)
        return chosen or path


def _source_of(default: tuple[Any, ...]) -> str:
    """Return a default as source code, "..." if it is missing or its text is not source code."""
    text = repr(default[0]) if default else "..."
    try:
        compile(text, "<default>", "eval")
    except SyntaxError:
        return "..."
    return text
