"""The check of late imports: only the table of the package (`_start.late`) imports by strings, and it has only entries
that cannot be import statements. Only `_hooks` gives the binding functions of modules above it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ci.jobs.layers_python import LAYERS, PACKAGE, Source, layer_of, read_sources, targets_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TABLE = "_start.late"

STRING_IMPORTS = {
    TABLE: "it has the table",
    "_bind.at_start": "it runs before the package is imported",
    "_bind.finder": "it finds libraries by the names of the modules that programs import",
    "_run": "it runs the module that its command line names, from the folder of the package",
    "_start.fork": "it waits for the modules that other threads import, whichever those are",
    "dropin": "it imports the module of ours for any module of tvm_ffi that a program imports",
    "stub.bound": "it imports the modules that the command line names",
    "stub.cli": "it imports the modules that its command line names",
    "_bind.arrays": "the type in C++ names the library whose array it is",
    "_bind.values": "C++ imports modules by their names",
    "_signature": "the class of a result is named by a text",
    "_types.function_metadata": "a pickle names the module of a function",
}
"""The modules that import by strings, each with the reason."""

HOOKS = {
    "_hooks": "it gives the binding all functions and classes of the package",
    "_pypy.binding_hooks": "the C binding calls functions of the cffi backend, which is in front of it",
    "_pypy.context.hooks": "it defines set_hooks of the cffi backend",
    "_types.overrides": "its hook costs time, so it is set for the first type with overridable methods",
    "_bind.without_value": "its hooks are for bound classes, so they are set for the first one",
}
"""The modules that set hooks of a binding, each with the reason."""

_IMPORTERS = {"__import__", "import_module", "run_module", "run_path", "spec_from_file_location"}

Table = dict[str, dict[str, str]]
"""LATE of `_start/late.py`."""


def check_late(root: Path) -> tuple[list[str], str]:
    """Return the problems of the package's late imports in a checkout, and a line of counts."""
    sources = read_sources(root / PACKAGE)
    violations = find_late_violations(sources, LAYERS, STRING_IMPORTS, HOOKS)
    edges = read_edges(read_table(sources))
    n_up = sum(_stands_above(target, user, LAYERS) for user, _, target, _ in edges)
    return violations, f"{TABLE}: {len(edges)} late imports, {n_up} of them point upwards, {len(violations)} violations"


def find_late_violations(
    sources: list[Source], layers: dict[str, str], importers: dict[str, str], setters: dict[str, str]
) -> list[str]:
    """Return the problems, one sentence each."""
    by_name = {source.name: source for source in sources}
    table = read_table(sources)
    violations = find_callers(sources, _IMPORTERS, importers, "imports by a string")
    violations += find_callers(sources, {"set_hooks"}, setters, "sets hooks")
    for edge in read_edges(table):
        violations += find_edge_problems(edge, by_name, layers)
    return violations + find_query_problems(sources, table)


def find_callers(sources: list[Source], names: set[str], allowed: dict[str, str], deed: str) -> list[str]:
    """Return the problems of functions that only some modules may use."""
    violations, found = [], set()
    for source in sources:
        for name, line in read_names(source):
            if name in names:
                found.add(source.name)
                if source.name not in allowed:
                    violations.append(f"{source.name or PACKAGE} {deed}: {name}, line {line}")
    return violations + [f"{name} is listed, but no longer {deed}" for name in allowed if name not in found]


def read_names(source: Source) -> Iterator[tuple[str, int]]:
    """Yield the names that a module uses or imports, also as attributes, each with its line."""
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.Name):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, node.lineno
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.name, node.lineno) for alias in node.names)


# --- the table ------------------------------------------------------------------------------------------------------

Edge = tuple[str, str, str, str]
"""A late import: the module that needs a name, the purpose ("" for an attribute of the module), the defining module,
and the name there ("" for the module itself)."""


def read_table(sources: list[Source]) -> Table:
    """Return the table, computed from the assignments of its module."""
    text = next((source.text for source in sources if source.name == TABLE), "LATE = {}")
    scope: dict[str, Table] = {}
    for node in ast.parse(text).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and node.value is not None:
            try:
                scope[target.id] = eval(compile(ast.Expression(node.value), TABLE, "eval"), scope)
            except NameError:  # an assignment that uses the module's imports is not needed
                continue
    return scope["LATE"]


def read_edges(table: Table) -> list[Edge]:
    """Return the late imports in the table."""
    edges = []
    for key, targets in table.items():
        user, _, purpose = key.partition(": ")
        for target, names in targets.items():
            for name, _, other in (word.partition("=") for word in names.split()):
                is_module = target.endswith(".")
                place = (f"{target}{name}".lstrip("."), "") if is_module else (target, other or name)
                edges.append((user, purpose, *place))
    return edges


def find_edge_problems(edge: Edge, by_name: dict[str, Source], layers: dict[str, str]) -> list[str]:
    """Return the problems of a late import: it names something that does not exist, or it could be a statement."""
    user, purpose, target, name = edge
    said = f"{TABLE}: {user or PACKAGE} needs {target}{name and f'.{name}'}"
    if user not in by_name or target not in by_name:
        return [f"{said}, but the module {user if user not in by_name else target} does not exist"]
    if name and name not in read_bindings(ast.parse(by_name[target].text).body):
        return [f"{said}, which is not defined there"]
    imports = [node for node in ast.parse(by_name[user].text).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    if any(target in targets_of(node, by_name[user], set(by_name)) for node in imports):
        return [f"{said}, which it imports anyway"]
    if purpose and not _stands_above(target, user, layers):
        return [f"{said}, which is not above it: use an import statement"]
    return []


def _stands_above(target: str, user: str, layers: dict[str, str]) -> bool:
    order = [layer_of(module or PACKAGE, layers) for module in (target, user)]
    return None not in order and list(layers).index(str(order[0])) > list(layers).index(str(order[1]))


def read_bindings(body: list[ast.stmt]) -> set[str]:
    """Return the names that statements of a module bind."""
    found = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            found.update(child.id for child in ast.walk(node) if isinstance(child, ast.Name))
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            found |= read_bindings([child for child in ast.walk(node) if isinstance(child, ast.stmt)][1:])
    return found


# --- questions to the table -----------------------------------------------------------------------------------------


def find_query_problems(sources: list[Source], table: Table) -> list[str]:
    """Return the problems of calls of find_late() and find_attributes(): each asks for an entry of the own module, and
    each entry is asked for."""
    violations, asked = [], set()
    for source in sources:
        if source.name == TABLE:
            continue
        for node in ast.walk(ast.parse(source.text)):
            called = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if called == "find_attributes":
                key, names = source.name, []
            elif called == "find_late":
                key, *names = (getattr(argument, "value", None) for argument in node.args)
            else:
                continue
            asked.add(key)
            place = f"{source.name or PACKAGE} asks for {key!r}, line {node.lineno}"
            known = {word.partition("=")[0] for words in table.get(key, {}).values() for word in words.split()}
            if key not in table or key.partition(": ")[0] != source.name:
                violations.append(f"{place}: {TABLE} has no such entry of this module")
            elif names and isinstance(names[0], str) and names[0] not in known:
                violations.append(f"{place}: the entry has no {names[0]!r}")
    return violations + [f"{TABLE}: nothing asks for the entry {key!r}" for key in table if key not in asked]
