"""The check of the layers of the Python package: a module imports only its own layer and the layers below, and no two
modules depend on each other. Imports in functions and imports for type checkers count, too; `layers_late` has those by
strings."""

from __future__ import annotations

import ast
import tempfile
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "ffi_hpy"
LAYERS = {
    "runtime": "_system _hpy_choice _hpy",
    "start": "_start",
    "cffi: context": "_pypy.context",
    "cffi: object": "_pypy.object",
    "cffi: convert": "_pypy.convert",
    "cffi: classes": "_pypy.classes",
    "cffi: container": "_pypy.container",
    "cffi: record": "_pypy.record",
    "cffi: module": "_pypy",
    "load": "_start.load",
    "values": "_ffi_api _values _dtype _tensor",
    "types": "_types",
    "registry": "registry",
    "objects": "_signature _errors error _containers container module stream access_path structural serialization",
    "conversion": "utils _optional_torch_c_dlpack _convert",
    "hooks": "_hooks",
    "names": "core",
    "dataclasses": "dataclasses _dunder",
    "files": "_across libinfo config",
    "tools": "_bind _leaks _nanobind _project share cpp testing dropin _installed stub hpy hpy_debug _run _report"
    " utils._build_optional_torch_c_dlpack",
    "package": f"{PACKAGE} __main__ _version",
}
"""The layers, the lowest first, with their modules: a folder stands for all its modules that are not listed
elsewhere."""

BINARIES = ("_core", "_binding")
"""Modules that are not Python; they are below everything."""

Uses = dict[str, dict[str, str]]
"""By module (without the package's name): the modules that it imports, each with the kind and line of its first
import."""


@dataclass
class Source:
    """A module of a package: its name (without the package's name) and its text."""

    name: str
    is_folder: bool
    text: str


def read_sources(package: Path) -> list[Source]:
    """Return the modules of a package."""
    sources = []
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).with_suffix("").parts
        if all(part.isidentifier() for part in parts) and parts[0] != "_dropin":  # whose module is another package's
            is_folder = parts[-1] == "__init__"
            sources.append(Source(".".join(parts[:-1] if is_folder else parts), is_folder, file.read_text()))
    return sources


def read_imports(sources: list[Source]) -> Uses:
    """Return the imports between the modules of the package."""
    names = {source.name for source in sources}
    uses: Uses = {}
    for source in sources:
        found = uses.setdefault(source.name or PACKAGE, {})
        for node, kind in walk(ast.parse(source.text), "module"):
            for target in targets_of(node, source, names):
                if target != source.name:
                    found.setdefault(target or PACKAGE, f"{kind}, line {node.lineno}")
    return uses


def walk(node: ast.AST, kind: str) -> list[tuple[ast.Import | ast.ImportFrom, str]]:
    """Return the imports below a node, each with its place: in the module, in a function, or for type checkers."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(node, kind)]
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        kind = "function" if kind == "module" else kind
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        parts = [(child, "types") for child in node.body] + [(child, kind) for child in node.orelse]
    else:
        parts = [(child, kind) for child in ast.iter_child_nodes(node)]
    return [found for child, child_kind in parts for found in walk(child, child_kind)]


def targets_of(node: ast.Import | ast.ImportFrom, source: Source, names: set[str]) -> set[str]:
    """Return the modules of the package that an import names; "" is the package itself."""
    if isinstance(node, ast.Import):
        whole = [alias.name for alias in node.names]
    else:
        up = node.level - source.is_folder
        parts = [PACKAGE, *filter(None, source.name.split("."))] if node.level else []
        parts = parts[: len(parts) - up] + (node.module or "").split(".")
        base = ".".join(filter(None, parts))
        whole = [f"{base}.{alias.name}" for alias in node.names]
    found = set()
    for name in whole:
        first, _, target = name.partition(".")
        if first == PACKAGE and target.partition(".")[0] not in BINARIES:
            while target and target not in names:  # cut off a name in the module
                target = target.rpartition(".")[0]
            found.add(target)
    return found


def layer_of(module: str, layers: dict[str, str]) -> str | None:
    """Return the layer of a module: its own, or else the layer of the nearest listed folder."""
    layer_by_name = {name: layer for layer, members in layers.items() for name in members.split()}
    while module not in layer_by_name and "." in module:
        module = module.rpartition(".")[0]
    return layer_by_name.get(module)


def find_violations(layers: dict[str, str], uses: Uses) -> list[str]:
    """Return the problems, one sentence each: modules without a layer, imports that point upwards, circles."""
    order = list(layers)
    violations = []
    for user in sorted(uses):
        layer = layer_of(user, layers)
        if layer is None:
            violations.append(f"{user} is in no layer")
            continue
        for used, where in sorted(uses[user].items()):
            above = layer_of(used, layers)
            if above is not None and order.index(above) > order.index(layer):
                violations.append(f"{user} ({layer}) imports {used} ({above}), which is above it: {where}")
    return violations + [f"these need one another: {' '.join(circle)}" for circle in find_circles(uses)]


def find_circles(uses: Uses) -> list[list[str]]:
    """Return the groups of modules that depend on each other, sorted."""
    reached: dict[str, set[str]] = {}
    for start in uses:
        seen, todo = set[str](), [start]
        while todo:
            new = uses.get(todo.pop(), {}).keys() - seen
            seen |= new
            todo += new
        reached[start] = seen
    groups = {tuple(sorted(other for other in reached[name] if name in reached.get(other, ()))) for name in uses}
    return sorted(list(group) for group in groups if group)


# --- this part of the job -------------------------------------------------------------------------------------------

_PLANTED = {
    "__init__.py": "from .low import a\n",
    "low/__init__.py": "",
    "low/a.py": "def f():\n    from . import b\n",
    "low/b.py": "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from .a import f\nfrom .. import _core\n",
    "high.py": f"import {PACKAGE}.low.a\n",
    "low/c.py": "from ..high import name\n",
    "other.py": "",
}
_PLANTED_LAYERS = {"below": "low", "above": "high", "package": PACKAGE}
_PLANTED_VIOLATIONS = [
    "low.c (below) imports high (above), which is above it: module, line 1",
    "other is in no layer",
    "these need one another: low.a low.b",
]


def check_the_check() -> list[str]:
    """Return the faults of this check: it must find the planted violations."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in _PLANTED.items():
            Path(folder, name).parent.mkdir(exist_ok=True)
            Path(folder, name).write_text(text)
        found = find_violations(_PLANTED_LAYERS, read_imports(read_sources(Path(folder))))
    if found == _PLANTED_VIOLATIONS:
        return []
    return [f"the check finds {found} where it should find {_PLANTED_VIOLATIONS}"]


def check_package(root: Path) -> tuple[list[str], str]:
    """Return the problems of the package's layers in a checkout, and a line of counts."""
    uses = read_imports(read_sources(root / PACKAGE))
    violations = check_the_check() + find_violations(LAYERS, uses)
    counts = f"{len(uses)} modules in {len(LAYERS)} layers, {sum(map(len, uses.values()))} imports"
    return violations, f"{PACKAGE}: {counts}, {len(violations)} violations"
