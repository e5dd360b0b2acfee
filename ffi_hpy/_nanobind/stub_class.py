"""The class of nanobind.stubgen by which programs write stubs themselves, over the writer of ffi-hpy-stubgen.

writer = StubGen(module)
writer.put(module)
print(writer.get())
"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

from ffi_hpy._nanobind.patterns import Patterns, ReplacePattern
from ffi_hpy.stub.bound import ModuleStub, members_of, submodules_of
from ffi_hpy.stub.bound_functions import MARK, parameters_in, source_of_value
from ffi_hpy.stub.bound_members import lines_of_class_attribute, lines_of_member
from ffi_hpy.stub.python_generator.utils import ImportItem, doc_lines, in_source, written_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ReplacePattern", "StubGen"]


class StubGen:
    """The stub of a module, written member by member.

    A default as long as `max_expr_length` is three dots. If the stub is `recursive`, put() writes the stubs of
    submodules beside `output_file`, and prints their paths unless it is `quiet`. The other arguments have no effect: a
    stub imports each class that it names.
    """

    def __init__(
        self,
        module: ModuleType,
        recursive: bool = False,
        include_docstrings: bool = True,
        include_private: bool = False,
        include_internal_imports: bool = True,
        include_external_imports: bool = False,
        max_expr_length: int = 50,
        patterns: Iterable[ReplacePattern] | None = None,
        quiet: bool = True,
        output_file: str | Path | None = None,
    ) -> None:
        self.module = module
        self.recursive = recursive
        self.include_docstrings = include_docstrings
        self.include_private = include_private
        self.include_internal_imports = include_internal_imports
        self.include_external_imports = include_external_imports
        self.max_expr_length = max_expr_length
        self.patterns = Patterns()
        self.quiet = quiet
        self.output_file = output_file
        self._given_patterns = list(patterns or ())
        for pattern in self._given_patterns:
            self.patterns.add(pattern)
        self._counted = {id(pattern): 0 for pattern in self._given_patterns}  # matches of the last get()
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
        """Return the stub. The matches of a pattern count once, however many calls there are."""
        given = {id(pattern): pattern for pattern in self._given_patterns}
        for key, pattern in given.items():
            pattern.matches -= self._counted[key]
        before = {key: pattern.matches for key, pattern in given.items()}
        text = self.patterns.apply(self._stub.text(), self.module.__name__, self.include_docstrings)
        self._counted = {key: pattern.matches - before[key] for key, pattern in given.items()}
        return text

    # --- members ------------------------------------------------------------------------------------------------------

    def put(self, value: Any, name: str | None = None, parent: Any = None) -> None:
        """Add a value: the module with all members, or one of them, with its name and the module or class that has
        it."""
        if value is self.module:
            for each, member in members_of(value):
                self.put(member, each, value)
        elif isinstance(value, ModuleType):
            if value.__name__.startswith(f"{self.module.__name__}."):
                last = value.__name__.rpartition(".")[2]
                self.bind(value.__name__, name=name or last, export=True)
                if self.recursive and self.output_file is not None:
                    self._write_stub_of(value, Path(self.output_file).parent / last)
        else:
            scope = self.module if parent is None else parent
            self._stub.put(lines_of_member(name or value.__name__, value, scope, self._stub.names))

    def _write_stub_of(self, module: ModuleType, path: Path) -> None:
        """Write the stub of a submodule, to a folder at a path if there are stubs inside of it."""
        file = path / "__init__.pyi" if submodules_of(module) else path.with_name(f"{path.name}.pyi")
        file.parent.mkdir(parents=True, exist_ok=True)
        inner = StubGen(
            module,
            recursive=True,
            include_docstrings=self.include_docstrings,
            include_private=self.include_private,
            max_expr_length=self.max_expr_length,
            patterns=self._given_patterns,
            quiet=self.quiet,
            output_file=file,
        )
        inner.put(module)
        file.write_text(inner.get(), encoding="utf-8")
        if not self.quiet:
            print(f"{module.__name__}: {file}")

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
        shown = [source_of_value(value) for value in defaults or ()]
        shown = [each if len(each) < self.max_expr_length else "..." for each in shown]
        text = MARK.sub(lambda mark: next(iter(shown[int(mark[1]) :]), "..."), text)
        self._stub.put(written_lines(text, doc or "", self._stub.names, 0))

    def put_docstr(self, docstr: str) -> None:
        """Add a docstring."""
        self._stub.put(doc_lines(docstr, ""))

    def format_docstr(self, docstr: str, depth: int) -> str:
        """Return a docstring as source code, `depth` levels inside of other code."""
        return "".join(f"{line}\n" for line in doc_lines(docstr, "    " * depth))

    def apply_pattern(self, query: str, value: Any) -> bool:
        """Add the lines of the first pattern that fits a name, for a value with this name. Returns whether there is a
        pattern. RuntimeError if it needs the docstring of a value that is missing."""
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
            if chosen == path:
                own[:] = [each for each in own if each != ImportItem.of_module(path)]
            if chosen is None and ImportItem.of_module(path, path) in own:
                return path
        if item not in own:
            own.append(item)
        return chosen or path
